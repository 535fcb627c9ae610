"""The catalogue of sources: which files belong to one, where they are, which hash they have and how they are read.

`catalogue.toml` is the only place that knows an address. A corpus is a list of sources of training pairs, a suite
a list of sources of evaluation data.
"""

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from itertools import product
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Self, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, PositiveInt, ValidationError, model_validator

from paraphrastic.errors import DataError, ParameterError, unknown_name


@dataclass(frozen=True)
class File:
    """A file of a source.

    Attributes:
        path: below the source's address, and below the source's folder.
        url: where it is; empty for a file that a person must bring.
        sha256: of the one version that is accepted; None accepts what the address holds.
    """

    path: str
    url: str
    sha256: str | None


@dataclass(frozen=True)
class Source:
    """A data set as its publisher offers it.

    Attributes:
        name: unique in the catalogue.
        title: what it is.
        licence: as the publisher states it; `unstated` where it states none.
        citation: whom to cite.
        reader: what turns the files into tables; None for files that are no tables.
        options: for the reader, what the names of the files cannot say.
        files: all of them, in the order of the catalogue.
        rows: what the reader must yield: rows by "SET/SPLIT", or training pairs as `pairs`; empty if not known.
        pairs: it yields training pairs.
        near_copies: pairs that hold a near copy of a test sentence are dropped too.
        words: its texts are words, not sentences.
        manual: what a person must bring; None where the files have addresses.
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


@dataclass(frozen=True)
class Suite:
    """Evaluation data that is used together.

    Attributes:
        name: unique among suites.
        sources: of all its sets.
        select: the set, or group of sets, that models are selected on.
    """

    name: str
    sources: tuple[Source, ...]
    select: str


@dataclass(frozen=True)
class Catalogue:
    """All that is known of sources.

    Attributes:
        sources: by name, templates expanded.
        corpora: lists of sources of training pairs, by name.
        suites: by name.
        families: by the name of a source, its entry in the catalogue: one for all sources of a template.
    """

    sources: Mapping[str, Source]
    corpora: Mapping[str, tuple[Source, ...]]
    suites: Mapping[str, Suite]
    families: Mapping[str, str]


def source(name: str) -> Source:
    """The source `name`.

    Raises:
        ParameterError: there is none.
    """
    known = catalogue()
    if name not in known.sources:
        raise ParameterError(_unknown("source", name, known.families))
    return known.sources[name]


def corpus(names: str | Sequence[str]) -> tuple[Source, ...]:
    """The sources of training pairs that `names` stand for: in that order, each once.

    Args:
        names: of corpora and of sources that yield pairs.

    Raises:
        ParameterError: a name is neither.
    """
    listed = [names] if isinstance(names, str) else names
    return tuple({each.name: each for name in listed for each in _members(name)}.values())


def suite(name: str) -> Suite:
    """The suite `name`.

    Raises:
        ParameterError: there is none.
    """
    suites = catalogue().suites
    if name not in suites:
        raise ParameterError(unknown_name("suite of benchmarks", name, suites))
    return suites[name]


@cache
def catalogue() -> Catalogue:
    """The catalogue that comes with the package."""
    return load(Path(__file__).with_name("catalogue.toml"))


def load(path: Path) -> Catalogue:
    """Read and check a catalogue.

    Raises:
        DataError: it is no TOML, an entry misses a key or has an unknown one or one of the wrong type, or a name
            stands for nothing.
    """
    try:
        content = _Content.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
        return _catalogue(content)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise DataError(f"{path}: {'.'.join(map(str, first['loc']))}: {first['msg']}") from error
    except (tomllib.TOMLDecodeError, ParameterError) as error:
        raise DataError(f"{path}: {error}") from error
    except KeyError as error:
        raise DataError(f"{path}: a template names {error}, which its `expand` does not") from error


def _relative(path: str) -> str:
    parts = PurePosixPath(path).parts
    if not parts or ".." in parts or path != "/".join(parts) or path.startswith("/"):
        raise ValueError(f"'{path}' should be a path below the source's folder")
    return path


_T = TypeVar("_T")
_Text = Annotated[str, Field(min_length=1)]
_FilePath = Annotated[str, AfterValidator(_relative)]
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
    expand: dict[str, Annotated[list[_Text], Field(min_length=1)]] = {}

    @model_validator(mode="after")
    def _obtainable(self) -> Self:
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
    families: dict[str, str] = {}
    for name, entry in content.sources.items():
        family = name.format(**{key: f"{{{values[0]}…{values[-1]}}}" for key, values in entry.expand.items()})
        for each in _expanded(name, entry):
            sources[each.name], families[each.name] = each, family
    corpora = {name: _pick("source", listed, sources) for name, listed in content.corpora.items()}
    suites: dict[str, Suite] = {}
    for name, entry in content.benchmarks.items():
        base = _pick("suite of benchmarks", entry.extends, suites)
        inherited = tuple(each for one in base for each in one.sources)
        suites[name] = Suite(name, inherited + _pick("source", entry.sources, sources), entry.select)
    return Catalogue(sources, corpora, suites, families)


def _expanded(name: str, entry: _Entry) -> Iterator[Source]:
    for values in product(*entry.expand.values()):
        chosen = dict(zip(entry.expand, values, strict=True))
        yield Source(
            name=name.format(**chosen),
            title=entry.title.format(**chosen),
            files=tuple(_file(path.format(**chosen), entry.url, sha256) for path, sha256 in entry.files.items()),
            **entry.model_dump(exclude={"title", "files", "url", "expand"}),
        )


def _file(path: str, url: str | None, sha256: str) -> File:
    return File(path, f"{url}/{path}" if url else "", sha256 or None)


def _pick(what: str, names: Sequence[str], known: Mapping[str, _T]) -> tuple[_T, ...]:
    for name in names:
        if name not in known:
            raise ParameterError(unknown_name(what, name, known))
    return tuple(known[name] for name in names)


def _members(name: str) -> tuple[Source, ...]:
    known = catalogue()
    if name in known.corpora:
        return known.corpora[name]
    found = known.sources.get(name)
    if found is None or not found.pairs:
        trainable = {each: family for each, family in known.families.items() if known.sources[each].pairs}
        raise ParameterError(_unknown("corpus", name, {each: each for each in known.corpora} | trainable))
    return (found,)


def _unknown(what: str, name: str, known: Mapping[str, str]) -> str:
    """As `unknown`, but lists each family of names once and in the order of the catalogue."""
    near = get_close_matches(name, known, n=1)
    hint = f"did you mean '{near[0]}'? " if near else ""
    return f"unknown {what} '{name}': {hint}known are {', '.join(dict.fromkeys(known.values()))}"
