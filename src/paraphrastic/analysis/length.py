"""Correlation with human scores by sentence length: iclr2016 Table 7, charagram2016 Table 7."""

import numpy as np
import pandas as pd
import pyarrow.compute as pc

from paraphrastic.analysis.artifacts import Artifacts
from paraphrastic.analysis.binning import correlation_by_bin

BINS = {  # name → shortest and longest; the last one is iclr2016's, the other ones are charagram2016's
    "≤ 4": (0, 4),
    **{str(length): (length, length) for length in range(5, 11)},
    "11–15": (11, 15),
    "16–20": (16, 20),
    "≥ 21": (21, np.inf),
    "≥ 10": (10, np.inf),
}


def analyze(artifacts: Artifacts) -> pd.DataFrame:
    """Return Pearson's r × 100 over the pairs of all STS sets of 2012–2015, binned by length.

    The length of a pair is the number of tokens of its longer sentence. The sample's sets are used if there are no STS
    sets.

    Returns:
        `length` (name of the bin), `n` (pairs), `pearson`; bins without pairs are left out.
    """
    pairs = artifacts.pooled_scores
    tokens = pc.list_value_length(pc.split_pattern(artifacts.sentences, " ")).to_numpy()
    length = np.maximum(tokens[pairs["left"]], tokens[pairs["right"]])
    return correlation_by_bin(pairs, "length", length, BINS)
