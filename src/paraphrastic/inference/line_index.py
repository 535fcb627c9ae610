"""Indexes of vectors of lines: one that compares with all of them, and a graph of the package `usearch`.

A graph (HNSW) finds nearly all of the nearest vectors without comparing all. It is built by one thread, so that results
are the same in each run.
"""

from collections.abc import Iterator
from importlib.util import find_spec
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from paraphrastic.scoring.scorer import Vectors

BLOCK = 4096  # lines whose cosines with as many others are in memory at a time

Rows = NDArray[np.int64]


class LineIndex(Protocol):
    """Finds lines that were added, among those with the vectors (n, dim) float16, of length 1 or zero."""

    def add(self, rows: Rows) -> None:
        """Add lines by their numbers, which ascend from one call to the next."""
        ...

    def near(self, rows: Rows, threshold: float) -> Rows:
        """Return a line whose cosine with each line is at least the threshold, (len(rows),); −1 if none is found."""
        ...

    def nearest(self, rows: Rows, count: int) -> tuple[Rows, Vectors]:
        """Return the nearest lines and their cosines, (len(rows), count) each; −1 and −∞ if there are fewer."""
        ...


class AllLines:
    """Compares with all lines, so that results are exact. `near` finds the first line."""

    def __init__(self, vectors: NDArray[np.float16]) -> None:
        self._vectors, self._rows = vectors, np.empty(0, np.int64)

    def add(self, rows: Rows) -> None:
        """Add lines."""
        self._rows = np.concatenate([self._rows, rows])

    def near(self, rows: Rows, threshold: float) -> Rows:
        """Return the first line whose cosine is at least the threshold, (len(rows),); −1 if there is none."""
        found = np.full(len(rows), -1)
        for others, cosines in self._cosines(rows):
            is_near = cosines >= threshold
            new = is_near.any(1) & (found < 0)
            found[new] = others[is_near[new].argmax(1)]
        return found

    def nearest(self, rows: Rows, count: int) -> tuple[Rows, Vectors]:
        """Return the nearest lines and their cosines, (len(rows), count) each; −1 and −∞ if there are fewer."""
        found, best = np.full((len(rows), count), -1), np.full((len(rows), count), -np.inf, np.float32)
        for others, cosines in self._cosines(rows):
            columns = _largest(cosines, count)
            candidates = np.concatenate([best, np.take_along_axis(cosines, columns, 1)], 1)
            numbers = np.concatenate([found, others[columns]], 1)
            order = np.argsort(-candidates, axis=1, kind="stable")[:, :count]
            best, found = (np.take_along_axis(each, order, 1) for each in (candidates, numbers))
        return found, best

    def _cosines(self, rows: Rows) -> Iterator[tuple[Rows, Vectors]]:
        """Yield some lines, (m,), and the cosines with them, (len(rows), m)."""
        wanted = self._vectors[rows].astype(np.float32)
        for start in range(0, len(self._rows), BLOCK):
            others = self._rows[start : start + BLOCK]
            yield others, wanted @ self._vectors[others].astype(np.float32).T


class LineGraph:
    """Finds nearly all of the nearest lines by `usearch`; never one of which nothing is known."""

    def __init__(self, vectors: NDArray[np.float16]) -> None:
        from usearch.index import Index

        self._vectors = vectors
        self._index = Index(ndim=vectors.shape[1], metric="ip", dtype="f16")

    def add(self, rows: Rows) -> None:
        """Add lines."""
        known = rows[self._vectors[rows].any(1)]
        if len(known):
            self._index.add(known, self._vectors[known], threads=1)

    def near(self, rows: Rows, threshold: float) -> Rows:
        """Return the nearest line if its cosine is at least the threshold, (len(rows),); otherwise −1."""
        found, cosines = self.nearest(rows, 1)
        return np.where(cosines >= threshold, found, -1)[:, 0]

    def nearest(self, rows: Rows, count: int) -> tuple[Rows, Vectors]:
        """Return the nearest lines and their cosines, (len(rows), count) each; −1 and −∞ if there are fewer."""
        found, cosines = np.full((len(rows), count), -1), np.full((len(rows), count), -np.inf, np.float32)
        size = min(count, len(self._index))
        if size:
            wanted = self._vectors[rows]
            found[:, :size] = self._index.search(wanted, size).keys.reshape(-1, size)
            near = self._vectors[found[:, :size]].astype(np.float32)  # (len(rows), size, dim)
            cosines[:, :size] = np.einsum("nd,nkd->nk", wanted.astype(np.float32), near)
        return found, cosines


def index_of(vectors: NDArray[np.float16], exact: bool) -> LineIndex:
    """Return an empty index of the lines with these vectors."""
    return AllLines(vectors) if exact else LineGraph(vectors)


def has_graph() -> bool:
    """Return whether `usearch` is installed."""
    return find_spec("usearch") is not None


def _largest(cosines: Vectors, count: int) -> Rows:
    """Return the columns of the largest numbers of each row, in any order."""
    if count >= cosines.shape[1]:
        return np.broadcast_to(np.arange(cosines.shape[1]), cosines.shape)
    columns: Rows = cosines.argmax(1)[:, None] if count == 1 else np.argpartition(-cosines, count, axis=1)[:, :count]
    return columns
