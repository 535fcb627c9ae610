"""Read and check a file of sources, corpora and suites."""

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Self, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, PositiveInt, ValidationError, model_validator

from paraphrastic.base.errors import DataError, ParameterError, unknown_name
from paraphrastic.sources.source import Catalogue, File, Source, Suite


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
