"""Correlation with human scores by the number of unknown words: charagram2016 Table 6."""

import numpy as np
import pandas as pd
import pyarrow as pa

from paraphrastic.analysis.artifacts import Artifacts
from paraphrastic.analysis.binning import correlation_by_bin
from paraphrastic.vocabulary.words import UNKNOWN, WordVocabulary

BINS = {"0": (0, 0), "1": (1, 1), "2": (2, 2), "≥ 1": (1, np.inf), "≥ 0": (0, np.inf)}


def analyze(artifacts: Artifacts) -> pd.DataFrame:
    """Return Pearson's r × 100 over the pairs of all STS sets of 2012–2015, binned by unknown words.

    A word is unknown if it occurs fewer than `vocabulary.min_count` times in the training data, whatever the model
    reads. Models of words and of characters are therefore compared on the same bins. (The paper takes the vocabulary
    of its pretrained vectors.) Every occurrence in one of the two sentences counts. The sample's sets are used if there
    are no STS sets.

    Returns:
        `unknown_words` (name of the bin), `n` (pairs), `pearson`; bins without pairs are left out.
    """
    pairs = artifacts.pooled_scores
    vocabulary = WordVocabulary(pa.array(artifacts.counts("words")["text"]))
    unknown = vocabulary.lookup(artifacts.sentences).occurrences(UNKNOWN)  # (sentences,)
    return correlation_by_bin(pairs, "unknown_words", unknown[pairs["left"]] + unknown[pairs["right"]], BINS)
