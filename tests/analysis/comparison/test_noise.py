"""Intervals of a change from the number of items."""

import numpy as np
import pytest
from scipy.stats import binomtest, pearsonr

from paraphrastic.analysis.comparison.noise import bonferroni, headline_weights, margins_of_n, margins_of_sum
from paraphrastic.evaluation.metrics import spearman


def test_pearson_by_fisher_z():
    # of r = 0.4105 and n = 400, SciPy's interval is 0.3255 … 0.4888; of r = 0.0905 it is −0.0076 … 0.1869
    below, above = margins_of_n("pearson", 41.05, 400, 9.05, 400)
    assert below == pytest.approx(100 * np.hypot(0.0905 + 0.0076, 0.4888 - 0.4105), abs=0.01)
    assert above == pytest.approx(100 * np.hypot(0.1869 - 0.0905, 0.4105 - 0.3255), abs=0.01)
    gold = np.array([1.0, 2, 3, 4, 5, 6])
    scores = np.array([1.0, 3, 2, 5, 4, 7])
    result = pearsonr(gold, scores)
    ends = result.confidence_interval(0.95)
    expected = 100 * np.hypot(result.statistic - ends.low, ends.high - result.statistic)
    assert margins_of_n("pearson", *(100 * result.statistic, 6) * 2) == pytest.approx((expected, expected))


def test_spearman_varies_more_than_pearson():
    # near ρ = 0 both margins are √2 times 1.96 / √(n − 3); the variance of ranks has the factor 1 + ρ² / 2
    assert margins_of_n("spearman", 0, 403, 0, 403) == pytest.approx((13.81, 13.81), abs=0.01)
    ratio = margins_of_n("spearman", 80, 40_003, 80, 40_003)[0] / margins_of_n("pearson", 80, 40_003, 80, 40_003)[0]
    assert ratio == pytest.approx(np.sqrt(1.32), rel=1e-3)


def test_accuracy_by_wilson():
    first, second = (binomtest(k, 400).proportion_ci(0.95, "wilson") for k in (284, 300))
    below, above = margins_of_n("accuracy", 71, 400, 75, 400)
    assert below == pytest.approx(100 * np.hypot(0.75 - second.low, first.high - 0.71))
    assert above == pytest.approx(100 * np.hypot(second.high - 0.75, 0.71 - first.low))


def test_ends_of_the_scale():
    assert margins_of_n("pearson", 100, 400, 100, 400) == pytest.approx((0.0073, 0.0073), abs=1e-4)
    assert margins_of_n("accuracy", 100, 10, 100, 10)[0] > 20


@pytest.mark.parametrize(("measure", "n"), [("map", 687), ("mrr", 687), ("f1", 400), ("pearson", 3), ("accuracy", 0)])
def test_numbers_that_n_does_not_determine(measure, n):
    assert margins_of_n(measure, 70, n, 60, n) is None
    assert margins_of_n(measure, 70, 400, 60, n) is None


def test_correction_for_the_number_of_tests():
    assert bonferroni(1) == pytest.approx(1)
    assert bonferroni(10) == pytest.approx(2.807 / 1.960, abs=1e-3)  # two-sided quantiles of 0.5 % and 5 %


def test_margins_of_a_mean():
    assert margins_of_sum([(0.5, (3.0, 6.0)), (0.5, (4.0, 8.0))]) == pytest.approx((2.5, 5.0))
    assert margins_of_sum([(0.5, (3.0, 6.0)), (0.5, None)]) is None
    assert margins_of_sum([]) is None


def test_weights_of_sets():
    sets = [
        "sts.2012.a.pearson",
        "sts.2012.b.pearson",
        "sts.2013.c.pearson",
        "sts.2016.d.pearson",
        "words.simlex.spearman",
    ]
    weights = headline_weights([*sets, "qa.wikiqa.map", "sts.2012.a.spearman"])
    third = pytest.approx(1 / 3, abs=1e-7)
    assert weights["sts.mean"] == dict.fromkeys(sets[:3], third)
    assert weights["sts.2012"] == dict.fromkeys(sets[:2], 0.5)
    assert weights["words.simlex"] == {"words.simlex.spearman": 1}
    assert weights["qa.wikiqa.map"] == {"qa.wikiqa.map": 1}
    assert "qa.wikiqa.mrr" not in weights


@pytest.mark.parametrize(
    ("measure", "shared"), [("pearson", 0.0), ("pearson", 0.8), ("spearman", 0.0), ("spearman", 0.8)]
)
def test_share_of_equal_models_whose_interval_has_no_zero(measure, shared):
    # equally good models are called better or worse in at most 5 %; if they share errors, in fewer
    rng = np.random.default_rng(0)
    found = 0
    for _ in range(400):
        gold, common, *own = rng.normal(size=(4, 120))
        scores = [gold + np.sqrt(shared) * common + np.sqrt(1 - shared) * noise for noise in own]
        metric = spearman if measure == "spearman" else lambda a, b: np.corrcoef(a, b)[0, 1]
        old, new = (100 * metric(gold, score) for score in scores)
        below, above = margins_of_n(measure, old, 120, new, 120)
        found += not -above <= new - old <= below
    assert found <= (30 if shared == 0 else 2)  # of 400; 20 are expected of unpaired models
