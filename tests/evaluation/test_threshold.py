"""The threshold of paraphrase detection, and accuracy and F1 of its decisions."""

import numpy as np
import pytest

from paraphrastic.evaluation.threshold import accuracy_and_f1, best_threshold, decision_margins


def scores(*values: float) -> np.ndarray:
    return np.array(values, dtype=np.float32)


def test_threshold_between_scores():
    assert best_threshold(np.array([1, 0, 1, 0]), scores(0.75, 0.25, 1.0, 0.5)) == 0.625


@pytest.mark.parametrize("levels", [1, 3, 20, 10**6])
def test_accuracy_of_threshold_against_all_cuts(levels):
    rng = np.random.default_rng(levels)
    for size in (1, 2, 7, 60):
        score = (rng.integers(0, levels, size) / levels).astype(np.float32)
        label = (rng.random(size) < 0.3 + 0.5 * score).astype(np.int8)
        cuts = [-np.inf, *score.astype(np.float64), np.inf]
        best = max(accuracy_and_f1(label, score, cut).accuracy for cut in cuts)
        assert accuracy_and_f1(label, score, best_threshold(label, score)).accuracy == best


def test_lowest_of_equally_good_cuts():
    assert best_threshold(np.array([1, 0]), scores(0.25, 0.75)) == -np.inf
    assert best_threshold(np.array([0, 1, 0, 1]), scores(1, 2, 3, 4)) == 1.5


def test_no_cut_between_equal_scores():
    label, score = np.array([1, 0, 0, 1, 1]), scores(1, 1, 1, 2, 2)
    assert best_threshold(label, score) == best_threshold(label[::-1], score[::-1]) == 1.5


def test_threshold_of_one_class():
    assert best_threshold(np.ones(3), scores(1, 2, 3)) == -np.inf
    assert best_threshold(np.zeros(3), scores(1, 2, 3)) == np.inf
    assert best_threshold(np.zeros(0), scores()) == -np.inf


def test_threshold_between_adjacent_float32_scores():
    low, high = np.float32(1), np.nextafter(np.float32(1), np.float32(2))
    label, score = np.array([0, 1]), scores(low, high)
    assert accuracy_and_f1(label, score, best_threshold(label, score)).accuracy == 1


def test_accuracy_and_f1_worked_by_hand():
    label, score = np.array([1, 1, 1, 0, 0]), scores(0.9, 0.6, 0.1, 0.7, 0.2)
    assert accuracy_and_f1(label, score, 0.5) == pytest.approx((3 / 5, 2 * 2 / (3 + 3)))


def test_accuracy_and_f1_of_counted_decisions():
    rng = np.random.default_rng(0)
    label, score = rng.integers(0, 2, 500), rng.random(500).astype(np.float32)
    predicted = score >= 0.3
    hits, wrong = np.sum(predicted & (label == 1)), np.sum(predicted != (label == 1))
    assert accuracy_and_f1(label, score, 0.3) == pytest.approx((1 - wrong / 500, 2 * hits / (2 * hits + wrong)))


def test_decision_without_positives_or_without_pairs():
    assert accuracy_and_f1(np.array([0, 0]), scores(1, 2), np.inf) == (1, 0)
    assert accuracy_and_f1(np.zeros(0), scores(), 0.5) == (0, 0)


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
