"""Rare words and the correlation with human scores, by set: iclr2016 §5.1."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from paraphrastic.analysis.artifacts import Artifacts
from paraphrastic.analysis.published import value
from paraphrastic.evaluation.metrics import pearson, percent
from paraphrastic.text.columns import split_words

COMMON = 100  # occurrences in the training data that a word needs
COLUMNS = ["set", "n", "rare_words", "rare_tokens", "pearson", "percentile_75", "deviation"]


def analyze(artifacts: Artifacts) -> pd.DataFrame:
    """Return how many words of each set are rare, and Pearson's r × 100, for the papers' 22 sets as far as they exist.

    A word is rare if it occurs fewer than 100 times in the training data, counted as `vocabulary.count` says. The paper
    does not say whether a word that a set has twice counts twice; both shares are given. The sample's sets are used if
    there are none of the papers'.

    Returns:
        `set`, `n` (pairs), `rare_words` (share of the distinct words × 100), `rare_tokens` (share of all words × 100),
        `pearson`, `percentile_75` (of the participants of the task, iclr2016 Table 2; null for other sets), and
        `deviation` (`pearson` minus `percentile_75`).
    """
    pairs, counts = artifacts.headline_scores, artifacts.counts("words")
    common = pa.array(counts["text"][counts["count"] >= COMMON], pa.string())
    rows = [_row(str(name), part, artifacts.sentences, common) for name, part in pairs.groupby("set")]
    return pd.DataFrame(rows, columns=COLUMNS)


def _row(name: str, pairs: pd.DataFrame, sentences: pa.StringArray, common: pa.StringArray) -> tuple[object, ...]:
    words, _ = split_words(sentences.take(pa.array(np.concatenate([pairs["left"], pairs["right"]]))))
    shares = _rare(pc.unique(words), common), _rare(words, common)
    r = percent(pearson(pairs["gold"], pairs["score"]))
    participants = value("iclr2016", "T2", "75%", name)
    deviation = None if participants is None else round(r - participants, 2)
    return name, len(pairs), *shares, r, participants, deviation


def _rare(words: pa.StringArray, common: pa.StringArray) -> float:
    """Return the share of `words` that `common` lacks × 100; 0 if there are no words."""
    is_rare = ~pc.is_in(words, value_set=common).to_numpy(zero_copy_only=False)
    return percent(np.count_nonzero(is_rare) / max(len(words), 1))
