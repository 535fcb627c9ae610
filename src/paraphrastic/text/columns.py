"""Columns of sentences as text, words, hashes and ids: no Python object per sentence."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import DTypeLike, NDArray

from paraphrastic.base.errors import DataError
from paraphrastic.base.parallel import njit

_ROWS = 1 << 20  # sentences whose lengths are computed together
_OVERHEAD = 3  # bytes counted per sentence beside its text, so that empty sentences fill a chunk too
MAX_COUNT = 65_535  # the largest uint16
UNKNOWN = 0  # id of every word or character that a vocabulary lacks

# one column of sentences, as a whole or in parts; a file of sentences is one too
TextColumns: TypeAlias = pa.StringArray | pa.ChunkedArray | Iterable[pa.StringArray]
Hashes = NDArray[np.uint64]
Numbers = NDArray[np.int32]

# Words of these scripts are shorter, unless they are Katakana, in which Japanese has long names.
_CLAUSE = r"\p{Han}{5}|[\p{Han}\p{Hiragana}]{6}|[\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]{15}|\p{Tibetan}{15}"
_MANY = 0.05  # share of texts

_OFFSET, _PRIME = np.uint64(0xCBF29CE484222325), np.uint64(0x100000001B3)  # of FNV-1a with 64 bits
_MIX, _HALF, _ODD = np.uint64(0x9E3779B97F4A7C15), np.uint64(32), np.uint64(1)


def chunks(sentences: TextColumns, size: int) -> Iterator[pa.StringArray]:
    """Yield consecutive sentences in chunks of about `size` bytes, which bounds memory.

    A sentence is never split, so that a chunk can be longer than `size`. Nulls become empty strings. At least one chunk
    is yielded; it is empty if there are no sentences.
    """
    empty = True
    parts = sentences.chunks if isinstance(sentences, pa.ChunkedArray) else sentences
    for array in [parts] if isinstance(parts, pa.Array) else parts:
        for start in range(0, len(array), _ROWS):
            yield from _split(pc.fill_null(array.slice(start, _ROWS), ""), size)
            empty = False
    if empty:
        yield pa.array([], pa.string())


def _split(sentences: pa.StringArray, size: int) -> Iterator[pa.StringArray]:
    if sentences.nbytes < size:
        yield sentences
        return
    ends = np.cumsum(pc.binary_length(sentences).to_numpy() + _OVERHEAD, dtype=np.int64)
    cuts = np.flatnonzero(np.diff(ends // size)) + 1
    for start, end in pairwise([0, *cuts.tolist(), len(sentences)]):
        yield sentences.slice(start, end - start)


def split_words(sentences: pa.StringArray) -> tuple[pa.StringArray, NDArray[np.int64]]:
    """Return the words of n tokenized sentences without nulls, and the offsets of the sentences in them, (n + 1,)."""
    lists = pc.split_pattern(sentences, " ")
    words, offsets = lists.flatten(), lists.offsets.to_numpy().astype(np.int64)
    not_empty = pc.binary_length(words).to_numpy() > 0  # a leading, trailing or double space gives an empty word
    if not_empty.all():
        return words, offsets
    return words.filter(not_empty), offsets_from_lengths(not_empty)[offsets]


def offsets_from_lengths(lengths: NDArray[np.integer] | NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the offsets of n consecutive rows, (n + 1,): row i is `[offsets[i], offsets[i + 1])`."""
    return np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])


def warning_without_spaces(texts: pa.StringArray | pa.ChunkedArray) -> list[str]:
    """Return a line for users of models of words if words of many texts are not divided by spaces, else none."""
    found = pc.sum(pc.match_substring_regex(texts, _CLAUSE)).as_py() or 0
    if found < max(1, _MANY * len(texts)):
        return []
    remedy = "models of words, such as avg, take a clause for one word; use charagram, or put spaces between words"
    return [f"{found} of {len(texts)} texts are in a script without spaces between words: {remedy}"]


def deduplicate(columns: Sequence[pa.StringArray | pa.ChunkedArray]) -> tuple[pa.StringArray, list[NDArray[np.int32]]]:
    """Return the distinct texts of all columns, in order of first occurrence, and each column as their row numbers."""
    arrays = [column.chunks if isinstance(column, pa.ChunkedArray) else [column] for column in columns]
    texts = pa.chunked_array([array for column in arrays for array in column], pa.string())
    codes = texts.dictionary_encode().chunks  # every chunk has the whole dictionary
    rows = np.concatenate([np.empty(0, np.int32), *(chunk.indices for chunk in codes)])
    ends = np.cumsum([len(column) for column in columns], dtype=np.int64)
    return codes[0].dictionary if codes else pa.array([], pa.string()), np.split(rows, ends)[:-1]


def check_vocabulary(texts: pa.StringArray | pa.ChunkedArray, kind: str) -> pa.StringArray:
    """Return the entries of a vocabulary as one array; `kind` is what they are, in the plural, for messages.

    Raises:
        DataError: an entry is empty or null, or occurs twice.
    """
    texts = texts.combine_chunks() if isinstance(texts, pa.ChunkedArray) else texts
    if pc.any(pc.equal(pc.fill_null(texts, ""), "")).as_py():
        raise DataError(f"vocabulary of {len(texts)} {kind}: an entry is empty; remove it")
    if len(pc.unique(texts)) < len(texts):
        counts = pc.value_counts(texts)
        repeated = counts.filter(pc.greater(counts.field("counts"), 1))
        text, count = repeated[0].as_py().values()
        raise DataError(f"vocabulary of {len(texts)} {kind}: {text!r} occurs {count} times; keep one")
    return texts


class GrowingArray:
    """A flat array that grows at its end, in place, so that its values are never in memory twice."""

    def __init__(self, dtype: DTypeLike) -> None:
        self._values, self._size = np.empty(0, dtype), 0

    def __len__(self) -> int:
        return self._size

    def last(self) -> Any:
        """Return the last value."""
        return self._values[self._size - 1]

    def extend(self, values: NDArray[Any]) -> None:
        """Append values."""
        end = self._size + len(values)
        if end > len(self._values):
            self._values.resize(end + end // 16, refcheck=False)
        self._values[self._size : end] = values
        self._size = end

    def values(self) -> NDArray[Any]:
        """Return all values; nothing can be appended after that."""
        self._values.resize(self._size, refcheck=False)
        return self._values


@dataclass(frozen=True)
class Ragged:
    """The vocabulary ids of n sentences, concatenated."""

    # (N,) int32, ids of all sentences. Words and characters stand in reading order; n-grams are distinct and ascending
    # within a sentence.
    ids: NDArray[np.int32]
    offsets: NDArray[np.int64]  # (n + 1,) int64; sentence i has `ids[offsets[i]:offsets[i + 1]]`, which may be empty
    # (N,) uint16, occurrences of each id in its sentence; None if `ids` repeats an id instead
    counts: NDArray[np.uint16] | None = None

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Ids per sentence, (n,)."""
        return np.diff(self.offsets)

    def count_values(self, dtype: DTypeLike) -> NDArray[Any]:
        """Return the counts in data type `dtype`, (N,); ones if `ids` repeats ids instead."""
        return np.ones(len(self.ids), dtype) if self.counts is None else self.counts.astype(dtype)

    def take(self, rows: NDArray[np.integer]) -> "Ragged":
        """Return the sentences `rows` in that order; a row may be repeated."""
        positions = self.positions(rows)
        offsets = offsets_from_lengths(self.offsets[rows + 1] - self.offsets[rows])
        return Ragged(self.ids[positions], offsets, None if self.counts is None else self.counts[positions])

    def positions(self, rows: NDArray[np.integer]) -> NDArray[np.int64]:
        """Return the positions in `ids` of all ids of the sentences `rows`, in that order."""
        lengths = self.offsets[rows + 1] - self.offsets[rows]
        starts = np.cumsum(lengths) - lengths
        return np.repeat(self.offsets[rows] - starts, lengths) + np.arange(lengths.sum())

    def merge_repeats(self) -> "Ragged":
        """Return the same sentences with each id once, ascending, and its count; id 0 (unknown) is dropped."""
        return Ragged(*sort_each(self.ids[None], self.offsets, 1))

    def hstack(self, other: "Ragged") -> "Ragged":
        """Append the ids of each sentence of `other` to those of the same sentence of `self`; both must have counts."""
        if self.counts is None or other.counts is None:
            raise ValueError("hstack needs counts on both sides")
        ids = _interleave(self.ids, self.offsets, other.ids, other.offsets)
        counts = _interleave(self.counts, self.offsets, other.counts, other.offsets)
        return Ragged(ids, self.offsets + other.offsets, counts)

    def occurrences(self, wanted: int) -> NDArray[np.int64]:
        """Return how often `ids` has the id `wanted` in each sentence, (n,)."""
        return np.diff(offsets_from_lengths(self.ids == wanted)[self.offsets])

    def share_of_id(self, wanted: int) -> NDArray[np.float64]:
        """Return the share of the id `wanted` among the ids of each sentence, (n,); 0 for an empty sentence."""
        return self.occurrences(wanted) / np.maximum(self.lengths, 1)


def concat(parts: Iterable[Ragged]) -> Ragged:
    """Return the sentences of all parts, one part after the other; there must be at least one part.

    Memory holds the result and two parts of an iterator. A single part is not copied.
    """
    parts = iter(parts)
    first, second = next(parts), next(parts, None)
    if second is None:
        return first
    ids, offsets, counts = GrowingArray(np.int32), GrowingArray(np.int64), GrowingArray(np.uint16)
    offsets.extend(np.zeros(1))
    counted = False
    for part in chain((first, second), parts):
        offsets.extend(part.offsets[1:] + len(ids))
        ids.extend(part.ids)
        if counted := part.counts is not None:
            counts.extend(part.counts)
    return Ragged(ids.values(), offsets.values(), counts.values() if counted else None)


def hash_texts(texts: pa.StringArray | pa.LargeStringArray) -> Hashes:
    """Return the hash of the bytes of each text, (n,), FNV-1a with 64 bits; there must be no null.

    Two different texts with the same hash count as one, so that text that is compared need not stay in memory. This
    happens among 100 million distinct texts with a probability of 3 in 10,000, and among 1 million of 3 in 100 million.
    """
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


@njit(nogil=True)
def _interleave(
    left: NDArray[Any], left_offsets: NDArray[np.int64], right: NDArray[Any], right_offsets: NDArray[np.int64]
) -> NDArray[Any]:
    """Return the items of each sentence of `left`, followed by those of the same sentence of `right`."""
    out = np.empty(left_offsets[-1] + right_offsets[-1], left.dtype)
    at = 0
    for i in range(len(left_offsets) - 1):
        for n in range(left_offsets[i], left_offsets[i + 1]):
            out[at] = left[n]
            at += 1
        for n in range(right_offsets[i], right_offsets[i + 1]):
            out[at] = right[n]
            at += 1
    return out


@njit(nogil=True)
def sort_each(
    windows: NDArray[np.int32], offsets: NDArray[np.int64], least: int
) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.uint16]]:
    """Return the fields of `Ragged`: the ids of each sentence from `least`, once each, ascending, and their counts.

    Sentence i has the columns `offsets[i]:offsets[i + 1]` of `windows`, (orders, N).
    """
    ids, counts = np.empty(windows.size, np.int32), np.empty(windows.size, np.uint16)
    ends = np.zeros(len(offsets), np.int64)
    for s in range(len(offsets) - 1):
        end = ends[s]
        for i in np.sort(windows[:, offsets[s] : offsets[s + 1]].flatten()):
            if i < least:
                continue
            if end > ends[s] and ids[end - 1] == i:
                counts[end - 1] += counts[end - 1] < MAX_COUNT
            else:
                ids[end], counts[end] = i, 1
                end += 1
        ends[s + 1] = end
    return ids[: ends[-1]].copy(), ends, counts[: ends[-1]].copy()


@njit(nogil=True)
def _hash(data: NDArray[np.uint8], offsets: NDArray[Any], hashes: Hashes) -> None:
    for i in range(len(hashes)):
        value = _OFFSET
        for byte in data[offsets[i] : offsets[i + 1]]:
            value = (value ^ np.uint64(byte)) * _PRIME
        hashes[i] = (value ^ value >> _HALF) * _MIX


@njit(inline="always")
def _slot(value: np.uint64, hashes: Hashes, slots: Numbers) -> np.uint64:
    """Return the slot of a hash, or the empty slot where it belongs (double hashing)."""
    mask = np.uint64(len(slots) - 1)
    slot, step = value & mask, value >> _HALF | _ODD
    while slots[slot] >= 0 and hashes[slots[slot]] != value:
        slot = (slot + step) & mask
    return slot


@njit(nogil=True)
def _add(values: Hashes, numbers: Numbers, hashes: Hashes, slots: Numbers, size: int) -> int:
    for i in range(len(values)):
        slot = _slot(values[i], hashes, slots)
        if slots[slot] < 0:
            hashes[size], slots[slot] = values[i], size
            size += 1
        numbers[i] = slots[slot]
    return size


@njit(nogil=True)
def _find(values: Hashes, numbers: Numbers, hashes: Hashes, slots: Numbers) -> None:
    for i in range(len(values)):
        numbers[i] = slots[_slot(values[i], hashes, slots)]


@njit()
def _rehash(hashes: Hashes, slots: Numbers, size: int) -> None:
    for number in range(size):
        slots[_slot(hashes[number], hashes, slots)] = number
