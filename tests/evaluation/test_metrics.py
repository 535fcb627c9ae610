"""Metrics: worked by hand, and against SciPy and trec_eval."""

from functools import partial

import numpy as np
import pytest
from scipy import stats

from paraphrastic.base.errors import DataError
from paraphrastic.evaluation.metrics import (
    UndefinedError,
    accuracy_and_f1,
    average_precision_and_reciprocal_rank,
    best_threshold,
    decision_margins,
    map_and_mrr,
    pearson,
    ranks,
    spearman,
)
from tests.helpers.trec_eval import trec_eval


def test_pearson_worked_by_hand():
    assert pearson(np.array([1.0, 2, 3]), np.array([1.0, 3, 2])) == pytest.approx(0.5)
    assert pearson(np.array([0.0, 0, 3, 5]), np.array([10.0, 10, 4, 0])) == pytest.approx(-1)


def test_ranks_of_equal_values():
    assert ranks(np.array([7, 1, 7, 9, 7])).tolist() == [3, 1, 3, 5, 3]


def test_spearman_worked_by_hand():
    # ranks 1, 2.5, 2.5, 4 and 1, 2, 3, 4: 4.5 / √(4.5 · 5)
    assert spearman(np.array([0, 5, 5, 50]), np.array([1, 2, 3, 4])) == pytest.approx(4.5 / 22.5**0.5)


@pytest.mark.parametrize("decimals", [8, 1, 0])
def test_correlations_against_scipy(decimals):
    rng = np.random.default_rng(decimals)
    for size in (2, 3, 10, 1000):
        x = np.round(rng.normal(size=size), decimals).astype(np.float32)
        y = np.round(rng.normal(size=size) + x, decimals)
        x[0], y[0] = -9, 9  # never constant
        assert pearson(x, y) == pytest.approx(stats.pearsonr(x.astype(np.float64), y).statistic, abs=1e-12)
        assert spearman(x, y) == pytest.approx(stats.spearmanr(x, y).statistic, abs=1e-12)


VARIED, CONSTANT = np.arange(7.0), np.full(7, 0.1)  # the mean of seven 0.1 is not 0.1


@pytest.mark.parametrize("metric", [pearson, spearman])
def test_constant_scores_have_no_correlation(metric):
    assert metric(VARIED, CONSTANT) == 0
    assert metric(VARIED, 1e300 * CONSTANT) == 0


@pytest.mark.parametrize("metric", [pearson, spearman, map_and_mrr])
@pytest.mark.parametrize(
    ("gold", "reason"),
    [(CONSTANT, "equal"), (1e-300 * CONSTANT, "equal"), (VARIED[:1], "fewer than two"), (VARIED[:0], "fewer than two")],
)
def test_judgements_that_define_no_metric(metric, gold, reason):
    question = [np.zeros(len(gold))] if metric is map_and_mrr else []
    with pytest.raises(UndefinedError, match=f"^not defined: .*{reason}"):
        metric(*question, gold, VARIED[: len(gold)])


def test_questions_that_define_no_metric():
    question, label = np.array([0, 0, 1, 2, 2]), np.array([0, 0, 1, 1, 1])
    with pytest.raises(UndefinedError, match=r"^not defined: no question has a correct and a wrong candidate$"):
        map_and_mrr(question, label, np.arange(5.0))


FACTORS = [1e-300, 1e-160, 1e-30, 1.0, 1e30, 1e160, 1e300]


@pytest.mark.parametrize("factor", FACTORS)
@pytest.mark.parametrize("other", FACTORS)
@pytest.mark.parametrize("metric", [pearson, spearman])
def test_correlation_does_not_depend_on_units(metric, factor, other):
    rng = np.random.default_rng(0)
    x = np.round(rng.normal(size=50), 1)
    y = np.round(x + rng.normal(size=50), 1)
    expected = {pearson: stats.pearsonr, spearman: stats.spearmanr}[metric](x, y).statistic
    assert metric(factor * x, other * y) == pytest.approx(expected, abs=1e-12)
    assert metric(2.0**700 * x, 2.0**-700 * y) == metric(x, y)
    assert metric([-1.7e308, 1.7e308], [1, 2]) == pytest.approx(1)


@pytest.mark.parametrize("factor", FACTORS)
def test_ranking_and_threshold_worked_by_hand_in_any_unit(factor):
    question, label = np.array([0, 0, 0, 0, 5, 5]), np.array([0, 1, 0, 1, 1, 0])
    score = factor * np.array([0.9, 0.8, 0.3, 0.2, 0.1, 0.7])  # correct answers at ranks 2 and 4, and at 2
    assert map_and_mrr(question, label, score) == pytest.approx(((1 / 2 + 2 / 4) / 2 / 2 + 1 / 2 / 2, 1 / 2))
    precision, reciprocal = average_precision_and_reciprocal_rank(question, label, score)
    np.testing.assert_allclose(precision, [(1 / 2 + 2 / 4) / 2, 1 / 2])
    np.testing.assert_allclose(reciprocal, [1 / 2, 1 / 2])
    label, score = np.array([0, 0, 1, 1]), factor * np.array([0.1, 0.2, 0.35, 0.4])
    assert accuracy_and_f1(label, score, best_threshold(label, score)) == (1, 1)
    assert (decision_margins(label, score, np.ones(4, bool)) >= 0).tolist() == [False, False, True, True]


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_values_that_are_not_finite(bad):
    values, good, label = np.array([1.0, bad, 2.0]), np.arange(3.0), np.array([0, 1, 0])
    uses = [
        *(partial(metric, *pair) for metric in (pearson, spearman) for pair in ((values, good), (good, values))),
        partial(map_and_mrr, np.zeros(3), label, values),
        partial(best_threshold, label, values),
        partial(decision_margins, label, values, np.ones(3, bool)),
        *([partial(accuracy_and_f1, label, values, 0.5)] if np.isnan(bad) else []),  # a margin may be infinite
    ]
    for use in uses:
        with pytest.raises(DataError, match=r"^a score or a label is not finite; compute the scores again$"):
            use()


@pytest.mark.parametrize("low", [np.float64(1 + 2**-52), np.float32(1)])  # halfway to the next would be rounded to it
def test_threshold_between_neighboring_numbers(low):
    label, score = np.array([0, 1]), np.array([low, np.nextafter(low, low.dtype.type(2))])
    for values in (score, score[::-1] * -1):
        assert accuracy_and_f1(label, values, best_threshold(label, values)).accuracy == 1
    assert best_threshold(label, np.array([0, 5e-324])) == 5e-324


def test_correlation_of_nearly_equal_float32_scores():
    score = np.float32(1) - np.arange(5, dtype=np.float32) * np.float32(2**-23)
    assert pearson(score, -np.arange(5)) == pytest.approx(1)


@pytest.mark.parametrize("sign", [1, -1])
def test_largest_and_smallest_correlation(sign):
    found = [pearson(x, 3 * sign * x + 1) for x in np.random.default_rng(0).normal(size=(200, 50))]
    assert np.abs(found).max() <= 1  # rounding must not exceed it
    assert found == pytest.approx([sign] * 200)


def random_candidates(rng: np.random.Generator, questions: int) -> tuple[np.ndarray, np.ndarray]:
    """Return questions and labels of 1 to 40 candidates per question, in random order; many have no correct answer."""
    question = rng.permutation(np.repeat(np.arange(questions), rng.integers(1, 41, questions)))
    return question, (rng.random(len(question)) < 0.2).astype(np.int8)


@pytest.mark.parametrize("levels", [1, 2, 5, 1000])
def test_ranking_with_ties_against_trec_eval(levels):
    rng = np.random.default_rng(levels)
    for _ in range(20):
        question, label = random_candidates(rng, 30)
        score = rng.integers(0, levels, len(question)) / levels - 0.5
        expected = trec_eval(question, label, score).mean(axis=0)
        assert map_and_mrr(question, label, score) == pytest.approx(expected, abs=1e-12)


def test_order_of_equal_scores():
    def reciprocal_rank(answer: int, candidates: int = 12) -> float:
        label = (np.arange(candidates) == answer).astype(np.int8)
        return map_and_mrr(np.zeros(candidates, int), label, np.ones(candidates)).mrr

    # the order of the ids is 9 8 7 6 5 4 3 2 11 10 1 0
    reciprocal_ranks = [reciprocal_rank(answer) for answer in (9, 2, 11, 10, 1, 0)]
    assert reciprocal_ranks == pytest.approx([1 / 1, 1 / 8, 1 / 9, 1 / 10, 1 / 11, 1 / 12])


def test_ties_of_scores_equal_as_float32():
    question, label = np.zeros(2, int), np.array([1, 0])
    score = np.array([0.5 + 1e-12, 0.5])
    assert map_and_mrr(question, label, score).mrr == trec_eval(question, label, score)[0, 1] == 0.5


def test_questions_without_correct_answer():
    assert map_and_mrr(np.array([0, 0, 1, 1, 1]), np.array([1, 0, 0, 0, 0]), np.array([2.0, 1, 5, 4, 3])) == (1, 1)


def scores(*values: float) -> np.ndarray:
    return np.array(values, dtype=np.float32)


@pytest.mark.parametrize("levels", [1, 3, 20, 10**6])
def test_accuracy_of_threshold_against_all_cuts(levels):
    rng = np.random.default_rng(levels)
    for size in (1, 2, 7, 60):
        score = (rng.integers(0, levels, size) / levels).astype(np.float32)
        label = (rng.random(size) < 0.3 + 0.5 * score).astype(np.int8)
        cuts = [-np.inf, *score.astype(np.float64), np.inf]
        best = max(accuracy_and_f1(label, score, cut).accuracy for cut in cuts)
        assert accuracy_and_f1(label, score, best_threshold(label, score)).accuracy == best


@pytest.mark.parametrize(
    ("label", "score", "threshold"),
    [
        ([1, 0, 1, 0], [0.75, 0.25, 1.0, 0.5], 0.625),
        ([1, 0], [0.25, 0.75], -np.inf),  # the lowest of equally good cuts
        ([0, 1, 0, 1], [1, 2, 3, 4], 1.5),
        ([1, 0, 0, 1, 1], [1, 1, 1, 2, 2], 1.5),  # no cut between equal scores
        ([1, 1, 0, 0, 1], [2, 2, 1, 1, 1], 1.5),
        ([1, 1, 1], [1, 2, 3], -np.inf),  # one class
        ([0, 0, 0], [1, 2, 3], np.inf),
        ([], [], -np.inf),
    ],
)
def test_best_threshold(label, score, threshold):
    assert best_threshold(np.array(label), scores(*score)) == threshold


def test_accuracy_and_f1_worked_by_hand():
    label, score = np.array([1, 1, 1, 0, 0]), scores(0.9, 0.6, 0.1, 0.7, 0.2)
    assert accuracy_and_f1(label, score, 0.5) == pytest.approx((3 / 5, 2 * 2 / (3 + 3)))


def test_decision_without_positives_or_without_pairs():
    assert accuracy_and_f1(np.array([0, 0]), scores(1, 2), np.inf) == (1, 0)
    with pytest.raises(UndefinedError, match=r"^not defined: no rows$"):
        accuracy_and_f1(np.zeros(0), scores(), 0.5)


def test_decisions_by_the_threshold_of_other_rows():
    rng = np.random.default_rng(1)
    label, score = rng.integers(0, 2, 40), rng.random(40).astype(np.float32)
    trained = np.arange(40) < 25
    threshold = best_threshold(label[trained], score[trained])
    assert np.array_equal(decision_margins(label, score, ~trained) >= 0, score[~trained].astype(float) >= threshold)
    margins = decision_margins(label, score, np.ones(40, bool))
    for half, other in (slice(0, None, 2), slice(1, None, 2)), (slice(1, None, 2), slice(0, None, 2)):
        threshold = best_threshold(label[other], score[other])
        assert np.array_equal(margins[half] >= 0, score[half].astype(float) >= threshold)


@pytest.mark.parametrize("label", [[1, 0] * 20, [0, 1] * 20, [1, 0, 0, 0] * 10])
def test_threshold_where_the_labels_of_every_other_row_are_equal(label):
    label, test = np.array(label), np.ones(40, bool)
    margins = decision_margins(label, np.where(label, 0.9, 0.1).astype(np.float32), test)
    assert np.array_equal(margins >= 0, label > 0)
