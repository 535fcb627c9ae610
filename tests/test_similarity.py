import numpy as np
import pytest
from scipy import stats

from paraphrastic.evaluation.correlation import pearson, ranks, spearman


def vectors(*values):
    return [np.array(v, dtype=np.float64) for v in values]


def test_pearson_of_numbers_worked_by_hand():
    assert pearson(*vectors([1, 2, 3], [1, 3, 2])) == pytest.approx(0.5)
    assert pearson(*vectors([0, 0, 3, 5], [10, 10, 4, 0])) == pytest.approx(-1)


def test_equal_values_share_the_mean_of_their_ranks():
    assert ranks(np.array([7, 1, 7, 9, 7])).tolist() == [3, 1, 3, 5, 3]


def test_spearman_of_numbers_worked_by_hand():
    # ranks 1, 2.5, 2.5, 4 against 1, 2, 3, 4: 4.5 / √(4.5 · 5)
    assert spearman(*vectors([0, 5, 5, 50], [1, 2, 3, 4])) == pytest.approx(4.5 / 22.5**0.5)


def test_spearman_sees_only_the_order():
    x = np.linspace(-2, 2, 9)
    assert spearman(x, np.exp(9 * x)) == pytest.approx(1)
    assert pearson(x, np.exp(9 * x)) < 0.7


@pytest.mark.parametrize("decimals", [8, 1, 0])
def test_both_agree_with_scipy(decimals):
    rng = np.random.default_rng(decimals)
    for size in (2, 3, 10, 1000):
        x = np.round(rng.normal(size=size), decimals).astype(np.float32)
        y = np.round(rng.normal(size=size) + x, decimals)
        x[0], y[0] = -9, 9  # never constant
        assert pearson(x, y) == pytest.approx(stats.pearsonr(x.astype(np.float64), y).statistic, abs=1e-12)
        assert spearman(x, y) == pytest.approx(stats.spearmanr(x, y).statistic, abs=1e-12)


@pytest.mark.parametrize("correlation", [pearson, spearman])
def test_what_is_not_defined_is_zero(correlation):
    constant, varied = np.full(7, 0.1), np.arange(7)  # the mean of seven 0.1 is not 0.1
    assert correlation(constant, varied) == 0
    assert correlation(varied, constant) == 0
    assert correlation(varied[:1], varied[:1]) == 0
    assert correlation(varied[:0], varied[:0]) == 0


def test_small_differences_of_float32_scores_are_not_lost():
    score = np.float32(1) - np.arange(5, dtype=np.float32) * np.float32(2**-23)
    assert pearson(score, -np.arange(5)) == pytest.approx(1)


def test_perfect_agreement_is_not_above_one():
    rng = np.random.default_rng(0)
    assert all(pearson(x, 3 * x + 1) <= 1 for x in rng.normal(size=(200, 50)))
