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
    table is what bounds the speed; one of int8 is a fourth as large.
    """
    out = np.zeros((len(offsets) - 1, table.shape[1]), weights.dtype)
    for i in range(len(out)):
        for n in range(offsets[i], offsets[i + 1]):
            row, weight = ids[n], weights[n]
            for j in range(table.shape[1]):
                out[i, j] += weight * weights.dtype.type(table[row, j])
    return out


@njit(fastmath=FASTMATH, cache=True, error_model="numpy")
def sum_half_rows(table: Array, ids: Array, offsets: Array, weights: Array) -> Array:
    """Return `sum_rows` in float32 of a table of float16, given as uint16 because numba has no half precision.

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
