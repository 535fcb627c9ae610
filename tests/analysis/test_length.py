"""Correlation by sentence length."""

import pytest

from paraphrastic.analysis.length import analyze
from paraphrastic.base.errors import DataError
from tests.helpers.run_artifacts import write_run

TEXTS = ["a b c", "a b d", "a e f", "g h i", "a b c d e", " ".join("abcdefghijk"), " ".join("abcdefghijl")]
PAIRS = [
    # overlap of 0 with the others: 2/4, 1/5, 0
    ("sts.2012.MSRpar", "test", 0, 1, 3.0),
    ("sts.2012.MSRvid", "test", 0, 2, 2.0),
    ("sts.2012.MSRvid", "test", 0, 3, 1.0),
    ("sts.2014.images", "test", 0, 4, 1.0),
    ("sts.2014.images", "test", 5, 6, 1.0),
    ("sts.2016.headlines", "test", 0, 1, 0.0),
]


def test_pairs_are_binned_by_their_longer_sentence_over_all_sets(tmp_path):
    table = analyze(write_run(tmp_path, TEXTS, PAIRS))
    assert table[["length", "n"]].to_numpy().tolist() == [["≤ 4", 3], ["5", 1], ["11–15", 1], ["≥ 10", 1]]


def test_correlation_within_a_bin(tmp_path):
    table = analyze(write_run(tmp_path, TEXTS, PAIRS)).set_index("length")
    assert table.loc["≤ 4", "pearson"] == pytest.approx(98.97, abs=1.5)
    assert table.loc["5", "pearson"] == 0  # undefined for one pair


def test_benchmarks_without_sts_sets_are_refused(tmp_path):
    with pytest.raises(DataError, match="no STS sets; choose `benchmarks: sample` or `open`"):
        analyze(write_run(tmp_path, TEXTS, [("words.simlex", "test", 0, 1, 1.0)]))
