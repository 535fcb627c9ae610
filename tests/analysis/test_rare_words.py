"""Rare words by set, and their correlation with the deviation from the participants of the tasks."""

import numpy as np
import pytest

from paraphrastic.analysis import rare_words, rare_words_correlation
from paraphrastic.base.errors import DataError
from tests.helpers.run_artifacts import write_corpus, write_run

TRAINING = ["a a b", *["a b c"] * 98, "b c"]  # a occurs 100 times, b 100 times, c 99 times
TEXTS = ["a b", "a c", "b x", "a a x x", "b"]
SETS = {  # pairs by set, with human scores
    "sick.relatedness": [(0, 1, 3.0), (0, 2, 2.0), (2, 1, 1.0)],
    "sts.2012.MSRpar": [(0, 3, 1.0), (3, 4, 2.0), (1, 1, 0.0)],
    "sts.2016.headlines": [(0, 1, 1.0), (0, 2, 0.0)],
    "words.simlex": [(0, 1, 1.0), (0, 2, 0.0)],
}
PARTICIPANTS = {"sick.relatedness": 79.9, "sts.2012.MSRpar": 57.6}  # iclr2016 Table 2, column 75%


def write(folder, sets):
    write_corpus(folder, TRAINING)
    return write_run(folder, TEXTS, [(name, "test", *pair) for name in sets for pair in SETS[name]])


def overlap(left, right):
    a, b = set(TEXTS[left].split()), set(TEXTS[right].split())
    return len(a & b) / np.sqrt(len(a) * len(b))


def naive_row(name):
    tokens = [token for left, right, _ in SETS[name] for side in (left, right) for token in TEXTS[side].split()]
    shares = [100 * np.mean([token in "cx" for token in sorted(words)]) for words in (set(tokens), tokens)]
    r = 100 * np.corrcoef([(gold, overlap(left, right)) for left, right, gold in SETS[name]], rowvar=False)[0, 1]
    return [len(SETS[name]), *shares, r, PARTICIPANTS[name], r - PARTICIPANTS[name]]


def test_rows_of_the_papers_sets(tmp_path):
    table = rare_words.analyze(write(tmp_path, SETS))
    assert table["set"].tolist() == list(PARTICIPANTS)
    for name, *row in table.itertuples(index=False):
        assert row == pytest.approx(naive_row(name), abs=0.0101)


def test_words_of_one_set_by_hand(tmp_path):
    row = rare_words.analyze(write(tmp_path, ["sick.relatedness"])).iloc[0]
    assert row["rare_words"] == 50  # c and x, of a, b, c and x
    assert row["rare_tokens"] == 33.33  # in `a b`, `a c`, `a b`, `b x`, `b x` and `a c`: 4 of 12


def test_sets_that_the_paper_does_not_have(tmp_path):
    write_corpus(tmp_path, TRAINING)
    artifacts = write_run(tmp_path, TEXTS, [("sample.roles", "test", 0, 1, 3.0), ("sample.roles", "test", 0, 2, 1.0)])
    row = rare_words.analyze(artifacts)[["percentile_75", "deviation"]].iloc[0]
    assert row.isna().all()
    with pytest.raises(DataError, match="not two sets of iclr2016; choose `benchmarks: open`"):
        rare_words_correlation.analyze(artifacts)


def test_correlation_over_sets(tmp_path, monkeypatch):
    table = rare_words.analyze(write(tmp_path, SETS))
    three = table.loc[[0, 0, 1]].assign(rare_words=[5, 1, 3], rare_tokens=[1, 1, 2], deviation=[-3.0, 2.0, 1.0])
    monkeypatch.setattr(rare_words, "analyze", lambda artifacts: three)
    correlation = rare_words_correlation.analyze(None)
    # ranks 3, 1, 2 with 1, 3, 2; ranks 1.5, 1.5, 3 with 1, 3, 2
    expected = [["rare_words", 3, -100], ["rare_tokens", 3, 0]]
    assert correlation.to_numpy().tolist() == expected


def test_benchmarks_without_sets_of_sentences(tmp_path):
    with pytest.raises(DataError, match="no STS sets; choose `benchmarks: sample` or `open`"):
        rare_words.analyze(write(tmp_path, ["words.simlex"]))
