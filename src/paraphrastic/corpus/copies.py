"""Find training texts that are also evaluation texts, exactly or nearly.

Texts are compared in the form that `normalize` gives them. Near copies are texts whose sets of words have a Jaccard
similarity of at least `NEAR`. Two such sets share at least one of the few rarest words of each (the prefix filter of
Chaudhuri et al. 2006), so that few pairs have to be compared and none is missed.
"""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from scipy.sparse import csr_array

from paraphrastic.text.columns import split_words

NEAR = 0.8  # lowest Jaccard similarity of near copies
MIN_WORDS = 4  # an evaluation text with fewer words has no near copies

_ROWS = 1 << 14  # texts that are compared together
_ROUNDING = 1e-9


def exact_copies(texts: pa.StringArray, evaluation: pa.StringArray) -> NDArray[np.bool_]:
    """Return which of the normalized `texts` (n,) occur in `evaluation`; an empty text does not count."""
    copies = pc.and_(pc.is_in(texts, value_set=evaluation), pc.not_equal(texts, ""))
    mask: NDArray[np.bool_] = copies.to_numpy(zero_copy_only=False)
    return mask


def near_copies(texts: pa.StringArray, evaluation: pa.StringArray) -> NDArray[np.bool_]:
    """Return which of the normalized `texts` (n,) are near copies of an evaluation text of `MIN_WORDS` or more."""
    evaluation = evaluation.filter(pc.greater_equal(pc.count_substring(evaluation, " "), MIN_WORDS - 1))
    sets = _word_sets(pa.concat_arrays([texts, evaluation]))
    prefixes = _prefixes(sets)
    other_sets, other_prefixes = sets[len(texts) :], prefixes[len(texts) :].T.tocsr()
    near = [np.zeros(0, bool)]
    for start in range(0, len(texts), _ROWS):
        rows = slice(start, min(start + _ROWS, len(texts)))
        candidates = (prefixes[rows] @ other_prefixes).nonzero()  # two arrays (candidates,)
        near.append(_similar(sets[rows], other_sets, *candidates))
    return np.concatenate(near)


def _word_sets(texts: pa.StringArray) -> csr_array:
    """Return a row for each text and a column for each word, rarest first; 1 if the text contains the word."""
    words, offsets = split_words(texts)
    codes = words.dictionary_encode().indices.to_numpy()
    sets = csr_array((np.ones(len(codes), np.int32), codes, offsets), (len(texts), codes.max(initial=-1) + 1))
    sets.sum_duplicates()
    rank = np.argsort(np.argsort(np.bincount(sets.indices, minlength=sets.shape[1]), kind="stable"))
    ranked = csr_array((np.ones_like(sets.data), rank[sets.indices], sets.indptr), sets.shape)
    ranked.sort_indices()
    return ranked


def _prefixes(sets: csr_array) -> csr_array:
    """Keep of each set its rarest words, as many as are needed for every similar set to contain one of them.

    A set of n words shares at least ⌈NEAR · n⌉ of them with a similar set, so that at most n − ⌈NEAR · n⌉ are missing
    there: of any n − ⌈NEAR · n⌉ + 1 words at least one is shared.
    """
    sizes = np.diff(sets.indptr)
    lengths = sizes - np.ceil(NEAR * sizes - _ROUNDING).astype(np.int64) + 1
    position = np.arange(sets.nnz) - np.repeat(sets.indptr[:-1], sizes)
    kept = position < np.repeat(lengths, sizes)
    return csr_array((sets.data[kept], sets.indices[kept], np.append(0, np.cumsum(kept))[sets.indptr]), sets.shape)


def _similar(
    sets: csr_array, others: csr_array, left: NDArray[np.integer], right: NDArray[np.integer]
) -> NDArray[np.bool_]:
    """Return which of `sets` (rows,) are similar to one of `others`, among the pairs (left[i], right[i])."""
    a, b = np.diff(sets.indptr)[left], np.diff(others.indptr)[right]
    possible = np.minimum(a, b) >= NEAR * np.maximum(a, b) - _ROUNDING
    left, right, total = left[possible], right[possible], (a + b)[possible]
    common = sets[left].multiply(others[right]).sum(axis=1)  # (candidates,), shared words
    near = np.zeros(sets.shape[0], bool)
    near[left[common >= NEAR * (total - common) - _ROUNDING]] = True
    return near
