"""Groups of sentences that say the same: connected components of pairs, and pairs within a group.

Sentences are equal here if their tokens have the same normal form (`text.normalize`), so that text that is already
tokenized equals the original.
"""

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from paraphrastic.text.normalize import normalize
from paraphrastic.text.numbering import hash_texts
from paraphrastic.text.tokenizer import tokenize

Integers = NDArray[np.int32] | NDArray[np.int64]


def components(left: Integers, right: Integers) -> NDArray[np.int32]:
    """Return for each edge the number of its connected component, (edges,).

    Args:
        left: (edges,) nodes, numbered from 0.
        right: (edges,) nodes.
    """
    size = max(left.max(initial=-1), right.max(initial=-1)) + 1
    edges = coo_array((np.ones(len(left), np.int8), (left, right)), shape=(size, size))
    component: NDArray[np.int32] = connected_components(edges, directed=False)[1]  # (size,)
    return component[left]


def normal_forms(texts: pa.StringArray) -> pa.DictionaryArray:
    """Return the normal form of each text, (n,); equal ones have the same index."""
    return normalize(tokenize(texts)).dictionary_encode()


def pairs_within(group: Integers, texts: pa.StringArray, at_most: int) -> tuple[Integers, Integers]:
    """Return pairs of different sentences of the same group.

    A sentence that occurs twice in a group counts once, an empty one not at all. The sentences of a group are put in
    the order of the hashes of their normal forms, which is the same in each run and different in each group; they then
    meet as the teams of a round-robin tournament, so that all occur once before one occurs twice. The first `at_most`
    pairs are taken.

    Args:
        group: (n,) of each sentence.
        texts: (n,) sentences.
        at_most: pairs per group.

    Returns:
        Two arrays (pairs,) of rows of `texts`, by group.
    """
    forms = normal_forms(texts)
    order = _members(group, forms)
    sizes = np.unique(group[order], return_counts=True)[1]
    starts = np.cumsum(sizes) - sizes
    pairs = [np.empty((0, 2), np.int64)]
    for size in np.unique(sizes):
        members = starts[sizes == size][:, None, None] + round_robin(size)[:at_most]  # (groups, pairs, 2)
        pairs.append(members.reshape(-1, 2))
    left, right = order[np.concatenate(pairs).T]
    by_group = np.argsort(group[left], kind="stable")
    return left[by_group], right[by_group]


def _members(group: Integers, forms: pa.DictionaryArray) -> Integers:
    """Return rows by group and then by hash of the normal form, one for each form of a group that is not empty."""
    hashes, form = hash_texts(forms.dictionary), forms.indices.to_numpy()
    order = np.lexsort((np.arange(len(form)), hashes[form], group))
    first = np.append(True, (np.diff(group[order]) != 0) | (np.diff(form[order]) != 0))[: len(order)]
    blank = (forms.dictionary.to_numpy(zero_copy_only=False) == "")[form[order]]
    members: Integers = order[first & ~blank]
    return members


def round_robin(size: int) -> NDArray[np.int64]:
    """Return all pairs of 0 … size − 1 by the circle method: in each round everyone meets another one, (pairs, 2)."""
    even = size + size % 2
    rounds, i = np.arange(even - 1)[:, None], np.arange(1, even // 2)
    moving = np.stack([(rounds + i) % (even - 1), (rounds - i) % (even - 1)], axis=2)
    fixed = np.stack([rounds, np.full_like(rounds, even - 1)], axis=2)
    pairs = np.concatenate([fixed, moving], axis=1).reshape(-1, 2)
    return np.sort(pairs[(pairs < size).all(axis=1)], axis=1)
