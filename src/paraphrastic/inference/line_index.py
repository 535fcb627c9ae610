"""Indexes of the vectors of lines: one compares with all lines, the other is a graph (HNSW) of the package `usearch`.

Comparing with all lines takes most of its time in products of vectors that are far from each other. An upper bound of a
cosine costs less. Let R be orthogonal, and the first d numbers of R a be p(a) and the others q(a). Then

    a · b = p(a) · p(b) + q(a) · q(b) ≤ p(a) · p(b) + |q(a)| |q(b)|,

which is the product of two vectors of size d + 1. Only where the bound reaches the threshold, the cosine is computed.
The rows of R are the principal directions, so that q is short. d is the size that costs least in a sample.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paraphrastic.scoring.scorer import Scores, Vectors, principal_directions

LineNumbers = NDArray[np.int64]

SLACK = 1e-5  # more than the rounding error of a cosine in float32
_OTHERS = 2048  # lines that are compared together with a block; their cosines stay in the processor's cache
_GATHERED = 1 << 11  # pairs whose vectors are copied together, and stay in the cache
_SAMPLE, _WIDTHS = 1024, (16, 32, 64, 96, 128, 192)
_MORE = 8  # lines that are asked of the graph, which compares in float16, and of which one is the line itself
_PAIR = 25  # times as long takes a number of a single pair as one in a product of matrices


class AllLines:
    """Compares with all lines that were added, so that results are exact. `near` finds the first line.

    Args:
        vectors: (n, dim), of length 1 or zero. Lines are named by their rows, which ascend from one `add` to the next.
        least: smaller cosines are not wanted.
    """

    def __init__(self, vectors: Vectors, least: float = -np.inf) -> None:
        self._vectors, self._rows = vectors, np.empty(0, np.int64)
        self._bounds = _bounding(vectors, least)  # (n, d + 1), or the vectors

    def clear(self) -> None:
        """Remove all lines."""
        self._rows = self._rows[:0]

    def add(self, rows: LineNumbers) -> None:
        """Add lines."""
        self._rows = np.concatenate([self._rows, rows])

    def near(self, rows: LineNumbers, threshold: float) -> LineNumbers:
        """Return the first line whose cosine is at least the threshold, (len(rows),); −1 if there is none."""
        found = np.full(len(rows), -1)
        for others in self._parts():
            waiting = np.flatnonzero(found < 0)
            i, j = self.near_pairs(rows[waiting], others, threshold)
            new, first = np.unique(i, return_index=True)
            found[waiting[new]] = others[j[first]]
        return found

    def nearest(self, rows: LineNumbers, count: int, least: float) -> tuple[LineNumbers, Vectors]:
        """Return the nearest other lines and their cosines, (len(rows), count) each.

        Where there are fewer with a cosine of `least`, any other number, or −1, has a smaller score.
        """
        found, best = np.full((len(rows), count), -1), np.full((len(rows), count), -np.inf, np.float32)
        for others in self._parts():
            cosines = self._cosines(rows, others, np.maximum(best[:, -1:], least))
            _, i, j = np.intersect1d(rows, others, assume_unique=True, return_indices=True)
            cosines[i, j] = -np.inf
            new = np.flatnonzero(cosines.max(1) > best[:, -1])
            cosines = cosines[new]
            columns = _largest(cosines, count)
            candidates = np.concatenate([best[new], np.take_along_axis(cosines, columns, 1)], 1)
            numbers = np.concatenate([found[new], others[columns]], 1)
            order = np.argsort(-candidates, axis=1, kind="stable")[:, :count]
            best[new], found[new] = (np.take_along_axis(each, order, 1) for each in (candidates, numbers))
        return found, best

    def near_pairs(self, rows: LineNumbers, others: LineNumbers, threshold: float) -> tuple[LineNumbers, LineNumbers]:
        """Return the positions in both of lines whose cosine, by `exact_cosines`, is at least the threshold; sorted."""
        cosines = self._cosines(rows, others, threshold)
        i, j = np.divmod(np.flatnonzero(cosines >= threshold - SLACK), len(others))
        near = cosines[i, j]
        unsure = np.flatnonzero(near < threshold + SLACK)
        near[unsure] = exact_cosines(self._vectors, rows[i[unsure]], others[j[unsure]])
        chosen = near >= np.float32(threshold)
        return i[chosen], j[chosen]

    def _parts(self) -> Iterator[LineNumbers]:
        return (self._rows[start : start + _OTHERS] for start in range(0, len(self._rows), _OTHERS))

    def _cosines(self, rows: LineNumbers, others: LineNumbers, least: Any) -> Vectors:
        """Return cosines, (len(rows), len(others)); one below `least` may be replaced by another number below it."""
        cosines: Vectors = self._bounds[rows] @ self._bounds[others].T
        if self._bounds is self._vectors:
            return cosines
        places = np.flatnonzero(cosines >= least - SLACK)
        if len(places) * _PAIR > cosines.size:
            return self._vectors[rows] @ self._vectors[others].T
        i, j = np.divmod(places, len(others))
        for part in _parts_of(len(places)):
            left, right = self._vectors[rows[i[part]]], self._vectors[others[j[part]]]
            cosines.ravel()[places[part]] = np.einsum("nd,nd->n", left, right)
        return cosines


class LineGraph:
    """Finds nearly all of the nearest lines by `usearch`; never one of which nothing is known."""

    def __init__(self, vectors: Vectors) -> None:
        self._vectors = vectors
        self.clear()

    def clear(self) -> None:
        """Remove all lines."""
        from usearch.index import Index

        self._index = Index(ndim=self._vectors.shape[1], metric="ip", dtype="f16")

    def add(self, rows: LineNumbers) -> None:
        """Add lines."""
        known = rows[self._vectors[rows].any(1)]
        if len(known):
            with _interruptible():
                self._index.add(known, self._vectors[known], threads=1)

    def near(self, rows: LineNumbers, threshold: float) -> LineNumbers:
        """Return the nearest line if its cosine is at least the threshold, (len(rows),); otherwise −1."""
        found, cosines = self.nearest(rows, 1, threshold)
        return np.where(cosines >= np.float32(threshold), found, -1)[:, 0]

    def nearest(self, rows: LineNumbers, count: int, least: float) -> tuple[LineNumbers, Vectors]:
        """Return the nearest other lines and their cosines, (len(rows), count) each; −1 and −∞ if there are fewer."""
        size = min(count + _MORE, len(self._index))
        found = np.full((len(rows), count + _MORE), -1)
        if size:
            with _interruptible():
                found[:, :size] = self._index.search(self._vectors[rows], size).keys.reshape(-1, size)
        cosines = exact_cosines(self._vectors, np.repeat(rows, found.shape[1]), found.ravel()).reshape(found.shape)
        cosines[(found == rows[:, None]) | (found < 0)] = -np.inf
        order = np.argsort(-cosines, axis=1, kind="stable")[:, :count]
        return np.take_along_axis(found, order, 1), np.take_along_axis(cosines, order, 1)


def exact_cosines(vectors: Vectors, left: LineNumbers, right: LineNumbers) -> Scores:
    """Return the cosine of each pair of rows of `vectors` (n, dim), (pairs,).

    It is computed in float64 and rounded, so that it is 1 for parallel vectors, and the same wherever the pair stands.
    """
    cosines = np.empty(len(left), np.float32)
    for part in _parts_of(len(left)):
        a, b = (vectors[rows[part]].astype(np.float64) for rows in (left, right))
        lengths = np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1)
        cosines[part] = np.einsum("nd,nd->n", a, b) / np.where(lengths > 0, lengths, 1)
    return cosines


def _bounding(vectors: Vectors, least: float) -> Vectors:
    """Return rows whose products are upper bounds of the cosines; the vectors where bounds would save no time."""
    size, dim = vectors.shape
    some = vectors[:: 1 + size // (16 * _SAMPLE)]  # of fewer, the bounds would be better than those of other lines
    some = some[some.any(1)]
    if len(some) < 4 * _SAMPLE or not np.isfinite(least):
        return vectors
    directions = principal_directions((some.T @ some).astype(np.float64), dim).astype(np.float32)
    sample = some[:: 1 + len(some) // (2 * _SAMPLE)]

    def rows(part: Vectors, width: int) -> Vectors:
        first = part @ directions[:width].T
        squares = [np.einsum("nd,nd->n", each, each) for each in (part, first)]
        return np.concatenate([first, np.sqrt(np.maximum(squares[0] - squares[1], 0))[:, None]], 1)

    costs = {dim: float(dim)}
    for width in (width for width in _WIDTHS if width < dim):
        bounds = rows(sample, width)
        share = (bounds[::2] @ bounds[1::2].T >= least - SLACK).mean()
        costs[width] = width + float(share) * _PAIR * dim
    width = min(costs, key=lambda each: costs[each])
    return vectors if width == dim else rows(vectors, width)


def _parts_of(count: int) -> Iterator[slice]:
    return (slice(start, start + _GATHERED) for start in range(0, count, _GATHERED))


def _largest(cosines: Vectors, count: int) -> LineNumbers:
    """Return the columns of the largest numbers of each row, in any order."""
    if count >= cosines.shape[1]:
        return np.broadcast_to(np.arange(cosines.shape[1]), cosines.shape)
    columns: LineNumbers = cosines.argmax(1)[:, None]
    if count > 1:
        columns = np.argpartition(-cosines, count, axis=1)[:, :count]
    return columns


@contextmanager
def _interruptible() -> Iterator[None]:
    """Raise KeyboardInterrupt after a signal, which `usearch` reports as an error of its own."""
    try:
        yield
    except RuntimeError as error:
        if "terminated" not in str(error):
            raise
        raise KeyboardInterrupt from error
