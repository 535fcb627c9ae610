"""Sentences as columns of unit numbers: no Python object per sentence."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Bags:
    """The units (words or character n-grams) of n sentences, one behind the other.

    Attributes:
        ids: (N,) int32, the units of all sentences; words in reading order, n-grams ascending and distinct.
        offsets: (n + 1,) int64; sentence i has `ids[offsets[i]:offsets[i + 1]]`, which may be empty.
        counts: (N,) uint16, how often each unit occurs in its sentence; None where `ids` repeats it instead.
    """

    ids: NDArray[np.int32]
    offsets: NDArray[np.int64]
    counts: NDArray[np.uint16] | None = None

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Units per sentence, (n,)."""
        return np.diff(self.offsets)

    def take(self, rows: NDArray[np.integer]) -> "Bags":
        """The sentences `rows`, in that order; a row may stand more than once."""
        at, lengths = self.places(rows), self.offsets[rows + 1] - self.offsets[rows]
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        return Bags(self.ids[at], offsets, None if self.counts is None else self.counts[at])

    def places(self, rows: NDArray[np.integer]) -> NDArray[np.int64]:
        """Where in `ids` the units of the sentences `rows` stand, in that order."""
        lengths = self.offsets[rows + 1] - self.offsets[rows]
        starts = np.cumsum(lengths) - lengths
        return np.repeat(self.offsets[rows] - starts, lengths) + np.arange(lengths.sum())

    def tallied(self) -> "Bags":
        """The same sentences with every known unit once, ascending, and its count; 0, the unknown one, is left out."""
        sentence, size = np.repeat(np.arange(len(self)), self.lengths), int(self.ids.max(initial=0)) + 1
        known = self.ids > 0
        keys, counts = np.unique(sentence[known] * size + self.ids[known], return_counts=True)
        offsets = np.searchsorted(keys, np.arange(len(self) + 1) * size)
        return Bags((keys % size).astype(np.int32), offsets, counts.clip(max=65_535).astype(np.uint16))

    def beside(self, other: "Bags") -> "Bags":
        """Each sentence with its units of `self`, then those of `other`; both have counts."""
        out = self.offsets + other.offsets
        mine = np.arange(len(self.ids)) + np.repeat(other.offsets[:-1], self.lengths)
        theirs = np.arange(len(other.ids)) + np.repeat(self.offsets[1:], other.lengths)
        ids, counts = np.empty(out[-1], np.int32), np.empty(out[-1], np.uint16)
        ids[mine], ids[theirs] = self.ids, other.ids
        counts[mine], counts[theirs] = self.counts, other.counts
        return Bags(ids, out, counts)
