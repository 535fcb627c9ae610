"""Weighted sums of embedding rows, in one pass over memory. This module does not need torch."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from paraphrastic.base.parallel import njit
from paraphrastic.nn.kernels import FASTMATH

Array = NDArray[Any]


@njit(fastmath=FASTMATH, cache=True, nogil=True, error_model="numpy")
def sum_rows(table: Array, ids: Array, offsets: Array, weights: Array) -> Array:
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
