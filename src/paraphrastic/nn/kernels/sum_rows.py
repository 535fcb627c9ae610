"""Weighted sums of embedding rows, in one pass over memory. This module does not need torch."""

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from paraphrastic.nn.kernels import FASTMATH

Array = NDArray[Any]


@njit(fastmath=FASTMATH, cache=True, error_model="numpy")
def sum_rows(table: Array, ids: Array, offsets: Array, weights: Array) -> Array:
    """Return `out[i] = Σ_n weights[n] · table[ids[n]]` over n in `offsets[i]:offsets[i + 1]`, (B, dim).

    This is the product of a sparse matrix in CSR format with a dense table. The inner loop runs over one row of the
    table and one row of the result, both contiguous, so that the compiler vectorises it. Reading the rows of the
    table is what bounds the speed.
    """
    out = np.zeros((len(offsets) - 1, table.shape[1]), table.dtype)
    for i in range(len(out)):
        for n in range(offsets[i], offsets[i + 1]):
            row, weight = ids[n], weights[n]
            for j in range(table.shape[1]):
                out[i, j] += weight * table[row, j]
    return out
