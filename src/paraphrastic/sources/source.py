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
    """A data set in the form in which its publisher distributes it.

    Attributes:
        name: unique name in the catalogue.
        title: one-line description.
        licence: licence as the publisher states it; `unstated` if the publisher states none.
        citation: reference of the publication.
        url: address to which the paths of the files are relative; None if the user must provide the files.
        hashes: `files` of the catalogue: the SHA-256 of each file by its path, or an empty string.
        reader: name of the reader that turns the files into tables; None if the files contain no tables.
        options: options of the reader that cannot be derived from file names.
        rows: number of rows of evaluation data that the reader must yield, by "SET/SPLIT"; number of training pairs
            that it must yield under `pairs`; distinct pairs that the papers count under `distinct`. Empty if unknown.
        pairs: whether the source yields training pairs.
        near_copies: whether pairs that contain a near copy of a sentence of an evaluation set of pairs, in any split,
            are dropped too.
        words: whether the texts are single words, not sentences.
        single: whether the rows of `pairs` hold single sentences, two in a row that do not say the same, so that only
            the vectors of a teacher can be learned from them.
        manual: instructions for a source that the user must provide; None if the files have addresses.
        optional: whether evaluation goes on without the source if its files cannot be fetched.
        max_group_pairs: how many pairs of one group are kept; None keeps all.
    """

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
    words: bool = False
    single: bool = False
    manual: Text | None = None
    optional: bool = False
    max_group_pairs: PositiveInt | None = None

    @model_validator(mode="after")
    def _check_origin(self) -> Self:
        if self.hashes and (self.url is None) == (self.manual is None):
            raise ValueError("files need either `url` or `manual`")
        return self

    @cached_property
    def files(self) -> tuple[File, ...]:
        """All files, in the order of the catalogue."""
        base = f"{self.url}/" if self.url else ""
        return tuple(File(path, base and base + path, sha256 or None) for path, sha256 in self.hashes.items())


@dataclass(frozen=True)
class Suite:
    """A selection of evaluation data."""

    name: str  # unique name among suites
    sources: tuple[Source, ...]  # sources of all its evaluation sets
    select: str  # name of the set, or group of sets, whose score selects the best epoch; `none` if it has no such set


@dataclass(frozen=True)
class Catalogue:
    """The content of a catalogue."""

    sources: Mapping[str, Source]  # sources by name; a template of the file is expanded into several sources
    corpora: Mapping[str, tuple[Source, ...]]  # sources of training pairs by the name of the corpus
    suites: Mapping[str, Suite]  # suites by name
    display_names: Mapping[str, str]  # display name by the name of a source; all sources of a template share one
