"""Embedding tables in float32, float16 or int8, which are summed as they are stored."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from paraphrastic.base.parallel import FASTMATH, Array, njit
from paraphrastic.scoring.table_format import FORMATS, TableFormat

_LARGEST = 127  # of int8, so that the range is symmetric
_NAMES = {"values": "embeddings", "scales": "embeddings.scales"}  # of the arrays in weights.safetensors


@dataclass(frozen=True)
class EmbeddingTable:
    """A table (rows, dim). A row of int8 is multiplied by its scale; other formats have no scales.

    Attributes:
        values: (rows, dim) float32, float16 or int8.
        scales: (rows,) float32, of int8 only.
    """

    values: NDArray[Any]
    scales: NDArray[np.float32] | None = None

    def __post_init__(self) -> None:
        """Check types and sizes.

        Raises:
            ValueError: the arrays are no table.
        """
        sizes = None if self.scales is None else self.scales.shape
        wanted = self.values.shape[:1] if self.values.dtype == np.int8 else None
        if self.values.ndim != 2 or self.values.dtype.name not in FORMATS or sizes != wanted:
            raise ValueError(
                f"{self.values.dtype} of shape {self.values.shape} with scales {sizes}: no embedding table"
            )

    @classmethod
    def of(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Return the table in the arrays of a model.

        Raises:
            KeyError: there is none.
            ValueError: the arrays are no table.
        """
        return cls(arrays[_NAMES["values"]], arrays.get(_NAMES["scales"]))

    def __len__(self) -> int:
        return len(self.values)

    @property
    def format(self) -> TableFormat:
        """How the numbers are stored."""
        return next(name for name in FORMATS if name == self.values.dtype.name)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays by their names in the file of weights."""
        scales = {} if self.scales is None else {_NAMES["scales"]: self.scales}
        return {_NAMES["values"]: self.values, **scales}

    def sums(self, ids: NDArray[np.integer], offsets: NDArray[np.int64], weights: NDArray[Any]) -> NDArray[np.float32]:
        """Return `out[i] = Σ_n weights[n] · row(ids[n])` over n in `offsets[i]:offsets[i + 1]`, (B, dim)."""
        if self.scales is not None:
            weights = weights * self.scales[ids]
        if self.values.dtype == np.float16:
            return _sum_half_rows(self.values.view(np.uint16), ids, offsets, weights)
        return _sum_rows(self.values, ids, offsets, weights)

    def take(self, ids: NDArray[np.integer]) -> NDArray[np.float32]:
        """Return rows, (n, dim)."""
        rows: NDArray[np.float32] = self.values[ids].astype(np.float32)
        return rows if self.scales is None else rows * self.scales[ids][:, None]

    def array(self) -> NDArray[np.float32]:
        """Return the table in float32, (rows, dim); a table of float32 itself."""
        return self.values if self.format == "float32" else self.take(np.arange(len(self)))

    def in_format(self, wanted: TableFormat) -> "EmbeddingTable":
        """Return the table in another format.

        In int8, the largest magnitude of a row becomes 127, and other numbers are rounded to the nearest integer.
        """
        if wanted == self.format:
            return self
        table = self.array()
        if wanted != "int8":
            return EmbeddingTable(table.astype(wanted))
        scales = np.abs(table).max(1, initial=0) / np.float32(_LARGEST)
        values = np.rint(table / np.where(scales > 0, scales, 1)[:, None]).astype(np.int8)
        return EmbeddingTable(values, scales)

    def rows(self, kept: NDArray[np.integer]) -> "EmbeddingTable":
        """Return the table of some rows."""
        return EmbeddingTable(self.values[kept], None if self.scales is None else self.scales[kept])


@njit(fastmath=FASTMATH, cache=True, nogil=True, error_model="numpy")
def _sum_rows(table: Array, ids: Array, offsets: Array, weights: Array) -> Array:
    """Return `out[i] = Σ_n weights[n] · table[ids[n]]` over n in `offsets[i]:offsets[i + 1]`, (B, dim).

    This is the product of a sparse matrix in CSR format with a dense table. The inner loop runs over rows of the table
    and one row of the result, all contiguous, so that the compiler vectorises it. Reading the rows of the table is what
    bounds the speed: one of int8 is a fourth as large, and four are read at a time, which takes three quarters of the
    time of one after the other.
    """
    out = np.zeros((len(offsets) - 1, table.shape[1]), weights.dtype)
    number = weights.dtype.type
    for i in range(len(out)):
        start, end = offsets[i], offsets[i + 1]
        last = end - (end - start) % 4
        for n in range(start, last, 4):
            a, b, c, d = table[ids[n]], table[ids[n + 1]], table[ids[n + 2]], table[ids[n + 3]]
            u, v, w, x = weights[n], weights[n + 1], weights[n + 2], weights[n + 3]
            for j in range(table.shape[1]):
                out[i, j] += u * number(a[j]) + v * number(b[j]) + w * number(c[j]) + x * number(d[j])
        for n in range(last, end):
            row, weight = ids[n], weights[n]
            for j in range(table.shape[1]):
                out[i, j] += weight * number(table[row, j])
    return out


@njit(fastmath=FASTMATH, cache=True, nogil=True, error_model="numpy")
def _sum_half_rows(table: Array, ids: Array, offsets: Array, weights: Array) -> Array:
    """Return `_sum_rows` in float32 of a table of float16, given as uint16 because numba has no half precision.

    Sign, exponent and mantissa of a half are moved to their places in a float32. Its exponent is then too small by
    127 − 15 = 112, for finite numbers and subnormal ones, so that the weight is multiplied by 2^112.
    """
    out = np.zeros((len(offsets) - 1, table.shape[1]), np.float32)
    bits = np.empty(table.shape[1], np.int32)
    shifted = bits.view(np.float32)
    for i in range(len(out)):
        for n in range(offsets[i], offsets[i + 1]):
            row, weight = ids[n], weights[n] * np.float32(2.0**112)
            for j in range(table.shape[1]):
                half = np.int32(table[row, j])
                bits[j] = (half & 0x8000) << 16 | (half & 0x7FFF) << 13
            for j in range(table.shape[1]):
                out[i, j] += weight * shifted[j]
    return out
