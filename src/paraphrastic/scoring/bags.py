"""Bags of words or character n-grams: baselines that count which ones two sentences share, and how rare they are."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from paraphrastic.base.errors import DataError
from paraphrastic.base.parallel import njit
from paraphrastic.base.tables import TrainingSentences
from paraphrastic.scoring.scorer import Rows, Scores
from paraphrastic.scoring.weight_files import read_weights, write_weights, wrong_config, wrong_weights
from paraphrastic.text.columns import Ragged, split_words
from paraphrastic.vocabulary.kinds import NgramVocabulary, WordVocabulary


class TfidfScorer:
    """Cosine of counts × idf, with `idf = 1 + ln((1 + n) / (1 + df))` and df of the n training sentences.

    Args:
        vocabulary_kind: `words`, or `ngrams`: all windows of the text of one length.
        texts: the words or n-grams of the training corpus; others are ignored.
        idf: (len(texts),), their weights.
    """

    def __init__(self, vocabulary_kind: str, texts: pa.StringArray, idf: NDArray[np.float64]) -> None:
        self.vocabulary_kind, self.texts, self.idf = vocabulary_kind, texts, idf
        self._vocabulary = WordVocabulary(texts) if vocabulary_kind == "words" else NgramVocabulary(texts, padding="")

    def score(self, sentences: pa.StringArray, left: Rows, right: Rows) -> Scores:
        """Return the cosine of each pair, (pairs,); 0 if a sentence has no known token."""
        return cosine_of_sparse_rows(*self.weigh(sentences), left, right)

    def weigh(self, sentences: pa.StringArray) -> tuple[Ragged, NDArray[np.float64]]:
        """Return the distinct known tokens of each sentence as rows of `texts`, and their counts × idf."""
        counts = self._vocabulary.lookup(sentences)
        if self.vocabulary_kind == "words":
            counts = counts.merge_repeats()
            counts = replace(counts, ids=counts.ids - np.int32(1))
        return counts, counts.count_values(np.float64) * self.idf[counts.ids]

    def oov_share(self, sentences: pa.StringArray) -> NDArray[np.float64]:
        """Return the share of each sentence's tokens that the training corpus lacks, (n,)."""
        return self._vocabulary.oov_share(sentences)

    def save(self, folder: Path) -> dict[str, Any]:
        """Write tokens and idf; the result goes to `config.json`."""
        weights = write_weights(folder, self.texts, {"idf": self.idf})
        return {"scorer": {"kind": "tfidf", "tokens": self.vocabulary_kind}, **weights}

    @classmethod
    def load(cls, folder: Path, options: Mapping[str, Any]) -> Self:
        """Load the scorer that `save` wrote.

        Raises:
            ModelError: weights or vocabulary are damaged, or not those of this model.
        """
        if options.get("tokens") not in ("words", "ngrams"):
            raise wrong_config(folder)
        texts, arrays = read_weights(folder)
        idf = arrays.get("idf")
        if idf is None or len(arrays) > 1 or idf.shape != (len(texts),) or idf.dtype != np.float64:
            raise wrong_weights(folder)
        return cls(options["tokens"], texts, idf)


def fit_tfidf(tokens: str, counts: pa.Table, sentences: TrainingSentences) -> TfidfScorer:
    """Return a scorer from a table of `text` and `sentences` (df) of all tokens of the training sentences.

    Raises:
        DataError: there is no token.
    """
    if not len(counts):
        raise DataError(f"the {len(sentences)} training sentences hold no {tokens} to count; choose another corpus")
    idf = 1 + np.log((1 + len(sentences)) / (1 + counts["sentences"].to_numpy()))
    return TfidfScorer(tokens, counts["text"].combine_chunks(), idf)


class OverlapScorer:
    """Cosine of binary bags of words: |A ∩ B| / √(|A| |B|) for the sets of words A and B."""

    vocabulary_kind, texts = "words", pa.array([], pa.string())

    def score(self, sentences: pa.StringArray, left: Rows, right: Rows) -> Scores:
        """Return the overlap of each pair, (pairs,); 0 if a sentence is empty."""
        words, offsets = split_words(sentences)
        codes = words.dictionary_encode().indices.to_numpy() + np.int32(1)  # 0 would be dropped as unknown
        sets = Ragged(codes, offsets).merge_repeats()
        return cosine_of_sparse_rows(sets, np.ones(len(sets.ids)), left, right)

    def oov_share(self, sentences: pa.StringArray) -> NDArray[np.float64]:
        """Return zeros, (n,): there is no vocabulary."""
        return np.zeros(len(sentences))

    def save(self, folder: Path) -> dict[str, Any]:
        """Write nothing; the result goes to `config.json`."""
        return {"scorer": {"kind": "overlap"}}


def cosine_of_sparse_rows(sentences: Ragged, values: NDArray[np.float64], left: Rows, right: Rows) -> Scores:
    """Return the cosine of pairs of sparse rows, (pairs,); 0 if a row is zero.

    The ids of `sentences`, distinct and ascending in each, are the columns that are not zero; `values` (N,) are there.
    """
    squares = np.concatenate([[0.0], np.cumsum(values * values)])
    norms = np.sqrt(np.diff(squares[sentences.offsets]))
    products = _dot(sentences.ids, sentences.offsets, values, left.astype(np.int64), right.astype(np.int64))
    scales = norms[left] * norms[right]
    return (products / np.where(scales > 0, scales, 1)).astype(np.float32)


@njit()
def _dot(
    ids: NDArray[np.int32],
    offsets: NDArray[np.int64],
    values: NDArray[np.float64],
    left: NDArray[np.int64],
    right: NDArray[np.int64],
) -> NDArray[np.float64]:
    """Multiply pairs of sparse rows by merging their ascending ids."""
    out = np.zeros(len(left))
    for pair in range(len(left)):
        a, b = offsets[left[pair]], offsets[right[pair]]
        end_a, end_b = offsets[left[pair] + 1], offsets[right[pair] + 1]
        while a < end_a and b < end_b:
            if ids[a] == ids[b]:
                out[pair] += values[a] * values[b]
            step_a, step_b = ids[a] <= ids[b], ids[b] <= ids[a]
            a += step_a
            b += step_b
    return out
