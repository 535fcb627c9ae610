"""Number texts by their hashes, so that text that is compared need not stay in memory.

Two different texts with the same hash count as one. With 64 bits this happens among 100 million distinct texts with a
probability of 3 in 10,000, and among 1 million of 3 in 100 million; the result is the same in each run.
"""

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from paraphrastic.base.parallel import njit

Hashes = NDArray[np.uint64]
Numbers = NDArray[np.int32]

_OFFSET, _PRIME = np.uint64(0xCBF29CE484222325), np.uint64(0x100000001B3)  # of FNV-1a with 64 bits
_MIX, _HALF, _ODD = np.uint64(0x9E3779B97F4A7C15), np.uint64(32), np.uint64(1)


def hash_texts(texts: pa.StringArray | pa.LargeStringArray) -> Hashes:
    """Return the hash of the bytes of each text, (n,); there must be no null."""
    hashes = np.empty(len(texts), np.uint64)
    if len(texts):
        _, offsets, data = texts.buffers()
        width = np.int64 if pa.types.is_large_string(texts.type) else np.int32
        offsets = np.frombuffer(offsets, width)[texts.offset : texts.offset + len(texts) + 1]
        _hash(np.frombuffer(data or b"", np.uint8), offsets, hashes)
    return hashes


class TextNumbering:
    """Numbers distinct texts from 0, in order of first occurrence; 12 to 20 bytes per text are kept."""

    def __init__(self) -> None:
        self._size = 0
        self._hashes = np.empty(1, np.uint64)  # of text i
        self._slots = np.full(2, -1, np.int32)  # hash table with open addressing: a number or −1; at most half full

    def __len__(self) -> int:
        return self._size

    @property
    def hashes(self) -> Hashes:
        """The hash of each text, (len(self),)."""
        return self._hashes[: self._size]

    def add(self, hashes: Hashes) -> Numbers:
        """Return the number of each text, (n,); a text that is new gets the next number."""
        self._reserve(self._size + len(hashes))
        numbers = np.empty(len(hashes), np.int32)
        self._size = _add(hashes, numbers, self._hashes, self._slots, self._size)
        return numbers

    def find(self, hashes: Hashes) -> Numbers:
        """Return the number of each text, (n,); −1 for a text without number."""
        numbers = np.empty(len(hashes), np.int32)
        _find(hashes, numbers, self._hashes, self._slots)
        return numbers

    def _reserve(self, size: int) -> None:
        if size > len(self._hashes):
            self._hashes = np.concatenate([self.hashes, np.empty(size - self._size + size // 8, np.uint64)])
        if 2 * size > len(self._slots):
            self._slots = np.full(1 << (2 * size - 1).bit_length(), -1, np.int32)
            _rehash(self._hashes, self._slots, self._size)


@njit(cache=True, nogil=True)
def _hash(data: NDArray[np.uint8], offsets: NDArray[Any], hashes: Hashes) -> None:
    for i in range(len(hashes)):
        value = _OFFSET
        for byte in data[offsets[i] : offsets[i + 1]]:
            value = (value ^ np.uint64(byte)) * _PRIME
        hashes[i] = (value ^ value >> _HALF) * _MIX


@njit(cache=True, inline="always")
def _slot(value: np.uint64, hashes: Hashes, slots: Numbers) -> np.uint64:
    """Return the slot of a hash, or the empty slot where it belongs (double hashing)."""
    mask = np.uint64(len(slots) - 1)
    slot, step = value & mask, value >> _HALF | _ODD
    while slots[slot] >= 0 and hashes[slots[slot]] != value:
        slot = (slot + step) & mask
    return slot


@njit(cache=True, nogil=True)
def _add(values: Hashes, numbers: Numbers, hashes: Hashes, slots: Numbers, size: int) -> int:
    for i in range(len(values)):
        slot = _slot(values[i], hashes, slots)
        if slots[slot] < 0:
            hashes[size], slots[slot] = values[i], size
            size += 1
        numbers[i] = slots[slot]
    return size


@njit(cache=True, nogil=True)
def _find(values: Hashes, numbers: Numbers, hashes: Hashes, slots: Numbers) -> None:
    for i in range(len(values)):
        numbers[i] = slots[_slot(values[i], hashes, slots)]


@njit(cache=True)
def _rehash(hashes: Hashes, slots: Numbers, size: int) -> None:
    for number in range(size):
        slots[_slot(hashes[number], hashes, slots)] = number
