"""Correlation of the norms of word embeddings with inverse document frequency: iclr2016 §6."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from paraphrastic.analysis.artifacts import Artifacts
from paraphrastic.evaluation.metrics import percent, spearman

OCCURRENCES = {"all": 0, "≥ 100": 100}


def analyze(artifacts: Artifacts) -> pd.DataFrame:
    """Return Spearman's ρ × 100, over words, of the norm of a word's embedding with its idf in the training data.

    The norm is the paper's, `Σ_i |x_i|`. Embeddings of rare words stay near their initial values, and with `init: idf`
    these have the length idf, so that ρ is given for frequent words too.

    Returns:
        `occurrences` (that a word needs in the training data), `n` (words) and `spearman`.

    Raises:
        ModelError: the model has no embeddings of words.
    """
    words, embeddings = artifacts.word_embeddings
    counts = artifacts.counts("words")
    rows = pc.index_in(pa.array(counts["text"], pa.string()), words)
    counts = counts[rows.is_valid().to_numpy(zero_copy_only=False)]
    norms = np.abs(embeddings[rows.drop_null().to_numpy() + 1]).sum(axis=1)
    bins = ((name, (counts["count"] >= least).to_numpy()) for name, least in OCCURRENCES.items())
    # idf = log(sentences / sentences with the word) has the order of −sentences with the word
    idf = -counts["sentences"].to_numpy()
    table = [(name, np.count_nonzero(kept), percent(spearman(norms[kept], idf[kept]))) for name, kept in bins]
    return pd.DataFrame(table, columns=["occurrences", "n", "spearman"])
