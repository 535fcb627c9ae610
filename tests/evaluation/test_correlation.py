"""Pearson's r and Spearman's ρ: worked by hand, and against SciPy."""

import numpy as np
import pytest
from scipy import stats

from paraphrastic.evaluation.correlation import pearson, ranks, spearman


def test_pearson_worked_by_hand():
    assert pearson(np.array([1.0, 2, 3]), np.array([1.0, 3, 2])) == pytest.approx(0.5)
    assert pearson(np.array([0.0, 0, 3, 5]), np.array([10.0, 10, 4, 0])) == pytest.approx(-1)


def test_ranks_of_equal_values():
    assert ranks(np.array([7, 1, 7, 9, 7])).tolist() == [3, 1, 3, 5, 3]


def test_spearman_worked_by_hand():
    # ranks 1, 2.5, 2.5, 4 and 1, 2, 3, 4: 4.5 / √(4.5 · 5)
    assert spearman(np.array([0, 5, 5, 50]), np.array([1, 2, 3, 4])) == pytest.approx(4.5 / 22.5**0.5)


def test_spearman_of_monotone_function():
    x = np.linspace(-2, 2, 9)
    assert spearman(x, np.exp(9 * x)) == pytest.approx(1)
    assert pearson(x, np.exp(9 * x)) < 0.7


@pytest.mark.parametrize("decimals", [8, 1, 0])
def test_correlations_against_scipy(decimals):
    rng = np.random.default_rng(decimals)
    for size in (2, 3, 10, 1000):
        x = np.round(rng.normal(size=size), decimals).astype(np.float32)
        y = np.round(rng.normal(size=size) + x, decimals)
        x[0], y[0] = -9, 9  # never constant
        assert pearson(x, y) == pytest.approx(stats.pearsonr(x.astype(np.float64), y).statistic, abs=1e-12)
        assert spearman(x, y) == pytest.approx(stats.spearmanr(x, y).statistic, abs=1e-12)


@pytest.mark.parametrize("correlation", [pearson, spearman])
def test_undefined_correlation(correlation):
    constant, varied = np.full(7, 0.1), np.arange(7)  # the mean of seven 0.1 is not 0.1
    assert correlation(constant, varied) == 0
    assert correlation(varied, constant) == 0
    assert correlation(varied[:1], varied[:1]) == 0
    assert correlation(varied[:0], varied[:0]) == 0


def test_correlation_of_nearly_equal_float32_scores():
    score = np.float32(1) - np.arange(5, dtype=np.float32) * np.float32(2**-23)
    assert pearson(score, -np.arange(5)) == pytest.approx(1)


@pytest.mark.parametrize("sign", [1, -1])
def test_largest_and_smallest_correlation(sign):
    found = [pearson(x, 3 * sign * x + 1) for x in np.random.default_rng(0).normal(size=(200, 50))]
    assert np.abs(found).max() <= 1  # rounding must not exceed it
    assert found == pytest.approx([sign] * 200)
