"""Word vectors from the words that stand near each other in the training sentences (`init: cooccurrence`).

They are the truncated singular value decomposition of positive pointwise mutual information, with the settings that
Levy, Goldberg and Dagan (2015), Improving Distributional Similarity with Lessons Learned from Word Embeddings, §3,
recommend: PPMI ≈ U S Vᵀ, and a word has its row of U √S. For words w and v,

    PPMI(w, v) = max(0, log(n(w, v) Σ_u n(u)^0.75 / (n(w) n(v)^0.75)))

where n(w, v) adds 1 / distance for each time that they stand at most five tokens apart in a sentence, and
n(w) = Σ_v n(w, v).
"""

from typing import Any

import numpy as np
import pyarrow as pa
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.extmath import randomized_svd
from threadpoolctl import threadpool_limits

from paraphrastic.scoring.scorer import normalize_rows
from paraphrastic.text.columns import Ragged, TextColumns, chunks
from paraphrastic.vocabulary.kinds import WordVocabulary

WINDOW = 5  # tokens on each side
SMOOTHING = 0.75  # exponent of the frequencies of neighbours
_CHUNK = 1 << 25  # bytes of text that are counted together; adding up the counts takes time for each chunk
_OVERSAMPLES, _POWER_ITERATIONS = 20, 3  # more change the vectors little


def cooccurrence_vectors(sentences: TextColumns, words: pa.StringArray, dim: int, seed: int) -> NDArray[np.float32]:
    """Return a vector of length 1 for each of w distinct words, or zero if it is never near another one, (w, dim).

    Memory holds each pair of words that stand near each other once, 12 bytes each. Of fewer than `dim` words, the last
    numbers are 0. `seed` is that of the randomized decomposition.
    """
    vectors = np.zeros((len(words), dim), np.float32)
    ppmi = positive_pmi(near_counts(sentences, words))
    if ppmi.nnz:
        size = min(dim, len(words))
        with threadpool_limits(1, "blas"):  # sums do not depend on the number of cores
            left, values, _ = randomized_svd(
                ppmi, size, n_oversamples=_OVERSAMPLES, n_iter=_POWER_ITERATIONS, random_state=seed
            )
        vectors[:, :size] = left * np.sqrt(values)
        vectors[np.diff(ppmi.indptr) == 0] = 0.0  # rounding leaves tiny numbers there
    return normalize_rows(vectors)


def near_counts(sentences: TextColumns, words: pa.StringArray) -> sp.csr_array:
    """Return n(w, v), (w, w) float32, symmetric; words that are not in `words` keep their places."""
    vocabulary = WordVocabulary(words)
    total: Any = sp.csr_array((len(words), len(words)), dtype=np.float32)
    for chunk in chunks(sentences, _CHUNK):
        total += _following_counts(vocabulary.lookup(chunk), len(words))
    return sp.csr_array(total + total.T)


def _following_counts(sentences: Ragged, size: int) -> sp.csr_array:
    """Return the part of n(w, v) in which v stands after w, (size, size); id 0 is no word."""
    ids, sentence = sentences.ids, np.repeat(np.arange(len(sentences)), sentences.lengths)
    parts = []
    for distance in range(1, WINDOW + 1):
        known = (ids[:-distance] > 0) & (ids[distance:] > 0)
        left = np.flatnonzero(known & (sentence[:-distance] == sentence[distance:]))
        values = np.full(len(left), 1.0 / distance, np.float32)
        parts.append((values, ids[left] - 1, ids[left + distance] - 1))
    values, rows, columns = (np.concatenate(each) for each in zip(*parts, strict=True))
    return sp.coo_array((values, (rows, columns)), shape=(size, size)).tocsr()


def positive_pmi(counts: sp.csr_array) -> sp.csr_array:
    """Return PPMI of symmetric counts, (w, w), without its zeros."""
    entries = counts.tocoo()
    frequency = counts.sum(axis=1)
    smoothed = frequency**SMOOTHING
    expected = frequency[entries.row] * smoothed[entries.col] / smoothed.sum()
    values = np.log(entries.data / expected).astype(np.float32)
    kept = values > 0
    return sp.csr_array((values[kept], (entries.row[kept], entries.col[kept])), shape=counts.shape)
