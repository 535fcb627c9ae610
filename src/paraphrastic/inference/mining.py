"""Find lines of text by their sentence vectors: the nearest ones of a query, near duplicates, and paraphrases.

Texts are equal if their tokens are: letter case and spaces do not count. Equal texts have the cosine 1, whatever the
model knows of them. The cosine says nothing of words that the model does not know, such as numbers and names: `Found`
and `Lines` tell them.

Lines are read once; `search` keeps none of them, `Lines` holds a vector of float32 for each line, 1.2 GB for a million
lines and 300 dimensions, and the text. Results are the same in each run: graphs are built by one thread.
"""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from paraphrastic.base.console import progress
from paraphrastic.base.errors import DataError, ParameterError
from paraphrastic.inference.line_index import AllLines, LineGraph, LineNumbers, exact_cosines
from paraphrastic.inference.model import Model
from paraphrastic.scoring.scorer import Vectors, normalize_rows
from paraphrastic.text.columns import (
    GrowingArray,
    TextNumbering,
    deduplicate,
    hash_texts,
    offsets_from_lengths,
    split_words,
)
from paraphrastic.text.tokenizer import text_column, tokenize

BLOCK = 1024  # lines whose cosines with others are in memory at a time

_DIGITS = 6  # of cosines that are compared with each other: more is rounding error
_EQUAL, _NEVER = 2, -2  # ranks of lines with an equal text, and of lines that are not found; others have their cosine


class Found(NamedTuple):
    """A line that is near another text.

    Attributes:
        row: its number, from 0.
        score: the cosine.
        text: the line.
        unknown: whether words that the model does not know are others in the line than in the query. The score says
            nothing of them.
    """

    row: int
    score: float
    text: str
    unknown: bool = False


@dataclass(frozen=True)
class Lines:
    """Lines with their vectors.

    Attributes:
        texts: (n,).
        vectors: (n, dim), of length 1; zero for lines of which nothing is known.
        first: (n,), for each line the first one with an equal text.
        unknown: (n,), the words of each line that the model does not know, see `unknown_words`.
    """

    texts: pa.ChunkedArray
    vectors: Vectors
    first: LineNumbers
    unknown: pa.ChunkedArray

    @classmethod
    def of(cls, model: Model, columns: Iterable[pa.StringArray]) -> "Lines":
        """Encode all lines.

        Raises:
            DataError: there is no line.
            ModelError: the model compares pairs and has no sentence vectors.
        """
        texts, unknown, vectors, numbers = [], [], GrowingArray(np.float32), GrowingArray(np.int32)
        numbering = TextNumbering()
        for column, tokens, unit in _encoded(model, columns):
            texts.append(column)
            unknown.append(unknown_words(model, tokens))
            vectors.extend(unit.ravel())
            numbers.extend(numbering.add(hash_texts(tokens)))
        if not sum(map(len, texts)):
            raise DataError("the text has no line")
        _, first, number = np.unique(numbers.values(), return_index=True, return_inverse=True)
        unit = vectors.values().reshape(-1, model.dim)
        return cls(pa.chunked_array(texts), unit, first[number], pa.chunked_array(unknown))

    def distinct(self) -> LineNumbers:
        """Return the lines that are the first ones with their text, and of which something is known, ascending."""
        return np.flatnonzero((self.first == np.arange(len(self.first))) & self.vectors.any(1))

    def groups(self) -> NDArray[np.int32]:
        """Return numbers, (n,), that are equal for lines with the same unknown words."""
        return deduplicate([self.unknown])[1][0]


def unknown_words(model: Model, tokens: pa.StringArray) -> pa.StringArray:
    """Return the words of each tokenized text that the model does not know, in their order, joined by spaces, (n,).

    A word is unknown if the vocabulary lacks it, one of its n-grams, or one of its characters.
    """
    words, offsets = split_words(tokens)
    distinct, (rows,) = deduplicate([words])
    entries = pc.binary_join_element_wise("", distinct, "", " ")  # the form of words among n-grams
    known = pc.is_in(entries, model.vocabulary).to_numpy(zero_copy_only=False)
    chosen = ((model.scorer.oov_share(distinct) > 0) & ~known)[rows]
    ends = offsets_from_lengths(chosen)[offsets].astype(np.int32)
    return pc.binary_join(pa.ListArray.from_arrays(pa.array(ends), words.filter(chosen)), " ")


def search(model: Model, columns: Iterable[pa.StringArray], queries: list[str], count: int) -> list[list[Found]]:
    """Return for each query the lines with the largest cosine.

    Lines with an equal text come first, each with the cosine 1. Of equally near ones, those that have the unknown words
    of the query come first, then the first lines. For a query of which nothing is known there are only equal lines.

    Args:
        model: an encoder.
        columns: the lines, in parts, of which memory holds one.
        queries: what is searched for.
        count: lines per query.

    Raises:
        ModelError: the model compares pairs and has no sentence vectors.
        ParameterError: `count` is not positive, or a query is not valid Unicode.
    """
    _check(count)
    asked = tokenize(text_column(queries), "NFKC")
    wanted, asked_unknown = normalize_rows(model.encode_tokenized(asked)), unknown_words(model, asked)  # (q, dim)
    best: list[list[tuple[float, Found]]] = [[] for _ in queries]
    start = 0
    for column, tokens, unit in _encoded(model, columns):
        ranks = np.round(wanted @ unit.T, _DIGITS)  # (q, n)
        ranks[~wanted.any(1)] = _NEVER
        ranks[_equal(asked, tokens)] = _EQUAL
        others = ~_equal(asked_unknown, unknown_words(model, tokens))
        for found, rank, unknown in zip(best, ranks, others, strict=True):
            rows = np.lexsort([unknown, -rank])[:count]
            rows = rows[rank[rows] > _NEVER]
            for row, text in zip(rows.tolist(), column.take(rows).to_pylist(), strict=True):
                score = float(rank[row])
                found.append((score, Found(start + row, min(score, 1.0), text, bool(unknown[row]))))
            found.sort(key=lambda each: (-each[0], each[1].unknown))
            del found[count:]
        start += len(column)
    return [[line for _, line in found] for found in best]


def duplicates(lines: Lines, threshold: float, exact: bool = True) -> LineNumbers:
    """Return for each line the first line that is kept and of which it is a duplicate, (n,).

    Lines are duplicates if their texts are equal, or if their cosine is at least the threshold and they have the same
    unknown words in the same order. A line is kept if it is no duplicate of an earlier one that is kept; its number is
    then its own. A line of which nothing is known has no other duplicates than those with an equal text.

    Args:
        lines: the first of which is always kept.
        threshold: smallest cosine of duplicates; equal texts have 1.
        exact: compare with all lines. Otherwise `usearch` finds the nearest line that is kept.

    Raises:
        ParameterError: the threshold is not a number.
    """
    _check(1, threshold)
    rows, groups, original = lines.distinct(), lines.groups(), np.arange(len(lines.first))
    order = rows[np.argsort(groups[rows], kind="stable")]
    every = AllLines(lines.vectors, threshold)
    index: AllLines | LineGraph = every if exact else LineGraph(lines.vectors)  # of lines with the same unknown words
    indexed = -1  # their group
    earlier_ones = np.arange(len(order)) - np.searchsorted(groups[order], groups[order])  # of the group of each line
    work = ("million comparisons", (earlier_ones + BLOCK) / 1e6) if exact else ()
    for part in _shown(order, *work):
        group = groups[part]
        if group[0] == indexed:
            going_on = part[group == indexed]
            earlier = index.near(going_on, threshold)
            original[going_on] = np.where(earlier >= 0, earlier, going_on)
        _within(every.near_pairs(part, part, threshold), group, part, original)
        if group[-1] != indexed:
            index.clear()
        indexed = group[-1]
        index.add(part[(group == indexed) & (original[part] == part)])
    return original[lines.first] if threshold <= 1 else original


def _within(
    near: tuple[LineNumbers, LineNumbers], groups: NDArray[np.int32], rows: LineNumbers, original: LineNumbers
) -> None:
    """Assign lines of a block that are near an earlier line of the block that is kept, in the same group."""
    i, j = near
    wanted = (j < i) & (groups[i] == groups[j]) & (original[rows[i]] == rows[i])
    for late, early in zip(i[wanted].tolist(), j[wanted].tolist(), strict=True):  # by `late`, then by `early`
        if original[rows[late]] == rows[late] and original[rows[early]] == rows[early]:
            original[rows[late]] = rows[early]


def paraphrases(lines: Lines, threshold: float, neighbors: int = 1, exact: bool = True) -> list[tuple[int, int, float]]:
    """Return pairs of lines that are among each other's nearest, by falling cosine.

    Of lines with equal texts only the first one is compared, so that none is the nearest one of its copy. A pair whose
    lines have other unknown words, `lines.unknown`, may be none: its cosine does not show that they differ.

    Args:
        lines: of which equal ones are no pairs.
        threshold: smallest cosine of a pair.
        neighbors: how many of the nearest lines of a line count.
        exact: compare all lines. Otherwise `usearch` finds the nearest ones.

    Returns:
        Numbers of the lines, the smaller one first, and their cosine.

    Raises:
        ParameterError: the threshold is not a number, or `neighbors` is not positive.
    """
    _check(neighbors, threshold)
    rows, size = lines.distinct(), len(lines.first)
    neighbors = min(neighbors, max(1, len(rows) - 1))
    found, _ = _nearest(lines, rows, neighbors, threshold, exact)
    pairs = np.sort(np.stack([np.repeat(rows, neighbors), found.ravel()], 1), 1)
    keys, times = np.unique(pairs[pairs[:, 0] >= 0] @ [size, 1], return_counts=True)
    first, second = np.divmod(keys[times == 2], size)
    cosines = exact_cosines(lines.vectors, first, second)
    order = np.argsort(-cosines, kind="stable")
    order = order[cosines[order] >= np.float32(threshold)]
    return list(zip(first[order].tolist(), second[order].tolist(), cosines[order].tolist(), strict=True))


def nearest(lines: Lines, count: int, exact: bool = True) -> tuple[LineNumbers, Vectors]:
    """Return the nearest other lines of each line and their cosines, (n, count) each; −1 and −∞ if there are fewer."""
    _check(count)
    found, scores = _nearest(lines, np.arange(len(lines.first)), count, -np.inf, exact)
    found[np.isneginf(scores)] = -1
    return found, np.minimum(scores, 1)


def _nearest(lines: Lines, rows: LineNumbers, count: int, least: float, exact: bool) -> tuple[LineNumbers, Vectors]:
    """Return for each of `rows` the nearest others of them, see `AllLines.nearest`."""
    index = AllLines(lines.vectors, least) if exact else LineGraph(lines.vectors)
    for part in _blocks(rows) if exact else _shown(rows, "lines indexed"):
        index.add(part)
    numbers, scores = [np.empty((0, count), np.int64)], [np.empty((0, count), np.float32)]
    for part in _shown(rows):
        found, cosines = index.nearest(part, count, least)
        numbers.append(found)
        scores.append(cosines)
    return np.concatenate(numbers), np.concatenate(scores)


def _blocks(rows: NDArray[Any]) -> Iterator[NDArray[Any]]:
    return (rows[start : start + BLOCK] for start in range(0, len(rows), BLOCK))


def _shown(rows: LineNumbers, name: str = "lines", work: NDArray[np.float64] | None = None) -> Iterator[LineNumbers]:
    """Yield rows, a block at a time, with a progress bar that each advances by its `work`, or by 1."""
    work = np.ones(len(rows)) if work is None else work
    with progress() as bar:
        task = bar.add_task(name, total=work.sum())
        for part, done in zip(_blocks(rows), _blocks(work), strict=True):
            yield part
            bar.advance(task, done.sum())


def _encoded(
    model: Model, columns: Iterable[pa.StringArray]
) -> Iterator[tuple[pa.StringArray, pa.StringArray, Vectors]]:
    """Yield lines, their tokens, and their vectors of length 1."""
    with progress() as bar:
        task = bar.add_task("lines read", total=None)
        for column in map(text_column, columns):
            tokens = tokenize(column, "NFKC")
            yield column, tokens, normalize_rows(model.encode_tokenized(tokens))
            bar.advance(task, len(column))


def _equal(left: pa.StringArray, right: pa.StringArray) -> NDArray[np.bool_]:
    """Return which texts are equal, (len(left), len(right))."""
    _, (i, j) = deduplicate([left, right])
    equal: NDArray[np.bool_] = i[:, None] == j
    return equal


def _check(count: int, threshold: float = 0) -> None:
    if not isinstance(count, int | np.integer) or count is True or count < 1:
        raise ParameterError(f"{count} lines are asked for: should be 1 or more")
    if math.isnan(threshold):
        raise ParameterError("the threshold is not a number; choose one from -1 to 1")
