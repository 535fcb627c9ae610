"""What a file of the user would be read as, and which of its texts are those of evaluation sets."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pyarrow.compute as pc

from paraphrastic.base.tables import RAW, SIDES
from paraphrastic.corpus.filtering import NearCopies, exact_copies
from paraphrastic.corpus.raw_sources import read_evaluation
from paraphrastic.readers.lines import BadRow
from paraphrastic.readers.own_data import (
    QUESTION,
    Layout,
    layout_of_pairs,
    layout_of_set,
    read_pairs,
    read_set,
    set_name,
)
from paraphrastic.readers.own_tables import OwnTable
from paraphrastic.readers.reading import Reading
from paraphrastic.sources.catalogue import suite
from paraphrastic.sources.fetching import fetch
from paraphrastic.sources.locations import DataLocations
from paraphrastic.sources.own_files import DataEntry, OwnFile, own_file
from paraphrastic.text.tokenizer import normalize, tokenize

_SAMPLE_ROWS = 5
_NAMES = {"similarity": "similarity", "ranking": "ranking", "labelled_pairs": "paraphrases"}


@dataclass(frozen=True)
class Use:
    """One thing that a file can be used as.

    Attributes:
        title: what it is, with the columns that are read.
        usable: rows that would be read.
        left_out: rows with label 0, which are no training pairs.
        refused: rows that cannot be used.
        samples: the first rows, as text.
        texts: distinct tokenized texts, normalized.
    """

    title: str
    usable: int
    left_out: int
    refused: Sequence[BadRow]
    samples: Sequence[Sequence[str]]
    texts: pa.StringArray


@dataclass(frozen=True)
class SharedTexts:
    """Texts of a file that an evaluation set has too.

    Attributes:
        name: of the set.
        exact: texts that are the same after normalization.
        near: others that are near copies.
    """

    name: str
    exact: int
    near: int


def inspect(entry: DataEntry) -> Iterator[tuple[OwnFile, list[Use]]]:
    """Yield each file that an entry stands for, with what it can be used as.

    Args:
        entry: a path of a file or folder.

    Raises:
        DataError: a file is damaged, or has no columns of text.
        SourceError: a file does not exist or cannot be read.
    """
    own = own_file(entry) or OwnFile(path=str(entry))
    for each in own.files():
        yield each, _uses(each)


def overlaps(texts: pa.StringArray, suite_name: str) -> list[SharedTexts] | None:
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
    names = OwnTable(own).names
    uses = []
    if own.columns or not set(QUESTION) <= set(names):
        layout = layout_of_pairs(own, names)
        uses.append(_use(own, "training pairs", layout, read_pairs(own, layout)))
    if {"score", "label"} & set(names):
        layout = layout_of_set(own, names)
        title = f"evaluation set {set_name(own, layout)}, {_NAMES[layout.kind]}"
        uses.append(_use(own, title, layout, read_set(own, layout)))
    return uses


def _use(own: OwnFile, title: str, layout: Layout, readings: Iterator[Reading]) -> Use:
    tables, refused = [RAW[layout.kind].empty_table()], list[BadRow]()
    for reading in readings:
        tables.append(reading.table)
        refused += reading.bad
    table = pa.concat_tables(tables)
    samples = [[str(value) for value in row.values()] for row in table.slice(0, _SAMPLE_ROWS).to_pylist()]
    texts = pa.concat_arrays([normalize(tokenize(table[side])) for side in SIDES])
    title = f"{title} ({', '.join(layout.columns)})"
    return Use(title, len(table), _left_out(own, layout), refused, samples, pc.unique(texts))


def _left_out(own: OwnFile, layout: Layout) -> int:
    """Return how many rows are no training pairs by their label."""
    if layout.kind != "pairs" or "label" not in layout.others:
        return 0
    return sum(
        pc.sum(pc.equal(rows.zeros_and_ones("label"), 0)).as_py() or 0 for rows in OwnTable(own).parts(["label"])
    )


def _overlaps_of(texts: pa.StringArray, table: pa.Table) -> Iterator[SharedTexts]:
    for name in pc.unique(table["set"]).to_pylist():
        rows = table.filter(pc.equal(table["set"], name))
        evaluated = pc.unique(pa.concat_arrays([normalize(tokenize(rows[side])) for side in SIDES]))
        exact = exact_copies(texts, evaluated)
        near = NearCopies(evaluated).find(texts) & ~exact
        if exact.any() or near.any():
            yield SharedTexts(name, int(exact.sum()), int(near.sum()))
