"""Correlation by the number of unknown words."""

import numpy as np
import pytest

from paraphrastic.analysis.unknown_words import analyze
from tests.helpers.run_artifacts import write_corpus, write_run

TRAINING = ["a b c", "a d"]
TEXTS = ["a b", "a c", "a x", "b a c", "x a x", "y b", ""]
PAIRS = [  # with 0, 0, 1, 2, 3 and 0 unknown words, then one set that is no STS set
    ("sts.2012.MSRpar", "test", 0, 1, 3.0),
    ("sts.2012.MSRpar", "test", 1, 3, 5.0),
    ("sts.2013.FNWN", "test", 2, 0, 1.0),
    ("sts.2013.FNWN", "test", 3, 4, 4.0),
    ("sts.2015.images", "test", 4, 5, 0.5),
    ("sts.2015.images", "test", 6, 0, 0.0),
    ("words.simlex", "test", 2, 5, 2.0),
]
# overlap of the pairs above: |A ∩ B| / √(|A| |B|)
OVERLAP = np.array([1 / 2, 2 / np.sqrt(6), 1 / 2, 1 / np.sqrt(6), 0, 0])
GOLD = np.array([row[4] for row in PAIRS[:6]])
UNKNOWN = np.array([0, 0, 1, 2, 3, 0])


@pytest.fixture
def artifacts(tmp_path):
    write_corpus(tmp_path, TRAINING)
    return write_run(tmp_path, TEXTS, PAIRS)


def test_unknown_words_of_both_sentences_are_counted_together(artifacts):
    rows = analyze(artifacts)[["unknown_words", "n"]].to_numpy().tolist()
    assert rows == [["0", 3], ["1", 1], ["2", 1], ["≥ 1", 3], ["≥ 0", 6]]


@pytest.mark.parametrize(("name", "rows"), [("0", UNKNOWN == 0), ("≥ 1", UNKNOWN >= 1), ("≥ 0", UNKNOWN >= 0)])
def test_correlation_within_a_bin(artifacts, name, rows):
    table = analyze(artifacts).set_index("unknown_words")
    expected = np.corrcoef(GOLD[rows], OVERLAP[rows])[0, 1]
    assert table.loc[name, "pearson"] == pytest.approx(100 * expected, abs=0.0051)
