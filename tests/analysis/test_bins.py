"""Correlation by sentence length and by the number of unknown words."""

import numpy as np
import pandas as pd
import pytest

from paraphrastic.analysis.bins import correlation_by_bin, length, unknown_words
from tests.helpers.run_artifacts import write_corpus, write_run


def test_correlation_within_bins_that_overlap():
    random = np.random.default_rng(0)
    values, pairs = random.integers(0, 4, 200), pd.DataFrame(random.normal(size=(200, 2)), columns=["gold", "score"])
    pairs["score"] += pairs["gold"] * values
    table = correlation_by_bin(pairs, "size", values, {"≥ 2": (2, np.inf), "none": (7, 9), "1": (1, 1)})
    expected = [("≥ 2", values >= 2), ("1", values == 1)]
    assert list(table.columns) == ["size", "n", "pearson"]
    assert list(table["size"]) == [name for name, _ in expected]
    assert list(table["n"]) == [rows.sum() for _, rows in expected]
    r = [100 * np.corrcoef(pairs[rows].to_numpy().T)[0, 1] for _, rows in expected]
    assert list(table["pearson"]) == pytest.approx(r, abs=0.0051)


def test_pairs_are_binned_by_their_longer_sentence_over_all_sets(tmp_path):
    texts = ["a b c", "a b d", "a e f", "g h i", "a b c d e", " ".join("abcdefghijk"), " ".join("abcdefghijl")]
    pairs = [  # overlap of 0 with 1, 2 and 3: 2/3, 1/3, 0
        ("sts.2012.MSRpar", "test", 0, 1, 3.0),
        ("sts.2012.MSRvid", "test", 0, 2, 2.0),
        ("sts.2012.MSRvid", "test", 0, 3, 1.0),
        ("sts.2014.images", "test", 0, 4, 1.0),
        ("sts.2014.images", "test", 5, 6, 1.0),
        ("sts.2016.headlines", "test", 0, 1, 0.0),
    ]
    table = length(write_run(tmp_path, texts, pairs))
    # a correlation of one pair is not defined
    rows = table.astype(object).where(table.notna(), "").to_numpy().tolist()
    assert rows == [["≤ 4", 3, 100], ["5", 1, ""], ["11–15", 1, ""], ["≥ 10", 1, ""]]


def test_unknown_words_of_both_sentences_are_counted_together(tmp_path):
    write_corpus(tmp_path, ["a b c", "a d"])
    pairs = [  # with 0, 0, 1, 2, 3 and 0 unknown words, then one set that is no STS set
        ("sts.2012.MSRpar", "test", 0, 1, 3.0),
        ("sts.2012.MSRpar", "test", 1, 3, 5.0),
        ("sts.2013.FNWN", "test", 2, 0, 1.0),
        ("sts.2013.FNWN", "test", 3, 4, 4.0),
        ("sts.2015.images", "test", 4, 5, 0.5),
        ("sts.2015.images", "test", 6, 0, 0.0),
        ("words.simlex", "test", 2, 5, 2.0),
    ]
    table = unknown_words(write_run(tmp_path, ["a b", "a c", "a x", "b a c", "x a x", "y b", ""], pairs))
    assert table[["unknown_words", "n"]].to_numpy().tolist() == [["0", 3], ["1", 1], ["2", 1], ["≥ 1", 3], ["≥ 0", 6]]
    gold, overlap = np.array([row[4] for row in pairs[:6]]), np.array([1 / 2, 2 / 6**0.5, 1 / 2, 1 / 6**0.5, 0, 0])
    r = [100 * np.corrcoef(gold[rows], overlap[rows])[0, 1] for rows in ([0, 1, 5], [2, 3, 4], [*range(6)])]
    assert table["pearson"].iloc[[0, 3, 4]].tolist() == pytest.approx(r, abs=0.0051)
