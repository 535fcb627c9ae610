"""What a file of the user would be read as, and which of its texts are those of evaluation sets."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from paraphrastic.base.errors import DataError
from paraphrastic.base.tables import RAW, SIDES
from paraphrastic.corpus.filtering import NearCopies, exact_copies
from paraphrastic.corpus.tokenizing import read_evaluation
from paraphrastic.readers.lines import BadRow
from paraphrastic.readers.own_data import (
    Layout,
    layout_of_pairs,
    layout_of_set,
    read_pairs,
    read_set,
    score_of,
    set_name,
)
from paraphrastic.readers.own_tables import OwnTable
from paraphrastic.sources.catalogue import suite
from paraphrastic.sources.fetching import fetch
from paraphrastic.sources.locations import DataLocations
from paraphrastic.sources.own_files import DataEntry, OwnFile, own_file
from paraphrastic.text.columns import TextNumbering, hash_texts, warning_without_spaces
from paraphrastic.text.tokenizer import normalize, tokenize

_SAMPLE_ROWS = 5
_NAMES = {"similarity": "similarity", "ranking": "ranking", "labelled_pairs": "paraphrases"}


@dataclass(frozen=True)
class Use:
    """One thing that a file can be used as."""

    title: str  # what it is, with the columns that are read
    usable: int  # rows that would be read
    left_out: int  # rows with label 0, which are no training pairs
    unjudged: int  # rows without a judgement, which are left out too
    refused: Sequence[BadRow]  # rows that cannot be used
    notes: Sequence[str]  # lines about columns that are not used, and about what the file cannot be used as
    samples: Sequence[Sequence[str]]  # the first rows, as text
    texts: pa.ChunkedArray  # distinct tokenized texts, normalized


@dataclass(frozen=True)
class SharedTexts:
    """Texts of a file that an evaluation set has too."""

    name: str  # of the set
    exact: int  # texts that are the same after normalization
    near: int  # others that are near copies


def inspect(entry: DataEntry) -> Iterator[tuple[OwnFile, list[Use]]]:
    """Yield each file that an entry stands for, with what it can be used as.

    Args:
        entry: a path of a file or folder, or a mapping with `path`.

    Raises:
        DataError: a file is damaged, or has no columns of text.
        SourceError: a file does not exist or cannot be read.
    """
    own = own_file(entry) or OwnFile(path=str(entry))
    for each in own.files():
        yield each, _uses(each)


def overlaps(texts: pa.ChunkedArray, suite_name: str) -> list[SharedTexts] | None:
    """Return the sets of a suite that have some of `texts`; None if not all of its files are here.

    Args:
        texts: distinct and normalized.
        suite_name: name of the suite; nothing is downloaded.
    """
    locations = DataLocations.from_environment()
    wanted = suite(suite_name).sources
    sources = [source for source in wanted if locations.has(source)]
    if any(not (source in sources or source.manual or source.optional) for source in wanted):
        return None
    with TemporaryDirectory() as folder:
        fetch(sources, Path(folder), locations)
        readings = [reading for source in sources for reading in read_evaluation(source, Path(folder) / source.name)]
    columns = ["set", *SIDES]
    tables = [reading.table.select(columns) for reading in readings if "text2" in reading.table.column_names]
    return list(_overlaps_of(texts, pa.concat_tables(tables)))


def _uses(own: OwnFile) -> list[Use]:
    """Return the uses of a file; if it looks like judged pairs that are no training pairs, the first one says why."""
    table, layouts, refusals = OwnTable(own), list[Layout](), list[str]()
    for layout_of in (layout_of_pairs, layout_of_set):
        try:
            layouts.append(layout_of(table))
        except DataError as error:
            refusals.append(str(error))
    if not layouts:
        raise DataError(refusals[0])
    uses = [_use(own, layout) for layout in layouts]
    is_judged = layouts[0].kind in ("similarity", "labelled_pairs")
    return [replace(use, notes=[*use.notes, f"no training pairs: {refusals[0]}"]) if is_judged else use for use in uses]


def _use(own: OwnFile, layout: Layout) -> Use:
    tables, refused, negative, unjudged = [RAW[layout.kind].empty_table()], list[BadRow](), 0, 0
    for reading in read_pairs(own, layout) if layout.kind == "pairs" else read_set(own, layout):
        tables.append(reading.table)
        refused += reading.bad
        negative += reading.negative
        unjudged += reading.unjudged
    table = pa.concat_tables(tables)
    samples = [[str(value) for value in row.values()] for row in table.slice(0, _SAMPLE_ROWS).to_pylist()]
    texts = _distinct(table)
    notes = [f"not used: {', '.join(layout.unused)}"] if layout.unused else []
    title = f"evaluation set {set_name(own, layout)}, {_NAMES.get(layout.kind)}"
    if layout.kind == "pairs":
        title = "single sentences for a teacher, two in a row" if layout.single else "training pairs"
        limits = "training on pairs with scores needs tokenize.min_score or tokenize.max_score"
        if not (own.takes_all or "label" in layout.others):
            notes += [f"{limits}: {name}" for name in score_of(layout)]
    notes += warning_without_spaces(texts)
    title = f"{title} ({', '.join(layout.columns)})"
    return Use(title, len(table), negative, unjudged, refused, notes, samples, texts)


def _distinct(table: pa.Table) -> pa.ChunkedArray:
    """Return the distinct normalized texts of both sides, of which one array could hold 2 GiB only."""
    parts, seen = list[pa.StringArray](), TextNumbering()
    for texts in (chunk for side in SIDES for chunk in table[side].chunks):
        texts, known = normalize(tokenize(texts)), len(seen)
        numbers, first = np.unique(seen.add(hash_texts(texts)), return_index=True)
        parts.append(texts.take(first[numbers >= known]))
    return pa.chunked_array(parts, pa.string())


def _overlaps_of(texts: pa.ChunkedArray, table: pa.Table) -> Iterator[SharedTexts]:
    for name in pc.unique(table["set"]).to_pylist():
        rows = table.filter(pc.equal(table["set"], name))
        evaluated = pc.unique(pa.concat_arrays([normalize(tokenize(rows[side])) for side in SIDES]))
        copies = NearCopies(evaluated)
        exact = np.concatenate([exact_copies(part, evaluated) for part in texts.chunks])
        near = np.concatenate([copies.find(part) for part in texts.chunks]) & ~exact
        if exact.any() or near.any():
            yield SharedTexts(name, int(exact.sum()), int(near.sum()))
