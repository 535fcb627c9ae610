"""Which pairs make which mini-batch, and in which order their words stand."""

from typing import Literal

import numpy as np
from numpy.typing import NDArray


def epoch_batches(
    sources: NDArray[np.integer],
    size: int,
    how: Literal["mixed", "source"],
    generator: np.random.Generator,
    in_order: bool = False,
) -> list[NDArray[np.int64]]:
    """A random order of the pairs, cut into mini-batches.

    Args:
        sources: (pairs,), the source of each pair.
        size: pairs per mini-batch; the last one (of each source) may be smaller.
        how: `mixed`, or every mini-batch from one `source`, the batches of all sources in random order.
        generator: source of the order.
        in_order: no random order, but that of the files (charagram2016 §4.1.4), source after source.

    Returns:
        Row numbers of pairs; every pair stands in exactly one batch.
    """
    order = np.arange(len(sources)) if in_order else generator.permutation(len(sources))
    if how == "mixed":
        return _cut(order, size)
    by_source = order[np.argsort(sources[order], kind="stable")]
    borders = np.flatnonzero(np.diff(sources[by_source])) + 1
    batches = [batch for part in np.split(by_source, borders) for batch in _cut(part, size)]
    return batches if in_order else [batches[i] for i in generator.permutation(len(batches))]


def _cut(rows: NDArray[np.int64], size: int) -> list[NDArray[np.int64]]:
    return [rows[start : start + size] for start in range(0, len(rows), size)]


def scrambled(
    offsets: NDArray[np.int64], chosen: NDArray[np.bool_], tags: tuple[int, int], generator: np.random.Generator
) -> NDArray[np.int64]:
    """A random order of the words of sentences (acl2017 §4.1.4).

    Args:
        offsets: (n + 1,) where in N words each sentence starts, and the last one ends.
        chosen: (n,) which of them to shuffle.
        tags: how many words at the start and at the end of each sentence stay where they are.
        generator: source of the order.

    Returns:
        (N,), which word comes to stand at each place; it is of the same sentence.
    """
    lengths = np.diff(offsets)
    sentence = np.repeat(np.arange(len(lengths)), lengths)
    place = np.arange(len(sentence)) - offsets[sentence]
    moves = chosen[sentence] & (place >= tags[0]) & (place < lengths[sentence] - tags[1])
    key = np.where(moves, tags[0] + generator.random(len(place)), place)
    key[place >= lengths[sentence] - tags[1]] += tags[0] + 1  # behind every shuffled word
    return np.lexsort((key, sentence))
