"""Rows of numbers as integers of 2 to 4 bits, and their bytes in the file of weights."""

import numpy as np
from numpy.typing import NDArray

# half the step between levels that has the least squared error for numbers from N(0, 1) (Max 1960)
_HALF_STEPS = {2: 0.4979, 3: 0.2930}
_ROUNDS = 3  # after which the error falls by less than a hundredth
_LARGEST_EXPONENT = 40  # of a number in base 2; the sum of a row's squares is below 2^128
_BLOCK = 1 << 14  # rows
_CACHED = 1 << 11  # rows that fit in the cache
_HALF = np.uint8(4)  # bits of a byte


def odd_integers(table: NDArray[np.float32], bits: int) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Return the odd integers (rows, dim) and scales (rows,) whose products have nearly the least squared error.

    Integers of 3 bits are -7, -5, …, 7. There is no 0, so that none of the few levels is lost to it: the sums of many
    rows need no exact zero.
    """
    blocks = [_odd_integers(table[start : start + _BLOCK], bits) for start in range(0, len(table), _BLOCK)]
    values, scales = zip(*blocks, strict=True)
    return np.concatenate(values), np.concatenate(scales)


def _odd_integers(rows: NDArray[np.float32], bits: int) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    exponents = np.maximum(np.frexp(np.abs(rows).max(1, initial=0))[1] - _LARGEST_EXPONENT, 0)
    rows = np.ldexp(rows, -exponents[:, None])  # so that float32 holds the squares
    limit, scales = 1 << (bits - 1), _HALF_STEPS[bits] * np.sqrt(np.square(rows).mean(1))
    for _ in range(_ROUNDS):
        steps = np.where(scales > 0, 2 * scales, 1)[:, None]
        values = 2 * np.floor(rows / steps).clip(-limit, limit - 1) + 1
        scales = (rows * values).sum(1) / np.square(values).sum(1)  # least squares
    return values.astype(np.int8), np.ldexp(scales, exponents).astype(np.float32)


def in_planes(values: NDArray[np.int8], bits: int) -> NDArray[np.uint8]:
    """Return odd integers (rows, dim) as bytes (bits, rows, ⌈dim / 8⌉): the lowest bits first."""
    codes = (values + (1 << bits)).astype(np.uint8) >> np.uint8(1)  # 0 to 2^bits - 1
    return np.stack([np.packbits(codes >> np.uint8(bit) & 1, axis=1, bitorder="little") for bit in range(bits)])


def from_planes(planes: NDArray[np.uint8], dim: int) -> NDArray[np.int8]:
    """Return the integers (rows, dim) that `in_planes` packed."""
    values = np.empty((planes.shape[1], dim), np.int8)
    for start in range(0, len(values), _CACHED):
        block = values[start : start + _CACHED]
        block[:] = 0
        for plane in planes[::-1, start : start + _CACHED]:
            block += block
            block += np.unpackbits(plane, axis=1, count=dim, bitorder="little").view(np.int8)
        block += block
        block -= np.int8((1 << len(planes)) - 1)
    return values


def in_halves(values: NDArray[np.int8]) -> NDArray[np.uint8]:
    """Return integers from −7 to 7 (rows, dim) as bytes (rows, ⌈dim / 2⌉), the first half of a row in the lower bits.

    They become 1 to 15; 0 stands where an odd number of dimensions leaves a place free.
    """
    even = np.pad(values, ((0, 0), (0, values.shape[1] % 2)), constant_values=-8)
    low, high = np.split((even + 8).astype(np.uint8), 2, axis=1)
    return low | (high << _HALF)


def from_halves(packed: NDArray[np.uint8]) -> NDArray[np.int8]:
    """Return the integers that `in_halves` packed."""
    even = np.concatenate([packed & 15, packed >> _HALF], axis=1).view(np.int8) - np.int8(8)
    return even[:, :-1] if (even[:, -1] == -8).all() else even
