"""What tests of real sources ask of their readings."""

from collections.abc import Callable

import pyarrow as pa
import pyarrow.compute as pc

from paraphrastic.readers.reading import Reading

ReadSource = Callable[[str], list[Reading]]


def column(readings: list[Reading], name: str) -> pa.ChunkedArray:
    """Return a column of all readings."""
    return pa.chunked_array([chunk for reading in readings for chunk in reading.table[name].chunks])


def split(reading: Reading) -> str:
    """Return the split of a reading."""
    (name,) = pc.unique(reading.table["split"]).to_pylist()
    return name
