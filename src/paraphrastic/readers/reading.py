"""What a reader yields: a raw table, and the rows that were left out; and what it can be asked to leave out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from paraphrastic.base.compressed import REMEDY
from paraphrastic.base.errors import DataError
from paraphrastic.base.tables import RAW
from paraphrastic.readers.lines import BadRow, SourceRows

ReaderOptions = Mapping[str, Any]
Column: TypeAlias = pa.Array | pa.ChunkedArray | str

_NULLABLE = {"head", "relation"}  # columns that may be null in a usable row


@dataclass(frozen=True)
class Reading:
    """A table of a source, or a part of it."""

    kind: str  # key of `tables.RAW`
    table: pa.Table  # rows in the order of the file, in schema `RAW[kind]`
    bad: tuple[BadRow, ...] = ()  # the rows that are not in `table` because they are damaged, one per line of the file
    unjudged: int = 0  # how many rows are not in `table` because nobody has judged them
    negative: int = 0  # how many rows are not in `table` because their label says that they are no paraphrases


def make_reading(kind: str, files: Sequence[SourceRows], *, may_be_empty: bool = False, **columns: Column) -> Reading:
    """Return a reading of the usable rows: those without null, except in columns that are nullable.

    Args:
        kind: key of `tables.RAW`.
        files: the files from which the rows were read; a bad row of a file is null in some column.
        may_be_empty: whether zero usable rows are allowed.
        columns: arrays of equal length (n,), or a string for a column of equal values. Columns that are not in the
            schema are dropped after the rows were checked.

    Raises:
        DataError: no row is usable, which means that the file has another format.
    """
    table = pa.table({name: column for name, column in columns.items() if not isinstance(column, str)})
    valid = (table[name].is_valid() for name in table.column_names if name not in _NULLABLE)
    table = table.filter(reduce(pc.and_, valid))
    for name, column in columns.items():
        if isinstance(column, str):
            table = table.append_column(name, pa.repeat(column, len(table)))
    first = {(row.file, row.line): row for row in reversed([row for file in files for row in file.bad])}
    bad = tuple(first[line] for line in sorted(first))
    if not (len(table) or may_be_empty):
        location = bad[0] if bad else files[0].file
        raise DataError(f"{location}: not one usable row; is it the right file? {REMEDY}")
    return Reading(kind, table.select(RAW[kind].names).cast(RAW[kind]).combine_chunks(), bad)


def make_pairs(
    files: Sequence[SourceRows], first: pa.StringArray, second: pa.StringArray, group: NDArray[np.integer]
) -> Reading:
    """Return a reading of training pairs (n,) from their texts and the numbers of their groups.

    Raises:
        DataError: no pair is usable.
    """
    return make_reading("pairs", files, text1=first, text2=second, group=pa.array(group))


@dataclass(frozen=True)
class PairFilter:
    """Limits that a pair must keep, in sources that score pairs: PPDB, ParaNMT, ParaBank and files of the user."""

    # the feature of PPDB that is compared; sources with one score per pair do not need it
    feature: str = "PPDB2.0Score"
    min_score: float | None = None  # smallest value; None for no limit
    max_score: float | None = None  # largest value; None for no limit
    relations: tuple[str, ...] = ()  # entailment relations of PPDB 2.0; an empty tuple accepts all

    @property
    def limits_scores(self) -> bool:
        """Whether scores are compared."""
        return self.min_score is not None or self.max_score is not None

    @property
    def is_active(self) -> bool:
        """Whether any pair could be refused."""
        return self.limits_scores or bool(self.relations)

    def accepts_scores(self, scores: pa.DoubleArray) -> pa.BooleanArray:
        """Return which scores (n,) are within the limits; one that is null or NaN, as `NA` in PPDB, is not."""
        low = -np.inf if self.min_score is None else self.min_score
        high = np.inf if self.max_score is None else self.max_score
        within = pc.and_(pc.greater_equal(scores, low), pc.less_equal(scores, high))
        return pc.fill_null(within, not self.limits_scores)

    def check_source_without_relations(self, name: object) -> None:
        """Raise a DataError if a relation is asked for, which the source `name` does not have."""
        if self.relations:
            raise DataError(f"{name}: has no entailment relations, only PPDB 2.0 has; empty tokenize.relations")


PASS_ALL = PairFilter()
