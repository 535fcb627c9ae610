"""TF-IDF: baselines that count only how rare each word or character n-gram is."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from paraphrastic.scoring.cosine import cosine_of_sparse_rows
from paraphrastic.scoring.scorer import Rows, Scores
from paraphrastic.scoring.weight_files import read_weights, write_weights, wrong_config, wrong_weights
from paraphrastic.text.columns import Ragged
from paraphrastic.vocabulary.ngrams import NgramVocabulary
from paraphrastic.vocabulary.words import WordVocabulary


class TfidfScorer:
    """Cosine of counts × idf, with `idf = 1 + ln((1 + n) / (1 + df))` and df of the n training sentences.

    Args:
        tokens: `words`, or `ngrams`: all windows of the text of one length.
        texts: the words or n-grams of the training corpus; others are ignored.
        idf: (len(texts),), their weights.
    """

    def __init__(self, tokens: str, texts: pa.StringArray, idf: NDArray[np.float64]) -> None:
        self.tokens, self.texts, self.idf = tokens, texts, idf
        self._vocabulary = WordVocabulary(texts) if tokens == "words" else NgramVocabulary(texts, padding="")

    def score(self, sentences: pa.StringArray, left: Rows, right: Rows) -> Scores:
        """Return the cosine of each pair, (pairs,); 0 if a sentence has no known token."""
        counts = self.count(sentences)
        values = counts.count_values(np.float64) * self.idf[counts.ids]
        return cosine_of_sparse_rows(counts, values, left, right)

    def count(self, sentences: pa.StringArray) -> Ragged:
        """Return the distinct known tokens of each sentence as rows of `texts`, with counts."""
        ragged = self._vocabulary.lookup(sentences)
        if self.tokens == "ngrams":
            return ragged
        merged = ragged.merge_repeats()
        return replace(merged, ids=merged.ids - np.int32(1))

    def oov_share(self, sentences: pa.StringArray) -> NDArray[np.float64]:
        """Return the share of each sentence's tokens that the training corpus lacks, (n,)."""
        return self._vocabulary.oov_share(sentences)

    def save(self, folder: Path) -> dict[str, Any]:
        """Write tokens and idf; the result goes to `config.json`."""
        weights = write_weights(folder, self.texts, {"idf": self.idf})
        return {"scorer": {"kind": "tfidf", "tokens": self.tokens}, **weights}

    @classmethod
    def load(cls, folder: Path, options: Mapping[str, Any]) -> Self:
        """Load the scorer that `save` wrote.

        Raises:
            ModelError: weights or vocabulary are damaged, or not those of this model.
        """
        if options.get("tokens") not in ("words", "ngrams"):
            raise wrong_config(folder)
        texts, arrays = read_weights(folder)
        if len(arrays.get("idf", ())) != len(texts):
            raise wrong_weights(folder)
        return cls(options["tokens"], texts, arrays["idf"])
