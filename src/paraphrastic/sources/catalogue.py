"""The catalogue of sources: address, hash, licence and reader of every file.

`catalogue.toml` is the only file that contains addresses. A corpus is a list of sources of training pairs. A suite is a
list of sources of evaluation data.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path

from paraphrastic.base.errors import ParameterError, did_you_mean, unknown_name
from paraphrastic.sources.catalogue_file import load
from paraphrastic.sources.own_files import AnyEntry, Entry, OwnFile, listed, own_file
from paraphrastic.sources.source import Catalogue, Source, Suite


def source(name: str) -> Source:
    """Return the source `name`.

    Raises:
        ParameterError: no source has this name.
    """
    known = catalogue()
    if name not in known.sources:
        raise ParameterError(_unknown_name("source", name, known.display_names))
    return known.sources[name]


def sources_of(names: Sequence[str]) -> tuple[Source, ...]:
    """Return sources without repetition; a corpus or a suite stands for its sources, a name of both for all of them.

    Raises:
        ParameterError: a name is none of them.
    """
    return tuple({each.name: each for name in names for each in _sources_of(name)}.values())


def corpus(entries: AnyEntry | Sequence[AnyEntry]) -> tuple[Source, ...]:
    """Return the sources of training pairs of one or several corpora, in the given order and without repetition.

    Args:
        entries: names of corpora or of single sources of training pairs, and files or folders of the user.

    Raises:
        ParameterError: a name is neither, or two files have one name.
        SourceError: a file is missing or of no known format.
    """
    members = (member for entry in listed(entries) for member in _own_or(entry, "own-pairs", _members))
    return _without_repetition("corpus", members)


def suite(entries: AnyEntry | Sequence[AnyEntry]) -> Suite:
    """Return the evaluation data of one or several suites; the first one names the sets that select the epoch.

    Args:
        entries: names of suites, and files or folders of the user, each file being a set. With files alone, all their
            sets of similarity select.

    Raises:
        ParameterError: no suite has this name, or two files have one name.
        SourceError: a file is missing or of no known format.
    """
    several = listed(entries)
    members = (member for entry in several for member in _own_or(entry, "own-set", lambda name: _suite(name).sources))
    sources = _without_repetition("benchmarks", members)
    selecting = [_suite(entry).select for entry in several if isinstance(entry, str) and own_file(entry) is None]
    return Suite("+".join(map(str, several)), sources, selecting[0] if selecting else "own")


@cache
def catalogue() -> Catalogue:
    """Return the catalogue of this package."""
    return load(Path(__file__).with_name("catalogue.toml"))


def _sources_of(name: str) -> tuple[Source, ...]:
    known = catalogue()
    suite_sources = known.suites[name].sources if name in known.suites else ()
    if found := (*known.corpora.get(name, ()), *suite_sources):
        return found
    if name not in known.sources:
        groups = {group: group for group in (*known.corpora, *known.suites)}
        raise ParameterError(_unknown_name("source", name, groups | dict(known.display_names)))
    return (known.sources[name],)


def _members(name: str) -> tuple[Source, ...]:
    """Return the sources of a corpus, or a single source of training pairs."""
    known = catalogue()
    if name in known.corpora:
        return known.corpora[name]
    member = known.sources.get(name)
    if member is None or not member.pairs:
        display_names = {name: shown for name, shown in known.display_names.items() if known.sources[name].pairs}
        corpora = {corpus: corpus for corpus in known.corpora}
        raise ParameterError(_unknown_name("corpus", name, corpora | display_names))
    return (member,)


def _own_or(entry: Entry, reader: str, named: Callable[[str], tuple[Source, ...]]) -> list[Source]:
    """Return the sources that an entry stands for: files of the user, or what `named` returns for a name."""
    own = own_file(entry)
    return [_own_source(each, reader) for each in own.files()] if own else list(named(str(entry)))


def _own_source(own: OwnFile, reader: str) -> Source:
    """Return the source of a file of the user; its pairs are compared with evaluation text exactly and nearly."""
    return Source(
        name=f"own.{own.name}",
        title=own.path,
        licence="own",
        citation="",
        reader=reader,
        options={"own": own},
        files=(),
        rows={},
        pairs=reader == "own-pairs",
        near_copies=True,
        words=False,
        manual=None,
    )


def _without_repetition(key: str, members: Iterable[Source]) -> tuple[Source, ...]:
    """Return distinct sources.

    Raises:
        ParameterError: two different files have one name.
    """
    distinct: dict[str, Source] = {}
    for member in members:
        known = distinct.setdefault(member.name, member)
        if known != member:
            files = f"{known.title} and {member.title}"
            raise ParameterError(f"{key}: {files} have the same name; rename one of them")
    return tuple(distinct.values())


def _suite(name: str) -> Suite:
    suites = catalogue().suites
    if name not in suites:
        raise ParameterError(unknown_name("suite of benchmarks", name, suites))
    return suites[name]


def _unknown_name(kind: str, name: str, display_names: Mapping[str, str]) -> str:
    """Return the message of `errors.unknown_name`, with each display name once and in the order of the catalogue."""
    known = ", ".join(dict.fromkeys(display_names.values()))
    return f"unknown {kind} '{name}': {did_you_mean(name, display_names)}known are {known}"
