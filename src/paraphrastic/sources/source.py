"""What a source is: data of a publisher, or of the user, in files; and suites of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


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
