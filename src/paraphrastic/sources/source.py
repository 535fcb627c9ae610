"""What a source is: data of a publisher, or of the user, in files; and suites of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath
from typing import Annotated, Any, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, PositiveInt, model_validator


def _check_relative(path: str) -> str:
    parts = PurePosixPath(path).parts
    if not parts or ".." in parts or path != "/".join(parts) or path.startswith("/"):
        raise ValueError(f"'{path}' should be a path relative to the source's folder")
    return path


_SCORED = ("own-pairs", "parabank", "paranmt", "ppdb")  # readers of pairs with scores
_CHOOSING = (*_SCORED, "tab-pairs")  # readers that refuse to choose pairs by relations if a source has none
EXCHANGED = "exchanged"  # the source of copies of single sentences in which some words are others

Text = Annotated[str, Field(min_length=1)]
_FilePath = Annotated[str, AfterValidator(_check_relative)]
_Sha256 = Annotated[str, Field(pattern=r"^([0-9a-f]{64})?$")]


@dataclass(frozen=True)
class File:
    """A file of a source."""

    path: str  # path relative to the address of the source, and relative to its local folder
    url: str  # address of the file; empty if the user must provide the file
    sha256: str | None  # hash that the content must have; None accepts any content


class Source(BaseModel):
    """A data set in the form in which its publisher distributes it; the head of catalogue.toml explains the keys."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    name: Text
    title: Text
    licence: Text
    citation: str
    url: Annotated[str, Field(pattern=r"^https?://[^/]+(/.*[^/])?$")] | None = None
    hashes: dict[_FilePath, _Sha256] = Field(default={}, alias="files")
    reader: Text | None = None
    options: dict[str, Any] = {}
    rows: dict[str, PositiveInt] = {}
    pairs: bool = False
    near_copies: bool = False
    phrases: bool = False
    words: bool = False
    relations: bool = False
    single: bool = False  # two in a row, which do not say the same: only the vectors of a teacher are learned from them
    manual: Text | None = None
    optional: bool = False
    max_group_pairs: PositiveInt | None = None

    @model_validator(mode="after")
    def _check_origin(self) -> Self:
        if self.hashes and (self.url is None) == (self.manual is None):
            raise ValueError("files need either `url` or `manual`")
        return self

    @property
    def has_scores(self) -> bool:
        """Whether pairs have scores or relations, by which they can be limited."""
        return self.reader in _SCORED

    @property
    def refuses_relations(self) -> bool:
        """Whether pairs cannot be chosen by relations; sources of other readers have all their pairs then."""
        return self.reader in _CHOOSING and not self.relations

    @cached_property
    def files(self) -> tuple[File, ...]:
        """All files, in the order of the catalogue."""
        base = f"{self.url}/" if self.url else ""
        return tuple(File(path, base and base + path, sha256 or None) for path, sha256 in self.hashes.items())


@dataclass(frozen=True)
class Suite:
    """A selection of evaluation data."""

    sources: tuple[Source, ...]  # sources of all its evaluation sets
    select: str  # name of the set, or group of sets, whose score selects the best epoch; `none` if it has no such set


@dataclass(frozen=True)
class Catalogue:
    """The content of a catalogue."""

    sources: Mapping[str, Source]  # sources by name; a template of the file is expanded into several sources
    corpora: Mapping[str, tuple[Source, ...]]  # sources of training pairs by the name of the corpus
    suites: Mapping[str, Suite]  # suites by name
