"""The tables of the data set `sample`, with which every stage runs without a network; README.md describes them."""

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from paraphrastic.base.tables import RAW, read_table
from paraphrastic.readers.reading import ReaderOptions, Reading


def table(kind: str) -> pa.Table:
    """Return the rows of all sets of a kind, in schema `RAW[kind]`."""
    return read_table(Path(__file__).with_name(f"{kind}.parquet"), RAW[kind])


def sample(folder: Path, options: ReaderOptions) -> Iterator[Reading]:
    """Read the tables of the package.

    Yields:
        One reading for each kind of `RAW`.
    """
    for kind in RAW:
        yield Reading(kind, table(kind))
