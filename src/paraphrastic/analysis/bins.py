"""Correlation with human scores within bins of pairs: iclr2016 Table 7, charagram2016 Tables 6 and 7."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from paraphrastic.analysis.artifacts import Artifacts
from paraphrastic.evaluation.headline import pooled_sets
from paraphrastic.evaluation.metrics import defined_percent, pearson
from paraphrastic.text.columns import UNKNOWN
from paraphrastic.vocabulary.kinds import WordVocabulary

Bins = Mapping[str, tuple[float, float]]  # name → smallest and largest value; bins may overlap

LENGTHS = {  # the last one is iclr2016's, the other ones are charagram2016's
    "≤ 4": (0, 4),
    **{str(length): (length, length) for length in range(5, 11)},
    "11–15": (11, 15),
    "16–20": (16, 20),
    "≥ 21": (21, np.inf),
    "≥ 10": (10, np.inf),
}
UNKNOWN_WORDS = {"0": (0, 0), "1": (1, 1), "2": (2, 2), "≥ 1": (1, np.inf), "≥ 0": (0, np.inf)}


def length(artifacts: Artifacts) -> pd.DataFrame:
    """Return Pearson's r × 100 over the pairs of all STS sets of 2012–2015, binned by length.

    The length of a pair is the number of tokens of its longer sentence. The sample's sets are used if there are no STS
    sets.

    Returns:
        `length` (name of the bin), `n` (pairs), `pearson`; bins without pairs are left out.
    """
    pairs = artifacts.scores_of(pooled_sets)
    tokens = pc.list_value_length(pc.split_pattern(artifacts.sentences, " ")).to_numpy()
    return correlation_by_bin(pairs, "length", np.maximum(tokens[pairs["left"]], tokens[pairs["right"]]), LENGTHS)


def unknown_words(artifacts: Artifacts) -> pd.DataFrame:
    """Return Pearson's r × 100 over the pairs of all STS sets of 2012–2015, binned by unknown words.

    A word is unknown if it occurs fewer than `vocabulary.min_count` times in the training data, whatever the model
    reads. Models of words and of characters are therefore compared on the same bins. (The paper takes the vocabulary
    of its pretrained vectors.) Every occurrence in one of the two sentences counts. The sample's sets are used if there
    are no STS sets.

    Returns:
        `unknown_words` (name of the bin), `n` (pairs), `pearson`; bins without pairs are left out.
    """
    pairs = artifacts.scores_of(pooled_sets)
    vocabulary = WordVocabulary(pa.array(artifacts.word_counts["text"]))
    unknown = vocabulary.lookup(artifacts.sentences).occurrences(UNKNOWN)  # (sentences,)
    both = unknown[pairs["left"]] + unknown[pairs["right"]]
    return correlation_by_bin(pairs, "unknown_words", both, UNKNOWN_WORDS)


def correlation_by_bin(pairs: pd.DataFrame, name: str, values: NDArray[Any], bins: Bins) -> pd.DataFrame:
    """Return Pearson's r × 100 between human scores and the model's within each bin.

    Args:
        pairs: with the columns `gold` and `score`.
        name: the first column of the result, which holds the names of the bins.
        values: (pairs,), the property that pairs are binned by.
        bins: in the order of the result; those without pairs are left out.

    Returns:
        The columns `name`, `n` (pairs) and `pearson`; null if it is not defined.
    """
    parts = {label: pairs[(values >= low) & (values <= high)] for label, (low, high) in bins.items()}
    rows = [(label, len(p), defined_percent(pearson, p["gold"], p["score"])) for label, p in parts.items() if len(p)]
    return pd.DataFrame(rows, columns=[name, "n", "pearson"])
