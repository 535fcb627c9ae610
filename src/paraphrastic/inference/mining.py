"""Find lines of text by their sentence vectors: the nearest ones of a query, near duplicates, and paraphrases.

All results are exact: cosines of all lines are computed in blocks. Lines are read once; `search` keeps none of them,
`Lines` holds a vector of float16 for each line, 0.6 GB for a million lines and 300 dimensions, and the text.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from paraphrastic.console import progress
from paraphrastic.errors import DataError
from paraphrastic.inference.model import Model
from paraphrastic.scoring.scorer import Vectors
from paraphrastic.text.columns import GrowingArray

_BLOCK = 4096  # lines whose cosines with as many others are in memory at a time


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

    def blocks(self) -> Iterator[tuple[int, Vectors]]:
        """Yield the vectors of some lines at a time in float32, and the number of the first one."""
        for start in range(0, len(self.vectors), _BLOCK):
            yield start, self.vectors[start : start + _BLOCK].astype(np.float32)


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


def duplicates(lines: Lines, threshold: float) -> NDArray[np.int64]:
    """Return for each line the first line that is kept and has at least this cosine with it, (n,).

    A line is kept if there is none; its number is then its own. Lines of which nothing is known are kept.
    """
    original, kept = np.arange(len(lines.vectors)), np.empty(0, np.int64)
    for start, block in _shown("lines", lines):
        rows = np.arange(start, start + len(block))
        for part in range(0, len(kept), _BLOCK):
            earlier = kept[part : part + _BLOCK]
            near = block @ lines.vectors[earlier].astype(np.float32).T >= threshold
            new = near.any(1) & (original[rows] == rows)
            original[rows[new]] = earlier[near[new].argmax(1)]
        _within(block @ block.T >= threshold, rows, original)
        kept = np.concatenate([kept, rows[original[rows] == rows]])
    return original


def _within(near: NDArray[np.bool_], rows: NDArray[np.int64], original: NDArray[np.int64]) -> None:
    """Assign lines of a block that are near an earlier line of the block that is kept."""
    for i in np.flatnonzero(np.tril(near, -1).any(1)):
        if original[rows[i]] == rows[i]:
            earlier = np.flatnonzero(near[i, :i] & (original[rows[:i]] == rows[:i]))
            original[rows[i]] = rows[earlier[0]] if len(earlier) else rows[i]


def paraphrases(lines: Lines, threshold: float, neighbors: int = 1) -> list[tuple[int, int, float]]:
    """Return pairs of lines that are among each other's nearest, by falling cosine.

    Args:
        lines: of which equal ones are no pairs.
        threshold: smallest cosine of a pair.
        neighbors: how many of the nearest lines of a line count.

    Returns:
        Numbers of the lines, the smaller one first, and their cosine.
    """
    rows, scores = nearest(lines, neighbors)
    left = np.repeat(np.arange(len(rows)), rows.shape[1])
    pairs = np.stack([left, rows.ravel()], 1)
    wanted = (scores.ravel() >= threshold) & (pairs[:, 1] >= 0)
    pairs, cosines = np.sort(pairs[wanted], 1), scores.ravel()[wanted]
    distinct, first, times = np.unique(pairs, axis=0, return_index=True, return_counts=True)
    mutual = times == 2
    order = np.argsort(-cosines[first[mutual]], kind="stable")
    found = zip(distinct[mutual][order].tolist(), cosines[first[mutual]][order].tolist(), strict=True)
    return [(a, b, score) for (a, b), score in found]


def nearest(lines: Lines, count: int) -> tuple[NDArray[np.int64], Vectors]:
    """Return the nearest other lines of each line and their cosines, (n, count) each; −1 where there are fewer."""
    size = len(lines.vectors)
    rows, scores = np.full((size, count), -1), np.full((size, count), -np.inf, np.float32)
    for start, block in _shown("lines", lines):
        here = slice(start, start + len(block))
        for other, vectors in lines.blocks():
            cosines = block @ vectors.T
            if other == start:
                np.fill_diagonal(cosines, -np.inf)
            columns = _largest(cosines, count)
            candidates = np.concatenate([scores[here], np.take_along_axis(cosines, columns, 1)], 1)
            numbers = np.concatenate([rows[here], other + columns], 1)
            best = np.argsort(-candidates, axis=1, kind="stable")[:, :count]
            scores[here], rows[here] = (np.take_along_axis(each, best, 1) for each in (candidates, numbers))
    rows[np.isneginf(scores)] = -1
    return rows, scores


def _largest(cosines: Vectors, count: int) -> NDArray[np.int64]:
    """Return the columns of the largest numbers of each row, in any order."""
    if count >= cosines.shape[1]:
        return np.broadcast_to(np.arange(cosines.shape[1]), cosines.shape)
    columns: NDArray[np.int64] = (
        cosines.argmax(1)[:, None] if count == 1 else np.argpartition(-cosines, count, axis=1)[:, :count]
    )
    return columns


def _shown(name: str, lines: Lines) -> Iterator[tuple[int, Vectors]]:
    with progress() as bar:
        task = bar.add_task(name, total=len(lines.vectors))
        for start, block in lines.blocks():
            yield start, block
            bar.advance(task, len(block))


def _encoded(model: Model, columns: Iterable[pa.StringArray]) -> Iterator[tuple[pa.StringArray, Vectors]]:
    with progress() as bar:
        task = bar.add_task("lines read", total=None)
        for column in columns:
            yield column, model.encode(column, normalize_embeddings=True, show_progress_bar=False)
            bar.advance(task, len(column))
