"""The result of a reader: a raw table, and the rows that were left out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from paraphrastic.base.errors import DataError
from paraphrastic.base.tables import RAW
from paraphrastic.readers.files import REMEDY
from paraphrastic.readers.lines import BadRow, Rows

Options = Mapping[str, Any]
Columns = Mapping[str, pa.Array | pa.ChunkedArray | str]

_NULLABLE = {"head", "relation"}  # columns that may be null in a usable row


@dataclass(frozen=True)
class Reading:
    """A table of a source, or a part of it.

    Attributes:
        kind: key of `tables.RAW`.
        table: rows in the order of the file, in schema `RAW[kind]`.
        bad: the rows that are not in `table` because they are damaged, one per line of the file.
    """

    kind: str
    table: pa.Table
    bad: tuple[BadRow, ...] = ()


def make_reading(kind: str, files: Sequence[Rows], columns: Columns, may_be_empty: bool = False) -> Reading:
    """Return a reading of the usable rows: those without null, except in columns that are nullable.

    Args:
        kind: key of `tables.RAW`.
        files: the files from which the rows were read; a bad row of a file is null in some column.
        columns: arrays of equal length (n,), or a string for a column of equal values. Columns that are not in the
            schema are dropped after the rows were checked.
        may_be_empty: whether zero usable rows are allowed.

    Raises:
        DataError: no row is usable, which means that the file has another format.
    """
    table = _usable_rows(columns)
    bad = _first_per_line([row for file in files for row in file.bad])
    if not (len(table) or may_be_empty):
        location = bad[0] if bad else files[0].file
        raise DataError(f"{location}: not one usable row; is it the right file? {REMEDY}")
    return Reading(kind, table.select(RAW[kind].names).cast(RAW[kind]).combine_chunks(), bad)


def make_pairs(
    files: Sequence[Rows], first: pa.StringArray, second: pa.StringArray, group: NDArray[np.integer]
) -> Reading:
    """Return a reading of training pairs.

    Args:
        files: the files from which they were read.
        first: (n,) texts.
        second: (n,) texts.
        group: (n,) numbers of groups.

    Raises:
        DataError: no pair is usable.
    """
    return make_reading("pairs", files, {"text1": first, "text2": second, "group": pa.array(group)})


def _usable_rows(columns: Columns) -> pa.Table:
    table = pa.table({name: column for name, column in columns.items() if not isinstance(column, str)})
    valid = (table[name].is_valid() for name in table.column_names if name not in _NULLABLE)
    table = table.filter(reduce(pc.and_, valid))
    for name, column in columns.items():
        if isinstance(column, str):
            table = table.append_column(name, pa.repeat(column, len(table)))
    return table


def _first_per_line(bad: Sequence[BadRow]) -> tuple[BadRow, ...]:
    """Return the first bad row of each line, sorted by file and line."""
    first = {(row.file, row.line): row for row in reversed(bad)}
    return tuple(first[line] for line in sorted(first))
