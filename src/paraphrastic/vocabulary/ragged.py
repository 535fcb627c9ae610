"""Sentences of different lengths as one flat array of ids: no Python object per sentence."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

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
        sentence, size = np.repeat(np.arange(len(self)), self.lengths), int(self.ids.max(initial=0)) + 1
        known = self.ids > 0
        keys, counts = np.unique(sentence[known] * size + self.ids[known], return_counts=True)
        offsets = np.searchsorted(keys, np.arange(len(self) + 1) * size)
        return Ragged((keys % size).astype(np.int32), offsets, counts.clip(max=MAX_COUNT).astype(np.uint16))

    def hstack(self, other: "Ragged") -> "Ragged":
        """Append the ids of each sentence of `other` to those of the same sentence of `self`.

        Raises:
            ValueError: one of them has no counts.
        """
        if self.counts is None or other.counts is None:
            raise ValueError("hstack needs counts on both sides")
        offsets = self.offsets + other.offsets
        left = np.arange(len(self.ids)) + np.repeat(other.offsets[:-1], self.lengths)
        right = np.arange(len(other.ids)) + np.repeat(self.offsets[1:], other.lengths)
        ids, counts = np.empty(offsets[-1], np.int32), np.empty(offsets[-1], np.uint16)
        ids[left], ids[right] = self.ids, other.ids
        counts[left], counts[right] = self.counts, other.counts
        return Ragged(ids, offsets, counts)

    def occurrences(self, wanted: int) -> NDArray[np.int64]:
        """Return how often `ids` has the id `wanted` in each sentence, (n,)."""
        return np.diff(offsets_from_lengths(self.ids == wanted)[self.offsets])

    def share_of_id(self, wanted: int) -> NDArray[np.float64]:
        """Return the share of the id `wanted` among the ids of each sentence, (n,); 0 for an empty sentence."""
        return self.occurrences(wanted) / np.maximum(self.lengths, 1)


def concat(parts: Iterable[Ragged]) -> Ragged:
    """Return the sentences of all parts, one part after the other; there must be at least one part.

    Parts of an iterator are not needed after they are copied: memory holds the result and one part.
    """
    ids, offsets, counts = GrowingArray(np.int32), GrowingArray(np.int64), GrowingArray(np.uint16)
    offsets.extend(np.zeros(1))
    counted = False
    for part in parts:
        offsets.extend(part.offsets[1:] + len(ids))
        ids.extend(part.ids)
        if counted := part.counts is not None:
            counts.extend(part.counts)
    return Ragged(ids.values(), offsets.values(), counts.values() if counted else None)
