"""Divide pairs and other examples into mini-batches."""

import math
from typing import Literal

import numpy as np
from numpy.typing import NDArray

_BLOCK = 1 << 16  # adjacent pairs
_TOGETHER = 16  # blocks whose pairs are shuffled together


def epoch_batches(
    sources: NDArray[np.integer],
    size: int,
    sampling: Literal["mixed", "source", "blocks"],
    generator: np.random.Generator,
    in_order: bool = False,
) -> list[NDArray[np.int64]]:
    """Divide all pairs into mini-batches in random order.

    Args:
        sources: (pairs,), the source of each pair.
        size: pairs per mini-batch; the last one (of each source) may be smaller.
        sampling: `source` draws each mini-batch from one source and shuffles the mini-batches of all sources;
            `mixed` ignores sources; `blocks` too, and takes adjacent mini-batches from a part of the corpus, so that
            only that part of a file of sentences is read at a time.
        generator: source of random numbers.
        in_order: keep the order of the pairs, source after source (charagram2016 §4.1.4).

    Returns:
        Row numbers of the pairs of each mini-batch; every pair is in exactly one.
    """
    shuffle = _shuffled_blocks if sampling == "blocks" else np.random.Generator.permutation
    order = np.arange(len(sources)) if in_order else shuffle(generator, len(sources))
    if sampling != "source":
        return _split(order, size)
    by_source = order[np.argsort(sources[order], kind="stable")]
    boundaries = np.flatnonzero(np.diff(sources[by_source])) + 1
    batches = [batch for part in np.split(by_source, boundaries) for batch in _split(part, size)]
    return batches if in_order else [batches[i] for i in generator.permutation(len(batches))]


def weighted_rows(
    sources: NDArray[np.integer], weights: NDArray[np.float64], generator: np.random.Generator
) -> NDArray[np.int64]:
    """Return row numbers of pairs, of which those of source s occur `weights[s]` times.

    Args:
        sources: (pairs,), the source of each pair.
        weights: (number of sources,). A weight of 2.3 takes every pair twice, and 0.3 of them, drawn at random, once
            more.
        generator: source of random numbers.

    Returns:
        All rows that occur, in ascending order, then those that occur again, and so on.
    """
    passes = [np.zeros(0, np.int64)]
    for number in range(math.ceil(max(weights, default=0))):
        shares = (weights - number).clip(0, 1)
        parts = [_share(np.flatnonzero(sources == source), share, generator) for source, share in enumerate(shares)]
        passes.append(np.sort(np.concatenate(parts)))
    return np.concatenate(passes)


def _share(rows: NDArray[np.int64], share: float, generator: np.random.Generator) -> NDArray[np.int64]:
    return rows if share == 1 else generator.permutation(rows)[: round(share * len(rows))]


def shuffled_batches(count: int, size: int, generator: np.random.Generator) -> list[NDArray[np.int64]]:
    """Divide `count` row numbers into mini-batches of `size` in random order; the last one may be smaller."""
    return _split(generator.permutation(count), size)


def _shuffled_blocks(generator: np.random.Generator, count: int) -> NDArray[np.int64]:
    """Return `count` row numbers in random order: blocks are shuffled, then the rows of every few blocks."""
    rows, shuffled = np.arange(count), np.empty(count, np.int64)
    starts = _BLOCK * generator.permutation(-(-count // _BLOCK))
    end = 0
    for few in _split(starts, _TOGETHER):
        part = np.concatenate([rows[start : start + _BLOCK] for start in few])
        shuffled[end : end + len(part)] = generator.permutation(part)
        end += len(part)
    return shuffled


def _split(rows: NDArray[np.int64], size: int) -> list[NDArray[np.int64]]:
    return [rows[start : start + size] for start in range(0, len(rows), size)]
