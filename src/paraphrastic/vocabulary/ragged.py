"""Sentences of different lengths as one flat array of ids: no Python object per sentence."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from paraphrastic.base.parallel import njit
from paraphrastic.text.columns import GrowingArray, offsets_from_lengths

MAX_COUNT = 65_535  # the largest uint16


@dataclass(frozen=True)
class Ragged:
    """The vocabulary ids of n sentences, concatenated.

    Attributes:
        ids: (N,) int32, ids of all sentences. Words and characters stand in reading order; n-grams are distinct
            and ascending within a sentence.
        offsets: (n + 1,) int64; sentence i has `ids[offsets[i]:offsets[i + 1]]`, which may be empty.
        counts: (N,) uint16, occurrences of each id in its sentence; None if `ids` repeats an id instead.
    """

    ids: NDArray[np.int32]
    offsets: NDArray[np.int64]
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
        return Ragged(*_merge_repeats(self.ids, self.offsets))

    def hstack(self, other: "Ragged") -> "Ragged":
        """Append the ids of each sentence of `other` to those of the same sentence of `self`.

        Raises:
            ValueError: one of them has no counts.
        """
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

    Parts of an iterator are not needed after they are copied: memory holds the result and two parts. A single part is
    not copied.
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


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
def _merge_repeats(
    ids: NDArray[np.int32], offsets: NDArray[np.int64]
) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.uint16]]:
    """Return the fields of `Ragged.merge_repeats`."""
    merged, counts, ends = np.empty(len(ids), np.int32), np.empty(len(ids), np.uint16), np.zeros_like(offsets)
    at = 0
    for i in range(len(offsets) - 1):
        previous = np.int32(0)
        for found in np.sort(ids[offsets[i] : offsets[i + 1]]):
            if found == 0:
                continue
            if found == previous:
                counts[at - 1] += counts[at - 1] < MAX_COUNT
                continue
            merged[at], counts[at], previous = found, 1, found
            at += 1
        ends[i + 1] = at
    return merged[:at].copy(), ends, counts[:at].copy()
