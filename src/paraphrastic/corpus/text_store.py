"""Columns of text in files of a scratch folder, for corpora that do not fit in memory."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

_SCHEMA = pa.schema([("text", pa.string())])


class TextColumn:
    """A column of text in a file, written once, in parts, and then read.

    Args:
        path: the file; its folder must exist.
    """

    def __init__(self, path: Path) -> None:
        self._path, self._starts = path, [0]
        self._writer = pa.ipc.new_file(path, _SCHEMA, options=pa.ipc.IpcWriteOptions(compression="lz4"))

    def __len__(self) -> int:
        return self._starts[-1]

    def append(self, texts: pa.StringArray) -> None:
        """Write further texts, which are a part."""
        self._writer.write_batch(pa.record_batch([texts], schema=_SCHEMA))
        self._starts.append(len(self) + len(texts))

    def close(self) -> None:
        """End writing."""
        self._writer.close()

    def take(self, rows: NDArray[np.int64]) -> Iterator[pa.StringArray]:
        """Yield the texts of `rows`, which ascend, in parts that may be empty."""
        cuts = np.searchsorted(rows, self._starts)
        with pa.OSFile(str(self._path)) as file:  # pages of a memory map would count as memory
            batches = pa.ipc.open_file(file)
            for part, (start, end) in enumerate(pairwise(cuts.tolist())):
                yield batches.get_batch(part).column(0).take(pa.array(rows[start:end] - self._starts[part]))


@dataclass(frozen=True)
class StoredTexts:
    """Some rows of several columns, one column after the other.

    Attributes:
        columns: all columns.
        rows: (n,) ascending, in the columns one after the other.
    """

    columns: Sequence[TextColumn]
    rows: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[pa.StringArray]:
        """Yield the texts in parts that may be empty."""
        starts = np.cumsum([0, *map(len, self.columns)])
        cuts = np.searchsorted(self.rows, starts)
        for column, first, (start, end) in zip(self.columns, starts[:-1], pairwise(cuts.tolist()), strict=True):
            yield from column.take(self.rows[start:end] - first)

    def select(self, chosen: NDArray[np.bool_]) -> "StoredTexts":
        """Return the texts that the mask (n,) chooses."""
        return StoredTexts(self.columns, self.rows[chosen])

    @classmethod
    def concat(cls, parts: "Sequence[StoredTexts]") -> "StoredTexts":
        """Return the texts of all parts, one part after the other; there must be at least one part."""
        shifts = np.cumsum([0, *(sum(map(len, part.columns)) for part in parts)])
        columns = [column for part in parts for column in part.columns]
        return cls(columns, np.concatenate([part.rows + shift for part, shift in zip(parts, shifts, strict=False)]))
