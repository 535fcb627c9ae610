"""The catalogue of sources: address, hash, licence and reader of every file.

`catalogue.toml` is the only file that contains addresses. A corpus is a list of sources of training pairs. A suite is a
list of sources of evaluation data.
"""

import tomllib
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import accumulate, product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from pydantic import BaseModel, Field, ValidationError

from paraphrastic.base.errors import DataError, ParameterError, did_you_mean, first_problem, unknown_name
from paraphrastic.base.reading import SMALL, regular
from paraphrastic.sources.licences import with_licences
from paraphrastic.sources.own_files import AnyDataEntry, DataEntry, OwnFile, listed, own_file
from paraphrastic.sources.source import EXCHANGED, Catalogue, Source, Suite, Text

if TYPE_CHECKING:  # `data list` needs no reader of parameters
    from paraphrastic.base.parameters import Teacher, Tokenize

_T = TypeVar("_T")


def source(name: str) -> Source:
    """Return the source `name`.

    Raises:
        ParameterError: no source has this name.
    """
    return _look_up("source", name, {}, catalogue().sources)[0]


def sources_of(names: Sequence[str]) -> tuple[Source, ...]:
    """Return sources without repetition; a corpus or a suite stands for its sources, a name of both for all of them.

    Raises:
        ParameterError: a name is none of them.
    """
    known = catalogue()
    groups = dict(known.corpora)
    for name, each in known.suites.items():
        groups[name] = (*groups.get(name, ()), *each.sources)
    found = (member for name in names for member in _look_up("source", name, groups, known.sources))
    return tuple({member.name: member for member in found}.values())


def corpus(entries: AnyDataEntry | Sequence[AnyDataEntry], licences: Sequence[str] = ()) -> tuple[Source, ...]:
    """Return the sources of training pairs of one or several corpora, in the given order and without repetition.

    Args:
        entries: names of corpora or of single sources of training pairs, and files or folders of the user.
        licences: that sources may have, as `licences.with_licences` takes them; empty for all.

    Raises:
        ParameterError: a name is neither, or two files have one name; a licence is unknown, or no source has one.
        SourceError: a file is missing or of no known format.
    """
    known, members = catalogue(), list[Source]()
    pairs = {name: each for name, each in known.sources.items() if each.pairs}
    hint = f"known are {', '.join(known.corpora)}, and sources of pairs: "
    for entry in listed(entries):
        if own := _own(entry, {*known.corpora, *known.sources}):
            members += [_own_source(each, "own-pairs") for each in own.files()]
        else:
            members += _look_up("corpus", str(entry), known.corpora, pairs, hint)
    return with_licences(_without_repetition("corpus", members), licences)


def check_corpus(sources: Sequence[Source], options: "Tokenize", teacher: "Teacher", weighted: Iterable[str]) -> None:
    """Raise a ParameterError if parameters ask for what the sources of a corpus do not have.

    Args:
        sources: the sources.
        options: parameters of the stage `tokenize`.
        teacher: from which single sentences are learned.
        weighted: names in `train.source_weights`.
    """
    names = [source.name for source in sources if source.single]
    if names and not teacher.path:
        raise ParameterError(
            f"params.yaml: corpus: {names[0]} has single sentences, which are learned from a teacher only; set "
            "teacher.path, or leave it out"
        )
    if names and teacher.margin_weight:
        raise ParameterError(
            f"params.yaml: teacher.margin_weight = {teacher.margin_weight:g}: would take the single sentences of "
            f"{names[0]} for paraphrases; set it to 0, or leave them out of corpus"
        )
    check_choice(sources, options)
    known = [source.name for source in sources] + [EXCHANGED] * bool(options.exchange)
    for name in weighted:
        if name not in known:
            raise ParameterError(f"params.yaml: train.source_weights: {unknown_name('source', name, known)}")


def check_choice(sources: Sequence[Source], options: "Tokenize") -> None:
    """Raise a ParameterError if pairs are limited or copied by what no source has, or by relations that one lacks."""
    if (options.limits_scores or options.relations) and not any(source.has_scores for source in sources):
        raise ParameterError(
            "params.yaml: tokenize.min_score, max_score or relations is set, but no source of the corpus has scores or "
            "relations; empty them, or choose PPDB, ParaNMT or ParaBank"
        )
    if options.relations and (without := [source.name for source in sources if source.refuses_relations]):
        remedy = "empty tokenize.relations, or leave it out of corpus"
        raise ParameterError(
            f"params.yaml: corpus: {without[0]} has no entailment relations, only PPDB 2.0 has; {remedy}"
        )
    if options.exchange and {source.words for source in sources if source.single} != {False, True}:
        raise ParameterError(
            f"params.yaml: tokenize.exchange = {options.exchange}: needs sources of single sentences and a list of "
            "words, as those of the corpus permissive; set it to 0, or name them"
        )


def check_select(select: str, benchmarks: Suite) -> None:
    """Raise a ParameterError if no set of these benchmarks can have the name or be in the group `select`."""
    known = {"none", "oracle", "test"}
    for source in benchmarks.sources:
        own = source.options.get("own")
        if not (own or source.rows):  # its sets are known when it is read
            return
        names = [f"own.{own.name}", f"own.words.{own.name}"] if own else [key.partition("/")[0] for key in source.rows]
        known |= {group for name in names for group in accumulate(name.split("."), "{}.{}".format)}
    if select not in known:
        raise ParameterError(f"params.yaml: train.select: {unknown_name('set to select by', select, known)}")


def suite(entries: AnyDataEntry | Sequence[AnyDataEntry]) -> Suite:
    """Return the evaluation data of one or several suites; the first one that can names the sets that select the epoch.

    Args:
        entries: names of suites, and files or folders of the user, each file being a set. With files alone, all their
            sets of similarity select.

    Raises:
        ParameterError: no suite has this name, or two files have one name.
        SourceError: a file is missing or of no known format.
    """
    suites, members = list[Suite](), list[Source]()
    for entry in listed(entries):
        if own := _own(entry, catalogue().suites):
            members += [_own_source(each, "own-set") for each in own.files()]
        else:
            suites += _select("suite of benchmarks", [str(entry)], catalogue().suites)
            members += suites[-1].sources
    sources = _without_repetition("benchmarks", members)
    select = next((each.select for each in suites if each.select != "none"), "none" if suites else "own")
    return Suite(sources, select)


@cache
def catalogue() -> Catalogue:
    """Return the catalogue of this package."""
    return load(Path(__file__).with_name("catalogue.toml"))


def _look_up(
    kind: str, name: str, groups: Mapping[str, tuple[Source, ...]], sources: Mapping[str, Source], hint: str = ""
) -> tuple[Source, ...]:
    """Return the sources of a group, or a single one; a message has the nearest match and a hint, not all names."""
    if name in groups:
        return groups[name]
    if name not in sources:
        near = did_you_mean(name, [*groups, *sources])
        raise ParameterError(f"unknown {kind} '{name}': {near}{hint}`paraphrastic data list` prints all sources")
    return (sources[name],)


def _own(entry: DataEntry, known: Container[str]) -> OwnFile | None:
    """Return the file or folder of the user that an entry stands for; None for a known or unknown name."""
    is_folder = isinstance(entry, str) and entry not in known and Path(entry).is_dir()
    return own_file({"path": entry} if is_folder else entry)


def _own_source(own: OwnFile, reader: str) -> Source:
    """Return the source of a file of the user; its pairs are compared with evaluation text exactly and nearly."""
    return Source(
        name=f"own.{own.name}",
        title=own.path,
        licence="own",
        citation="",
        reader=reader,
        options={"own": own},
        pairs=reader == "own-pairs",
        single=own.single,
        near_copies=True,
    )


def _without_repetition(key: str, members: Iterable[Source]) -> tuple[Source, ...]:
    """Return distinct sources."""
    distinct: dict[str, Source] = {}
    for member in members:
        known = distinct.setdefault(member.name, member)
        if known != member:
            files = f"{known.title} and {member.title}"
            raise ParameterError(f"{key}: {files} have the same name; rename one of them")
    return tuple(distinct.values())


class _Suite(BaseModel, strict=True, extra="forbid"):
    sources: list[Text]
    select: Text
    extends: list[Text] = []


class _Content(BaseModel, strict=True, extra="forbid"):
    # the attributes of a `Source`, beside `expand`, and `like`, the entry that has the keys that are not here
    sources: dict[str, dict[str, Any]]
    corpora: dict[str, list[Text]]
    benchmarks: dict[str, _Suite]


class _Template(BaseModel, strict=True):
    expand: dict[str, Annotated[list[Text], Field(min_length=1)]] = {}


def load(path: Path) -> Catalogue:
    """Read and check a catalogue.

    Raises:
        DataError: the file is not TOML, a key is missing, unknown or of the wrong type, a template is malformed, a
            corpus or suite refers to an unknown name, or a corpus to a source without training pairs.
    """
    try:
        return _catalogue(_Content.model_validate(tomllib.loads(regular(path, SMALL).read_text(encoding="utf-8"))))
    except ValidationError as error:
        raise DataError(f"{path}: {first_problem(error)}") from error
    except (tomllib.TOMLDecodeError, ParameterError, RecursionError) as error:
        raise DataError(f"{path}: {error}") from error


def _catalogue(content: _Content) -> Catalogue:
    """Return the catalogue; a corpus or a suite can contain those that precede it in the file."""
    sources: dict[str, Source] = {}
    for template, entry in content.sources.items():
        inherited = _select("source", [str(entry["like"])], content.sources)[0] if "like" in entry else {}
        own = {key: value for key, value in entry.items() if key != "like"}
        try:
            sources |= {member.name: member for member in _expand(template, {**inherited, **own})}
        except ValidationError as error:
            raise ParameterError(first_problem(error, "sources", template)) from error
    corpora: dict[str, tuple[Source, ...]] = {}
    for name, names in content.corpora.items():
        several = [corpora[each] if each in corpora else _select("source", [each], sources) for each in names]
        corpora[name] = tuple(member for members in several for member in members)
        if without := [member.name for member in corpora[name] if not member.pairs]:
            remedy = "set `pairs = true` there, or leave the source out"
            raise ParameterError(f"corpora.{name}: the source '{without[0]}' has no training pairs; {remedy}")
    suites: dict[str, Suite] = {}
    for name, stated in content.benchmarks.items():
        extended = _select("suite of benchmarks", stated.extends, suites)
        before = tuple(member for each in extended for member in each.sources)
        suites[name] = Suite(before + _select("source", stated.sources, sources), stated.select)
    return Catalogue(sources, corpora, suites)


def _expand(template: str, entry: Mapping[str, Any]) -> Iterator[Source]:
    """Yield a source for each combination of the values of a template; its validation finds values of a wrong type."""
    keys = _Template.model_validate(entry).expand
    title, files = entry.get("title"), entry.get("files")
    for each in product(*keys.values()):
        values = dict(zip(keys, each, strict=True))
        filled: dict[str, Any] = {**entry, "name": _fill(template, values)}
        if isinstance(title, str):
            filled["title"] = _fill(title, values)
        if isinstance(files, dict):
            filled["files"] = {_fill(path, values): sha256 for path, sha256 in files.items()}
        filled.pop("expand", None)
        yield Source.model_validate(filled)


def _fill(template: str, values: Mapping[str, str]) -> str:
    """Return a template with each `{KEY}` replaced by its value."""
    try:
        return template.format(**values)
    except KeyError as error:
        raise ParameterError(f"a template uses {error}; add it to `expand` of the same entry") from error
    except (AttributeError, IndexError, TypeError, ValueError) as error:
        remedy = "write {KEY} with a key of `expand`, and {{ or }} for a brace"
        raise ParameterError(f"the template '{template}' is malformed ({error}); {remedy}") from error


def _select(kind: str, names: Sequence[str], known: Mapping[str, _T]) -> tuple[_T, ...]:
    for name in names:
        if name not in known:
            raise ParameterError(unknown_name(kind, name, known))
    return tuple(known[name] for name in names)
