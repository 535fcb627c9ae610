"""Find lines of text by their sentence vectors: the nearest ones of a query, near duplicates, and paraphrases.

Lines are read once; `search` keeps none of them, `Lines` holds a vector of float16 for each line, 0.6 GB for a million
lines and 300 dimensions, and the text. An index of these vectors compares with all of them, or is a graph (HNSW) of the
package `usearch`, which finds nearly all of the nearest ones without comparing all. It is built by one thread, so that
results are the same in each run.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from paraphrastic.base.console import progress
from paraphrastic.base.errors import DataError
from paraphrastic.inference.model import Model
from paraphrastic.scoring.scorer import Vectors
from paraphrastic.text.columns import GrowingArray

BLOCK = 4096  # lines whose cosines with as many others are in memory at a time

LineNumbers = NDArray[np.int64]


class Found(NamedTuple):
    """A line that is near another text: its number, from 0, the cosine, and the line."""

    row: int
    score: float
    text: str


@dataclass(frozen=True)
class Lines:
    """Lines with their vectors.

    Attributes:
        texts: (n,).
        vectors: (n, dim) float16, of length 1; zero for lines of which nothing is known.
    """

    texts: pa.ChunkedArray
    vectors: NDArray[np.float16]

    @classmethod
    def of(cls, model: Model, columns: Iterable[pa.StringArray]) -> "Lines":
        """Encode all lines.

        Raises:
            DataError: there is no line.
            ModelError: the model compares pairs and has no sentence vectors.
        """
        texts, vectors = [], GrowingArray(np.float16)
        for column, unit in _encoded(model, columns):
            texts.append(column)
            vectors.extend(unit.ravel())
        if not texts:
            raise DataError("the text has no line")
        return cls(pa.chunked_array(texts), vectors.values().reshape(-1, model.dim))


def search(model: Model, columns: Iterable[pa.StringArray], queries: list[str], count: int) -> list[list[Found]]:
    """Return for each query the lines with the largest cosine; of equally near ones the first come first.

    Args:
        model: an encoder.
        columns: the lines, in parts, of which memory holds one.
        queries: what is searched for.
        count: lines per query.

    Raises:
        ModelError: the model compares pairs and has no sentence vectors.
    """
    wanted = model.encode(queries, normalize_embeddings=True, show_progress_bar=False)  # (q, dim)
    best: list[list[Found]] = [[] for _ in queries]
    start = 0
    for column, unit in _encoded(model, columns):
        for found, scores in zip(best, wanted @ unit.T, strict=True):
            rows = np.argsort(-scores, kind="stable")[:count]
            texts = column.take(pa.array(rows)).to_pylist()
            found += [
                Found(start + row, float(scores[row]), text) for row, text in zip(rows.tolist(), texts, strict=True)
            ]
            found.sort(key=lambda each: -each.score)
            del found[count:]
        start += len(column)
    return best


def duplicates(lines: Lines, threshold: float, exact: bool = True) -> NDArray[np.int64]:
    """Return for each line the first line that is kept and has at least this cosine with it, (n,).

    A line is kept if there is none; its number is then its own. Lines of which nothing is known are kept.

    Args:
        lines: the first of which is always kept.
        threshold: smallest cosine of duplicates.
        exact: compare with all lines. Otherwise `usearch` finds the nearest line that is kept.
    """
    original, index = np.arange(len(lines.vectors)), index_of(lines.vectors, exact)
    for rows in _shown(lines):
        earlier = index.near(rows, threshold)
        original[rows] = np.where(earlier >= 0, earlier, rows)
        block = lines.vectors[rows].astype(np.float32)
        _within(block @ block.T >= threshold, rows, original)
        index.add(rows[original[rows] == rows])
    return original


def _within(near: NDArray[np.bool_], rows: NDArray[np.int64], original: NDArray[np.int64]) -> None:
    """Assign lines of a block that are near an earlier line of the block that is kept."""
    for i in np.flatnonzero(np.tril(near, -1).any(1)):
        if original[rows[i]] == rows[i]:
            earlier = np.flatnonzero(near[i, :i] & (original[rows[:i]] == rows[:i]))
            original[rows[i]] = rows[earlier[0]] if len(earlier) else rows[i]


def paraphrases(lines: Lines, threshold: float, neighbors: int = 1, exact: bool = True) -> list[tuple[int, int, float]]:
    """Return pairs of lines that are among each other's nearest, by falling cosine.

    Args:
        lines: of which equal ones are no pairs.
        threshold: smallest cosine of a pair.
        neighbors: how many of the nearest lines of a line count.
        exact: compare all lines. Otherwise `usearch` finds the nearest ones.

    Returns:
        Numbers of the lines, the smaller one first, and their cosine.
    """
    rows, scores = nearest(lines, neighbors, exact)
    left = np.repeat(np.arange(len(rows)), rows.shape[1])
    pairs = np.stack([left, rows.ravel()], 1)
    wanted = (scores.ravel() >= threshold) & (pairs[:, 1] >= 0)
    pairs, cosines = np.sort(pairs[wanted], 1), scores.ravel()[wanted]
    distinct, first, times = np.unique(pairs, axis=0, return_index=True, return_counts=True)
    mutual = times == 2
    order = np.argsort(-cosines[first[mutual]], kind="stable")
    found = zip(distinct[mutual][order].tolist(), cosines[first[mutual]][order].tolist(), strict=True)
    return [(a, b, score) for (a, b), score in found]


def nearest(lines: Lines, count: int, exact: bool = True) -> tuple[NDArray[np.int64], Vectors]:
    """Return the nearest other lines of each line and their cosines, (n, count) each; −1 and −∞ if there are fewer."""
    index, size = index_of(lines.vectors, exact), len(lines.vectors)
    for rows in _blocks(lines) if exact else _shown(lines, "lines indexed"):
        index.add(rows)
    found, scores = np.empty((size, count), np.int64), np.empty((size, count), np.float32)
    for rows in _shown(lines):
        others, cosines = index.nearest(rows, count + 1)  # the line itself is one of them
        cosines[others == rows[:, None]] = -np.inf
        order = np.argsort(-cosines, axis=1, kind="stable")[:, :count]
        found[rows], scores[rows] = (np.take_along_axis(each, order, 1) for each in (others, cosines))
    found[np.isneginf(scores)] = -1
    return found, scores


def _blocks(lines: Lines) -> Iterator[NDArray[np.int64]]:
    size = len(lines.vectors)
    return (np.arange(start, min(start + BLOCK, size)) for start in range(0, size, BLOCK))


def _shown(lines: Lines, name: str = "lines") -> Iterator[NDArray[np.int64]]:
    """Yield numbers of lines, a block at a time, with a progress bar."""
    with progress() as bar:
        task = bar.add_task(name, total=len(lines.vectors))
        for rows in _blocks(lines):
            yield rows
            bar.advance(task, len(rows))


def _encoded(model: Model, columns: Iterable[pa.StringArray]) -> Iterator[tuple[pa.StringArray, Vectors]]:
    with progress() as bar:
        task = bar.add_task("lines read", total=None)
        for column in columns:
            yield column, model.encode(column, normalize_embeddings=True, show_progress_bar=False)
            bar.advance(task, len(column))


class AllLines:
    """Compares with all lines that were added, so that results are exact. `near` finds the first line.

    Args:
        vectors: (n, dim), of length 1 or zero. Lines are named by their rows, which ascend from one `add` to the next.
    """

    def __init__(self, vectors: NDArray[np.float16]) -> None:
        self._vectors, self._rows = vectors, np.empty(0, np.int64)

    def add(self, rows: LineNumbers) -> None:
        """Add lines."""
        self._rows = np.concatenate([self._rows, rows])

    def near(self, rows: LineNumbers, threshold: float) -> LineNumbers:
        """Return the first line whose cosine is at least the threshold, (len(rows),); −1 if there is none."""
        found = np.full(len(rows), -1)
        for others, cosines in self._cosines(rows):
            is_near = cosines >= threshold
            new = is_near.any(1) & (found < 0)
            found[new] = others[is_near[new].argmax(1)]
        return found

    def nearest(self, rows: LineNumbers, count: int) -> tuple[LineNumbers, Vectors]:
        """Return the nearest lines and their cosines, (len(rows), count) each; −1 and −∞ if there are fewer."""
        found, best = np.full((len(rows), count), -1), np.full((len(rows), count), -np.inf, np.float32)
        for others, cosines in self._cosines(rows):
            columns = _largest(cosines, count)
            candidates = np.concatenate([best, np.take_along_axis(cosines, columns, 1)], 1)
            numbers = np.concatenate([found, others[columns]], 1)
            order = np.argsort(-candidates, axis=1, kind="stable")[:, :count]
            best, found = (np.take_along_axis(each, order, 1) for each in (candidates, numbers))
        return found, best

    def _cosines(self, rows: LineNumbers) -> Iterator[tuple[LineNumbers, Vectors]]:
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

    def add(self, rows: LineNumbers) -> None:
        """Add lines."""
        known = rows[self._vectors[rows].any(1)]
        if len(known):
            self._index.add(known, self._vectors[known], threads=1)

    def near(self, rows: LineNumbers, threshold: float) -> LineNumbers:
        """Return the nearest line if its cosine is at least the threshold, (len(rows),); otherwise −1."""
        found, cosines = self.nearest(rows, 1)
        return np.where(cosines >= threshold, found, -1)[:, 0]

    def nearest(self, rows: LineNumbers, count: int) -> tuple[LineNumbers, Vectors]:
        """Return the nearest lines and their cosines, (len(rows), count) each; −1 and −∞ if there are fewer."""
        found, cosines = np.full((len(rows), count), -1), np.full((len(rows), count), -np.inf, np.float32)
        size = min(count, len(self._index))
        if size:
            wanted = self._vectors[rows]
            found[:, :size] = self._index.search(wanted, size).keys.reshape(-1, size)
            near = self._vectors[found[:, :size]].astype(np.float32)  # (len(rows), size, dim)
            cosines[:, :size] = np.einsum("nd,nkd->nk", wanted.astype(np.float32), near)
        return found, cosines


def index_of(vectors: NDArray[np.float16], exact: bool) -> AllLines | LineGraph:
    """Return an empty index of the lines with these vectors."""
    return AllLines(vectors) if exact else LineGraph(vectors)


def has_graph() -> bool:
    """Return whether `usearch` is installed."""
    return find_spec("usearch") is not None


def _largest(cosines: Vectors, count: int) -> LineNumbers:
    """Return the columns of the largest numbers of each row, in any order."""
    if count >= cosines.shape[1]:
        return np.broadcast_to(np.arange(cosines.shape[1]), cosines.shape)
    columns: LineNumbers = cosines.argmax(1)[:, None]
    if count > 1:
        columns = np.argpartition(-cosines, count, axis=1)[:, :count]
    return columns
