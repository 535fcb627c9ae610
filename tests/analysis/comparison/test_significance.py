"""Significance tests: on numbers from the literature, by brute force, and by simulation."""

import numpy as np
import pytest
from scipy.stats import pearsonr, spearmanr, t

from paraphrastic.analysis.comparison import significance
from paraphrastic.analysis.comparison.significance import (
    Correlation,
    Mean,
    RankCorrelation,
    percentile_interval,
    resample,
    williams_of,
    williams_test,
)
from paraphrastic.evaluation.metrics import pearson


def test_williams_test_of_steigers_example():
    result = williams_of(103, 0.4, 0.5, 0.1)
    assert result.t == pytest.approx(0.89, abs=0.005)
    assert result.p == pytest.approx(0.37, abs=0.005)
    result = williams_of(4, 0.4, 0.5, 0.2)
    assert result.t == pytest.approx(0.1 * np.sqrt(3.6 / (3.78 + 0.103680)))
    assert result.p == pytest.approx(2 * t.sf(result.t, 1))


def test_williams_test_of_exchanged_and_equal_models():
    rng = np.random.default_rng(0)
    gold = rng.normal(size=50)
    a, b = gold + rng.normal(size=50), gold + rng.normal(size=50)
    assert williams_test(gold, a, b).t == pytest.approx(-williams_test(gold, b, a).t)
    assert williams_test(gold, a, b).p == pytest.approx(williams_test(gold, b, a).p)
    assert williams_test(gold, a, a) == (0.0, 1.0)
    assert williams_test(gold[:3], a[:3], b[:3]) == (0.0, 1.0)
    rng, rejected = np.random.default_rng(1), 0
    for _ in range(1000):
        gold, shared = rng.normal(size=60), rng.normal(size=60)
        a, b = (gold + shared + 0.7 * rng.normal(size=60) for _ in range(2))
        rejected += williams_test(gold, a, b).p < 0.05
    assert 30 <= rejected <= 72  # 50 expected


def test_measures_of_resample_against_drawn_pairs():
    rng = np.random.default_rng(2)
    gold, scores = rng.normal(size=(2, 30))
    rows = rng.integers(30, size=(5, 30))
    weights = np.stack([np.bincount(row, minlength=30) for row in rows]).astype(float)
    expected = [pearsonr(gold[row], scores[row]).statistic for row in rows]
    np.testing.assert_allclose(Correlation(gold, scores).of(weights), expected, atol=1e-12)
    np.testing.assert_allclose(Mean(scores).of(weights), [scores[row].mean() for row in rows])
    assert Correlation(np.arange(5.0), np.ones(5)).of(np.ones((2, 5))).tolist() == [0, 0]
    assert Mean(np.zeros(0)).of(np.ones((2, 0))).tolist() == [0, 0]


@pytest.mark.parametrize("scale", [1e-9, 1e-6, 1e6])
def test_correlation_of_scaled_scores(scale):
    gold, scores = np.random.default_rng(6).normal(size=(2, 30))
    weights = np.ones((1, 30))
    assert Correlation(gold, 1 + scale * scores).of(weights) == pytest.approx(pearson(gold, scores), abs=1e-6)
    assert Correlation(gold, scale * scores).of(weights) == pytest.approx(pearson(gold, scores))


def test_correlation_of_a_resample_without_the_outlier_of_a_large_set():
    gold, scores = np.random.default_rng(6).normal(size=(2, 1000))
    weights = np.ones((1, 1000))
    weights[0, :2] = 0, 2
    expected = pearsonr(np.append(gold[1:], gold[1]), np.append(scores[1:], scores[1])).statistic
    gold[0] = 3e6
    np.testing.assert_allclose(Correlation(gold, scores).of(weights), expected, atol=1e-5)


def test_ranks_of_a_resample_share_the_mean_of_equal_values():
    rng = np.random.default_rng(2)
    gold, scores = rng.integers(6, size=(2, 30))
    rows = rng.integers(30, size=(20, 30))
    weights = np.stack([np.bincount(row, minlength=30) for row in rows]).astype(float)
    expected = [spearmanr(gold[row], scores[row]).statistic for row in rows]
    np.testing.assert_allclose(RankCorrelation(gold, scores).of(weights), expected, atol=1e-12)
    assert RankCorrelation(np.arange(5.0), np.ones(5)).of(np.ones((2, 5))).tolist() == [0, 0]


def test_replicates_are_those_of_the_set_and_its_pairs():
    gold, scores, other = np.random.default_rng(3).normal(size=(3, 40))
    a, b = Correlation(gold, scores), Correlation(gold, other)
    both = resample([a, b], "sts.2012.MSRpar", 50)
    np.testing.assert_array_equal(resample([b], "sts.2012.MSRpar", 60)[:, :50], both[1:])
    assert (resample([a], "sts.2012.MSRvid", 50) != both[0]).any()
    assert abs(np.corrcoef(resample([a], "sts.2012.MSRvid", 400), resample([a], "sts.2013.FNWN", 400))[0, 1]) < 0.15
    values = np.random.default_rng(4).normal(size=(2, 500))
    first, second = resample([Mean(each) for each in values], "qa.wikiqa", 4000)
    assert (second - first).mean() == pytest.approx((values[1] - values[0]).mean(), abs=0.005)
    assert (second - first).std() == pytest.approx((values[1] - values[0]).std() / np.sqrt(500), rel=0.05)
    assert resample([Mean(np.zeros(0))], "qa.wikiqa", 3).tolist() == [[0, 0, 0]]


def test_replicates_do_not_depend_on_the_numbers_drawn_at_once(monkeypatch):
    gold, scores = np.random.default_rng(3).normal(size=(2, 40))
    expected = resample([Correlation(gold, scores)], "words.simlex", 50)
    for block in (1, 3 * 40):  # one replicate at once, and three
        monkeypatch.setattr(significance, "_BLOCK", block)
        np.testing.assert_allclose(resample([Correlation(gold, scores)], "words.simlex", 50), expected, atol=1e-12)


@pytest.mark.slow
def test_coverage_of_interval():
    rng, covered, runs, size = np.random.default_rng(4), 0, 600, 150
    true = 1 / np.sqrt(1 + 0.6**2) - 1 / np.sqrt(1 + 0.9**2)
    for run in range(runs):
        gold = rng.normal(size=size)
        a, b = gold + 0.9 * rng.normal(size=size), gold + 0.6 * rng.normal(size=size)
        first, second = resample([Correlation(gold, a), Correlation(gold, b)], str(run), 400)
        low, high = percentile_interval(0.0, second - first)[1:]
        covered += low <= true <= high
    assert 0.93 <= covered / runs <= 0.97


def test_percentile_interval_worked_by_hand():
    assert percentile_interval(0.5, np.arange(1001.0)) == pytest.approx((0.5, 25, 975))
