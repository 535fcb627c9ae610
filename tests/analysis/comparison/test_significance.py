"""Significance tests: on numbers from the literature, by brute force, and by simulation."""

import numpy as np
import pytest
from scipy.stats import pearsonr, spearmanr, t, ttest_1samp, ttest_ind

from paraphrastic.analysis.comparison import significance
from paraphrastic.analysis.comparison.significance import (
    Correlation,
    Mean,
    RankCorrelation,
    Runs,
    difference,
    holm,
    interval,
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
        change = difference(*(Runs(np.zeros(1), each[None]) for each in (first, second)))
        covered += change.low <= true <= change.high
    assert 0.93 <= covered / runs <= 0.97


def runs_of(scores, name):
    """Return the runs of a configuration whose metric is the mean of scores (seeds, items)."""
    return Runs(scores.mean(axis=1), resample([Mean(each) for each in scores], name, 100))


# standard deviations of the effects of a configuration on an item, of a seed, and of a seed on an item
@pytest.mark.parametrize("seeds", [3, 5])
@pytest.mark.parametrize("effects", [(0.5, 0.1, 0.5), (1, 0.04, 0.5), (0.2, 0, 1)])
def test_coverage_of_an_interval_with_seeds_and_items(seeds, effects):
    rng, covered, tries, items = np.random.default_rng(seeds), 0, 300, 100
    of_item, of_seed, of_both = effects
    for n in range(tries):
        a, b = (
            of_item * rng.normal(size=items)
            + of_seed * rng.normal(size=(seeds, 1))
            + of_both * rng.normal(size=(seeds, items))
            for _ in "ab"
        )
        change = difference(runs_of(a, str(n)), runs_of(b, str(n)))
        covered += change.low <= 0 <= change.high
        assert (change.p < 0.05) == (not change.low <= 0 <= change.high)
    assert 0.93 <= covered / tries <= 0.99


@pytest.mark.parametrize("seeds", [3, 5])
def test_seeds_that_move_both_sides_alike_do_not_widen_an_interval(seeds):
    rng, covered, widths, tries = np.random.default_rng(seeds), 0, [], 100
    for n in range(tries):
        alike = rng.normal(size=(seeds, 100))
        a, b = (alike + 0.1 * rng.normal(size=100) for _ in "ab")
        change = difference(runs_of(a, str(n)), runs_of(b, str(n)))
        covered += change.low <= 0 <= change.high
        widths.append(change.high - change.low)
    assert covered / tries >= 0.93
    assert max(widths) < 3  # a side has a standard error of about 0.1


def test_difference_is_welchs_test_if_items_do_not_matter():
    a, b = np.array([60.1, 60.9, 60.5]), np.array([61.2, 61.9, 62.3, 61.0, 61.5])
    change = difference(*(Runs(points, np.repeat(points[:, None], 50, axis=1)) for points in (a, b)))
    expected = ttest_ind(b, a, equal_var=False)
    assert (change.value, change.p) == pytest.approx((b.mean() - a.mean(), expected.pvalue))
    assert (change.low, change.high) == pytest.approx(tuple(expected.confidence_interval()))
    alone = interval(Runs(b, np.repeat(b[:, None], 50, axis=1)))
    assert (alone.low, alone.high) == pytest.approx(tuple(ttest_1samp(b, 0).confidence_interval()))


def test_one_run_has_the_spread_of_the_seeds_of_the_other_side():
    a, b = np.array([60.1, 60.9, 60.5]), np.array([61.2])
    change = difference(*(Runs(points, np.repeat(points[:, None], 50, axis=1)) for points in (a, b)))
    half = t.ppf(0.975, 2) * a.std(ddof=1) * np.sqrt(1 / 3 + 1)
    assert (change.low, change.high) == pytest.approx((0.7 - half, 0.7 + half))


def test_runs_without_seeds_have_the_percentile_interval():
    replicates = np.arange(1001.0)[None]
    assert interval(Runs(np.array([0.5]), replicates)) == pytest.approx((0.5, 25, 975, 2 * 2 / 1002))
    same = Runs(np.array([0.5]), replicates)
    assert difference(same, same) == (0, 0, 0, 1)
    equal = Runs(np.full(3, 0.5), np.full((3, 9), 0.5))
    assert difference(equal, equal) == (0, 0, 0, 1)


def test_holms_correction_of_an_example():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.6, 0.5]) == [1, 1]
    assert holm([]) == []
