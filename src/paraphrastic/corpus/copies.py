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


class NearCopies:
    """Finds near copies of evaluation texts.

    Args:
        evaluation: normalized; texts of fewer than `MIN_WORDS` words have no near copies.
    """

    def __init__(self, evaluation: pa.StringArray) -> None:
        evaluation = evaluation.filter(pc.greater_equal(pc.count_substring(evaluation, " "), MIN_WORDS - 1))
        counts = split_words(evaluation)[0].value_counts()
        order = pc.sort_indices(counts.field("counts"))
        self._words = counts.field("values").take(order)  # rarest first
        sets = self._word_sets(evaluation)
        self._sizes, self._sets = np.diff(sets.indptr), self._known(sets)
        self._prefixes = self._known(_prefixes(sets)).T.tocsr()

    def find(self, texts: pa.StringArray) -> NDArray[np.bool_]:
        """Return which of the normalized `texts` (n,) are near copies."""
        near = [np.zeros(0, bool)]
        for start in range(0, len(texts), _ROWS):
            sets = self._word_sets(texts.slice(start, _ROWS))
            candidates = (self._known(_prefixes(sets)) @ self._prefixes).nonzero()  # two arrays (candidates,)
            near.append(_similar(self._known(sets), np.diff(sets.indptr), self._sets, self._sizes, *candidates))
        return np.concatenate(near)

    def _word_sets(self, texts: pa.StringArray) -> csr_array:
        """Return a row for each text and a column for each word, 1 if the text contains the word.

        The last columns are the words of the evaluation texts, rarest first; those before them are other words, which
        occur in no evaluation text and are therefore the rarest.
        """
        words, offsets = split_words(texts)
        encoded = words.dictionary_encode()
        known = pc.fill_null(pc.index_in(encoded.dictionary, value_set=self._words), -1).to_numpy()
        others = int((known < 0).sum())
        columns = np.where(known < 0, np.cumsum(known < 0) - 1, others + known)[encoded.indices.to_numpy()]
        sets = csr_array((np.ones(len(columns), np.int32), columns, offsets), (len(texts), others + len(self._words)))
        sets.sum_duplicates()
        sets.data[:] = 1
        return sets

    def _known(self, sets: csr_array) -> csr_array:
        """Return the columns of words of the evaluation texts."""
        return sets[:, sets.shape[1] - len(self._words) :]


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
    sets: csr_array,
    sizes: NDArray[np.integer],
    others: csr_array,
    other_sizes: NDArray[np.integer],
    left: NDArray[np.integer],
    right: NDArray[np.integer],
) -> NDArray[np.bool_]:
    """Return which of `sets` (rows,) are similar to one of `others`, among the pairs (left[i], right[i]).

    The sets have the words that both can have, the sizes count the other words too.
    """
    a, b = sizes[left], other_sizes[right]
    possible = np.minimum(a, b) >= NEAR * np.maximum(a, b) - _ROUNDING
    left, right, total = left[possible], right[possible], (a + b)[possible]
    common = sets[left].multiply(others[right]).sum(axis=1)  # (candidates,), shared words
    near = np.zeros(sets.shape[0], bool)
    near[left[common >= NEAR * (total - common) - _ROUNDING]] = True
    return near
