"""Differences between models: on numbers from the literature, by brute force, and by simulation."""

import numpy as np
import pytest
from scipy.stats import pearsonr

from paraphrastic.comparison.significance import Correlation, Mean, bootstrap, interval, williams, williams_of


def test_williams_is_the_worked_example_of_steiger():
    # n = 103, r12 = .4, r13 = .5, r23 = .1: t(100) = .89, p = .37, as the R package psych prints it
    found = williams_of(103, 0.4, 0.5, 0.1)
    assert found.t == pytest.approx(0.89, abs=0.005)
    assert found.p == pytest.approx(0.37, abs=0.005)


def test_williams_changes_sign_with_the_order_and_is_nothing_for_the_same_model():
    rng = np.random.default_rng(0)
    gold = rng.normal(size=50)
    a, b = gold + rng.normal(size=50), gold + rng.normal(size=50)
    assert williams(gold, a, b).t == pytest.approx(-williams(gold, b, a).t)
    assert williams(gold, a, b).p == pytest.approx(williams(gold, b, a).p)
    assert williams(gold, a, a) == (0.0, 1.0)
    assert williams(gold[:3], a[:3], b[:3]) == (0.0, 1.0)


def test_williams_rejects_as_often_as_it_says():
    rng, rejected = np.random.default_rng(1), 0
    for _ in range(1000):
        gold = rng.normal(size=60)
        shared = rng.normal(size=60)
        a, b = (gold + shared + 0.7 * rng.normal(size=60) for _ in range(2))
        rejected += williams(gold, a, b).p < 0.05
    assert 30 <= rejected <= 72  # 50 expected


def test_correlation_of_a_resample_is_that_of_the_drawn_pairs():
    rng = np.random.default_rng(2)
    gold, scores = rng.normal(size=(2, 30))
    rows = rng.integers(30, size=(5, 30))
    weights = np.stack([np.bincount(row, minlength=30) for row in rows]).astype(float)
    expected = [pearsonr(gold[row], scores[row]).statistic for row in rows]
    np.testing.assert_allclose(Correlation(gold, scores).of(weights), expected, atol=1e-12)
    np.testing.assert_allclose(Mean(scores).of(weights), [scores[row].mean() for row in rows])


def test_a_constant_scorer_has_no_correlation():
    assert Correlation(np.arange(5.0), np.ones(5)).of(np.ones((2, 5))).tolist() == [0, 0]


def test_the_same_model_never_differs_and_seeds_repeat():
    rng = np.random.default_rng(3)
    gold, scores, other = rng.normal(size=(3, 40))
    same = Correlation(gold, scores)
    assert not bootstrap([([same], [same])], 100, 0).any()
    pair = [([same], [Correlation(gold, other)])]
    np.testing.assert_array_equal(bootstrap(pair, 50, 7), bootstrap(pair, 50, 7))


def test_interval_covers_the_truth_as_often_as_it_says():
    rng, covered, runs, size = np.random.default_rng(4), 0, 600, 150
    true = 1 / np.sqrt(1 + 0.6**2) - 1 / np.sqrt(1 + 0.9**2)
    for run in range(runs):
        gold = rng.normal(size=size)
        a, b = gold + 0.9 * rng.normal(size=size), gold + 0.6 * rng.normal(size=size)
        drawn = bootstrap([([Correlation(gold, a)], [Correlation(gold, b)])], 400, run)[0]
        low, high = interval(0.0, drawn)[1:]
        covered += low <= true <= high
    assert 0.93 <= covered / runs <= 0.97


def test_the_mean_of_sets_is_resampled_set_by_set():
    rng = np.random.default_rng(5)
    sets = [([Mean(rng.normal(size=n))], [Mean(rng.normal(size=n))]) for n in (20, 50)]
    drawn = bootstrap(sets, 200, 0)
    assert drawn.shape == (2, 200)
    assert abs(np.corrcoef(drawn)[0, 1]) < 0.2  # sets are drawn apart from each other
