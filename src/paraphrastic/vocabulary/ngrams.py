"""Character n-grams of any orders and alphabet, numbered and counted without hashing strings.

The characters of a sentence are the Unicode code points of its text with one space (or another `padding`) at each end.

N-grams are numbered by chaining. Let `number(c_1 … c_n)` be the number of an n-gram, from 1; 0 means none. It is
looked up under the key `(number(c_1 … c_{n-1}), c_n)`, which fits into one int64 whatever n is. The numbers of all
windows of order n over many sentences are therefore one array, computed from the array of order n − 1 by one table
lookup per window. Building a string per window would take about a hundred times as long.
"""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from paraphrastic.base.parallel import njit
from paraphrastic.text.columns import MAX_COUNT, Ragged, offsets_from_lengths, sort_each

CHUNK = 1 << 19  # bytes of text; the arrays made from a chunk of this size stay in the processor's cache

_BITS = 21  # bits of a code point + 1
_CHARACTER = (1 << _BITS) - 1
ALPHABET = 0x110001  # one more than the largest code point + 1
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # 2^64 / golden ratio: multiplicative hashing, Knuth, TAOCP 3, §6.4
_HALF, _LAST, _SHIFT, _ODD = np.uint64(32), np.uint64(_CHARACTER), np.uint64(_BITS), np.uint64(1)


def code_points(texts: pa.StringArray, padding: str) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return the characters of n texts without nulls, with `padding` added at both ends of each text.

    Returns:
        Code points + 1, with a 0 after each text, and the offsets of the texts in them, (n + 1,).
    """
    whole = pa.ListArray.from_arrays(pa.array([0, len(texts)], pa.int32()), texts)
    text = pc.binary_join(whole, pa.scalar(f"{padding}\n{padding}", texts.type))[0].as_py()
    points = np.frombuffer(f"{padding}{text}{padding}\n".encode("utf-32-le"), "<i4") + np.int32(1)
    offsets = offsets_from_lengths(pc.utf8_length(texts).to_numpy() + 2 * len(padding) + 1)
    points[offsets[1:] - 1] = 0
    return points[: offsets[-1]], offsets


class NgramNumbering:
    """Numbers the n-grams of one order from 1, in order of first occurrence; 0 means no n-gram.

    Attributes:
        size: how many n-grams are numbered.
        keys: `keys[i]` is the key of n-gram i: the number of its first n − 1 characters, shifted left by `_BITS`,
            plus the code point + 1 of its last character. The empty prefix of a single character has number 1.
    """

    def __init__(self) -> None:
        self.size = 0
        self.keys = np.zeros(1, np.int64)
        self._slots = np.zeros(2, np.int32)  # hash table with open addressing: a number or 0; at most half full

    def add(self, numbers: NDArray[np.int32], last: NDArray[np.int32]) -> None:
        """Replace the number of each window's prefix by the number of the window; number new n-grams.

        Args:
            numbers: numbers of the first n − 1 characters, changed in place. 0 stays 0.
            last: the last character of each window; 0, the end of a text, makes the number 0. If it is shorter than
                `numbers`, the remaining windows have no last character and become 0.
        """
        self._reserve(self.size + len(last))
        self.size = _add(numbers, last, self.keys, self._slots, self.size)

    def find(self, numbers: NDArray[np.int32], last: NDArray[np.int32]) -> None:
        """Replace numbers like `add`, but a window without a number becomes 0."""
        _find(numbers, last, self.keys, self._slots)

    def split(self, numbers: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the numbers of the prefixes of n-grams, and the code points of their last characters."""
        return self.keys[numbers] >> _BITS, (self.keys[numbers] & _CHARACTER) - 1

    def _reserve(self, size: int) -> None:
        if size >= len(self.keys):
            self.keys = np.concatenate([self.keys, np.empty(size, np.int64)])
        if 2 * size > len(self._slots):
            self._slots = np.zeros(1 << (2 * size - 1).bit_length(), np.int32)
            _rehash(self.keys, self._slots, self.size)


def distinct_ids(windows: NDArray[np.int32], offsets: NDArray[np.int64], size: int) -> Ragged:
    """Return the distinct ids of each sentence, ascending, with counts of at most 65,535.

    Args:
        windows: (orders, N), an id below `size`, or −1, of each window.
        offsets: (n + 1,); sentence i has `windows[:, offsets[i]:offsets[i + 1]]`.
        size: how many ids there are.
    """
    if windows.size < size // 8:  # a counting sort passes over all ids
        return Ragged(*sort_each(windows, offsets, 0))
    return Ragged(*_merge_repeats(*_sort_by_id(windows, offsets, size), len(windows) * offsets))


@njit(inline="always")
def _slot(key: int, keys: NDArray[np.int64], slots: NDArray[np.int32]) -> np.uint64:
    """Return the slot of `key`, or the empty slot where it belongs.

    Keys with the same prefix start in adjacent slots, so that frequent windows share cache lines. On a collision the
    step depends on the key (double hashing), so that long runs of occupied slots do not grow.
    """
    bits, mask = np.uint64(key), np.uint64(len(slots) - 1)
    slot = (((bits >> _SHIFT) * _GOLDEN >> _HALF) + (bits & _LAST)) & mask
    step = (bits * _GOLDEN >> _HALF) | _ODD
    while slots[slot] != 0 and keys[slots[slot]] != key:
        slot = (slot + step) & mask
    return slot


@njit(nogil=True)
def _add(
    numbers: NDArray[np.int32], last: NDArray[np.int32], keys: NDArray[np.int64], slots: NDArray[np.int32], size: int
) -> int:
    for i in range(len(last)):
        if numbers[i] == 0 or last[i] == 0:
            numbers[i] = 0
            continue
        key = np.int64(numbers[i]) << _BITS | last[i]
        slot = _slot(key, keys, slots)
        if slots[slot] == 0:
            size += 1
            keys[size], slots[slot] = key, size
        numbers[i] = slots[slot]
    numbers[len(last) :] = 0
    return size


@njit(nogil=True)
def _find(
    numbers: NDArray[np.int32], last: NDArray[np.int32], keys: NDArray[np.int64], slots: NDArray[np.int32]
) -> None:
    for i in range(len(last)):
        if numbers[i] == 0 or last[i] == 0:
            numbers[i] = 0
        else:
            numbers[i] = slots[_slot(np.int64(numbers[i]) << _BITS | last[i], keys, slots)]
    numbers[len(last) :] = 0


@njit(nogil=True)
def _rehash(keys: NDArray[np.int64], slots: NDArray[np.int32], size: int) -> None:
    for number in range(1, size + 1):
        slots[_slot(keys[number], keys, slots)] = number


@njit(nogil=True)
def _sort_by_id(
    windows: NDArray[np.int32], offsets: NDArray[np.int64], size: int
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return the sentences of windows, sorted by id, unknown ones first, and the offsets of the ids, (size + 1,)."""
    ends = np.zeros(size + 2, np.int64)  # shifted by one: entry i + 1 belongs to id i, entry 0 to unknown windows
    for i in windows.flat:
        ends[i + 2] += 1
    ends = np.cumsum(ends)
    sentences = np.empty(windows.size, np.int32)
    for s in range(len(offsets) - 1):
        for order in windows:
            for i in order[offsets[s] : offsets[s + 1]]:
                sentences[ends[i + 1]] = s
                ends[i + 1] += 1
    return sentences, ends[:-1]


@njit(nogil=True)
def _merge_repeats(
    sentences: NDArray[np.int32], starts: NDArray[np.int64], capacity: NDArray[np.int64]
) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.uint16]]:
    """Return the fields of `Ragged` from what `_sort_by_id` returns.

    Sentence s first gets a region from `capacity[s]` on, as large as its number of windows; then they move together.
    """
    ids, counts = np.empty(capacity[-1], np.int32), np.empty(capacity[-1], np.uint16)
    ends = capacity[:-1].copy()
    for i in range(len(starts) - 1):
        for at in range(starts[i], starts[i + 1]):
            end = ends[sentences[at]]
            if at > starts[i] and sentences[at] == sentences[at - 1]:
                counts[end - 1] += counts[end - 1] < MAX_COUNT
            else:
                ids[end], counts[end] = i, 1
                ends[sentences[at]] += 1
    offsets = np.zeros(len(capacity), np.int64)
    for s in range(len(ends)):
        offsets[s + 1] = offsets[s] + ends[s] - capacity[s]
        for at in range(ends[s] - capacity[s]):
            ids[offsets[s] + at], counts[offsets[s] + at] = ids[capacity[s] + at], counts[capacity[s] + at]
    return ids[: offsets[-1]].copy(), offsets, counts[: offsets[-1]].copy()
