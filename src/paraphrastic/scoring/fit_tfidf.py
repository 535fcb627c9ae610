"""Compute inverse document frequencies from counts."""

import numpy as np
import pyarrow as pa

from paraphrastic.base.errors import DataError
from paraphrastic.base.tables import TrainingSentences
from paraphrastic.scoring.tfidf import TfidfScorer


def fit_tfidf(tokens: str, counts: pa.Table, sentences: TrainingSentences) -> TfidfScorer:
    """Return a scorer with `idf = 1 + ln((1 + n) / (1 + df))`, as scikit-learn smooths it.

    Args:
        tokens: `words` or `ngrams`.
        counts: table of `text` and `sentences` (df) of all tokens.
        sentences: the n training sentences.

    Raises:
        DataError: there is no token.
    """
    if not len(counts):
        raise DataError(f"the {len(sentences)} training sentences hold no {tokens} to count; choose another corpus")
    idf = 1 + np.log((1 + len(sentences)) / (1 + counts["sentences"].to_numpy()))
    return TfidfScorer(tokens, counts["text"].combine_chunks(), idf)
