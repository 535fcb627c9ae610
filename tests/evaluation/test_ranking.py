"""Mean average precision and mean reciprocal rank: worked by hand, and against trec_eval."""

import numpy as np
import pytest

from paraphrastic.evaluation.ranking import average_precision_and_reciprocal_rank, map_and_mrr
from tests.helpers.trec_eval import trec_eval


def random_candidates(rng: np.random.Generator, questions: int) -> tuple[np.ndarray, np.ndarray]:
    """Return questions and labels of 1 to 40 candidates per question, in random order; many have no correct answer."""
    question = rng.permutation(np.repeat(np.arange(questions), rng.integers(1, 41, questions)))
    return question, (rng.random(len(question)) < 0.2).astype(np.int8)


def test_map_and_mrr_worked_by_hand():
    question = np.array([0, 0, 0, 0, 5, 5])
    label = np.array([0, 1, 0, 1, 1, 0])
    score = np.array([0.9, 0.8, 0.3, 0.2, 0.1, 0.7])  # correct answers at ranks 2 and 4, and at 2
    assert map_and_mrr(question, label, score) == pytest.approx(((1 / 2 + 2 / 4) / 2 / 2 + 1 / 2 / 2, 1 / 2))
    precision, reciprocal = average_precision_and_reciprocal_rank(question, label, score)
    np.testing.assert_allclose(precision, [(1 / 2 + 2 / 4) / 2, 1 / 2])
    np.testing.assert_allclose(reciprocal, [1 / 2, 1 / 2])


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
    assert [reciprocal_rank(answer) for answer in (9, 2, 11, 10, 1, 0)] == pytest.approx(
        [1 / 1, 1 / 8, 1 / 9, 1 / 10, 1 / 11, 1 / 12]
    )


def test_ties_of_reversed_candidates():
    question, label = np.zeros(3, int), np.array([0, 0, 1])
    assert map_and_mrr(question, label, np.zeros(3)).mrr == 1
    assert map_and_mrr(question, label[::-1], np.zeros(3)).mrr == pytest.approx(1 / 3)


def test_ties_of_scores_equal_as_float32():
    question, label = np.zeros(2, int), np.array([1, 0])
    score = np.array([0.5 + 1e-12, 0.5])
    assert map_and_mrr(question, label, score).mrr == trec_eval(question, label, score)[0, 1] == 0.5


def test_questions_without_correct_answer():
    question, label = np.array([0, 0, 1, 1, 1]), np.array([1, 0, 0, 0, 0])
    score = np.array([2.0, 1.0, 5.0, 4.0, 3.0])
    assert map_and_mrr(question, label, score) == (1, 1)
    assert map_and_mrr(question, np.zeros(5), score) == (0, 0)
    assert map_and_mrr(question[:0], label[:0], score[:0]) == (0, 0)
