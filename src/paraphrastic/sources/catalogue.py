"""The catalogue of sources: address, hash, licence and reader of every file.

`catalogue.toml` is the only file that contains addresses. A corpus is a list of sources of training pairs. A suite is a
list of sources of evaluation data.
"""

import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Self, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, PositiveInt, ValidationError, model_validator

from paraphrastic.errors import DataError, ParameterError, did_you_mean, unknown_name
from paraphrastic.sources.own_files import AnyEntry, Entry, OwnFile, listed, own_file


@dataclass(frozen=True)
class File:
    """A file of a source.

    Attributes:
        path: path relative to the address of the source, and relative to its local folder.
        url: address of the file; empty if the user must provide the file.
        sha256: hash that the content must have; None accepts any content.
    """

    path: str
    url: str
    sha256: str | None


@dataclass(frozen=True)
class Source:
    """A data set in the form in which its publisher distributes it.

    Attributes:
        name: unique name in the catalogue.
        title: one-line description.
        licence: licence as the publisher states it; `unstated` if the publisher states none.
        citation: reference of the publication.
        reader: name of the reader that turns the files into tables; None if the files contain no tables.
        options: options of the reader that cannot be derived from file names.
        files: all files, in the order of the catalogue.
        rows: number of rows of evaluation data that the reader must yield, by "SET/SPLIT"; number of training pairs
            that it must yield under `pairs`; distinct pairs that the papers count under `distinct`. Empty if unknown.
        pairs: whether the source yields training pairs.
        near_copies: whether pairs that contain a near copy of a sentence of an evaluation set of pairs, in any split,
            are dropped too.
        words: whether the texts are single words, not sentences.
        manual: instructions for a source that the user must provide; None if the files have addresses.
        optional: whether evaluation goes on without the source if its files cannot be fetched.
        max_group_pairs: how many pairs of one group are kept; None keeps all.
    """

    name: str
    title: str
    licence: str
    citation: str
    reader: str | None
    options: Mapping[str, Any]
    files: tuple[File, ...]
    rows: Mapping[str, int]
    pairs: bool
    near_copies: bool
    words: bool
    manual: str | None
    optional: bool = False
    max_group_pairs: int | None = None


@dataclass(frozen=True)
class Suite:
    """A selection of evaluation data.

    Attributes:
        name: unique name among suites.
        sources: sources of all its evaluation sets.
        select: name of the set, or group of sets, whose score selects the best epoch.
    """

    name: str
    sources: tuple[Source, ...]
    select: str


@dataclass(frozen=True)
class Catalogue:
    """The content of a catalogue.

    Attributes:
        sources: sources by name; a template of the file is expanded into several sources.
        corpora: sources of training pairs by the name of the corpus.
        suites: suites by name.
        display_names: display name by the name of a source; all sources of a template share one.
    """

    sources: Mapping[str, Source]
    corpora: Mapping[str, tuple[Source, ...]]
    suites: Mapping[str, Suite]
    display_names: Mapping[str, str]


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


def load(path: Path) -> Catalogue:
    """Read and check a catalogue.

    Raises:
        DataError: the file is not TOML, a key is missing, unknown or of the wrong type, a template is malformed, a
            corpus or suite refers to an unknown name, or a corpus to a source without training pairs.
    """
    try:
        content = _Content.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
        return _catalogue(content)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise DataError(f"{path}: {'.'.join(map(str, first['loc']))}: {first['msg']}") from error
    except (tomllib.TOMLDecodeError, ParameterError) as error:
        raise DataError(f"{path}: {error}") from error


def _check_relative(path: str) -> str:
    parts = PurePosixPath(path).parts
    if not parts or ".." in parts or path != "/".join(parts) or path.startswith("/"):
        raise ValueError(f"'{path}' should be a path relative to the source's folder")
    return path


_T = TypeVar("_T")
_Text = Annotated[str, Field(min_length=1)]
_FilePath = Annotated[str, AfterValidator(_check_relative)]
_Sha256 = Annotated[str, Field(pattern=r"^([0-9a-f]{64})?$")]


class _Table(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class _Entry(_Table):
    title: _Text
    licence: _Text
    citation: _Text
    url: Annotated[str, Field(pattern=r"^https?://[^/]+(/.*[^/])?$")] | None = None
    reader: _Text | None = None
    options: dict[str, Any] = {}
    files: dict[_FilePath, _Sha256] = {}
    rows: dict[str, PositiveInt] = {}
    pairs: bool = False
    near_copies: bool = False
    words: bool = False
    manual: _Text | None = None
    optional: bool = False
    max_group_pairs: PositiveInt | None = None
    expand: dict[str, Annotated[list[_Text], Field(min_length=1)]] = {}

    @model_validator(mode="after")
    def _check_origin(self) -> Self:
        if self.files and (self.url is None) == (self.manual is None):
            raise ValueError("files need either `url` or `manual`")
        return self


class _Benchmarks(_Table):
    sources: list[_Text]
    select: _Text
    extends: list[_Text] = []


class _Content(_Table):
    sources: dict[str, _Entry]
    corpora: dict[str, list[_Text]]
    benchmarks: dict[str, _Benchmarks]


def _catalogue(content: _Content) -> Catalogue:
    sources: dict[str, Source] = {}
    display_names: dict[str, str] = {}
    for template, entry in content.sources.items():
        display_name = _display_name(template, entry)
        for member in _expand(template, entry):
            sources[member.name], display_names[member.name] = member, display_name
    corpora: dict[str, tuple[Source, ...]] = {}
    for name, names in content.corpora.items():
        corpora[name] = _sources_of_pairs(name, [member for each in names for member in _names(each, corpora)], sources)
    return Catalogue(sources, corpora, _suites(content.benchmarks, sources), display_names)


def _names(name: str, corpora: Mapping[str, tuple[Source, ...]]) -> list[str]:
    """Return the names of the sources of a corpus; the name itself if it is none of `corpora`."""
    return [member.name for member in corpora[name]] if name in corpora else [name]


def _sources_of_pairs(corpus: str, names: Sequence[str], sources: Mapping[str, Source]) -> tuple[Source, ...]:
    """Return the sources of a corpus; every one must yield training pairs."""
    members = _select("source", names, sources)
    for member in members:
        if not member.pairs:
            remedy = "set `pairs = true` there, or leave the source out"
            raise ParameterError(f"corpora.{corpus}: the source '{member.name}' has no training pairs; {remedy}")
    return members


def _suites(benchmarks: Mapping[str, _Benchmarks], sources: Mapping[str, Source]) -> dict[str, Suite]:
    """Return the suites by name; a suite can extend those that precede it in the file."""
    suites: dict[str, Suite] = {}
    for name, entry in benchmarks.items():
        extended = _select("suite of benchmarks", entry.extends, suites)
        inherited = tuple(member for base in extended for member in base.sources)
        suites[name] = Suite(name, inherited + _select("source", entry.sources, sources), entry.select)
    return suites


def _display_name(template: str, entry: _Entry) -> str:
    """Return the display name of the sources of a template, for example `ppdb-{s…xxxl}-lexical`."""
    return _fill(template, {key: f"{{{values[0]}…{values[-1]}}}" for key, values in entry.expand.items()})


def _expand(template: str, entry: _Entry) -> Iterator[Source]:
    """Yield one source for each combination of the values of `expand`."""
    for combination in product(*entry.expand.values()):
        values = dict(zip(entry.expand, combination, strict=True))
        yield Source(
            name=_fill(template, values),
            title=_fill(entry.title, values),
            files=tuple(_file(_fill(path, values), entry.url, sha256) for path, sha256 in entry.files.items()),
            **entry.model_dump(exclude={"title", "files", "url", "expand"}),
        )


def _fill(template: str, values: Mapping[str, str]) -> str:
    """Return a template with each `{KEY}` replaced by its value.

    Raises:
        ParameterError: `values` lacks a key, or the template is malformed.
    """
    try:
        return template.format(**values)
    except KeyError as error:
        raise ParameterError(f"a template uses {error}; add it to `expand` of the same entry") from error
    except (AttributeError, IndexError, TypeError, ValueError) as error:
        remedy = "write {KEY} with a key of `expand`, and {{ or }} for a brace"
        raise ParameterError(f"the template '{template}' is malformed ({error}); {remedy}") from error


def _file(path: str, url: str | None, sha256: str) -> File:
    return File(path, f"{url}/{path}" if url else "", sha256 or None)


def _select(kind: str, names: Sequence[str], known: Mapping[str, _T]) -> tuple[_T, ...]:
    for name in names:
        if name not in known:
            raise ParameterError(unknown_name(kind, name, known))
    return tuple(known[name] for name in names)


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
