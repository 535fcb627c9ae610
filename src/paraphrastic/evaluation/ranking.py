"""Mean average precision and mean reciprocal rank, with ties resolved as trec_eval resolves them.

trec_eval compares scores as float32 and orders equal ones by document id, a string, descending. The document id of a
candidate is its position among the candidates of its question, from 0, as a decimal number.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class Ranking(NamedTuple):
    """Means over the questions that have a correct answer; 0 if no question has one."""

    map: float
    mrr: float


def map_and_mrr(question: NDArray[Any], label: NDArray[Any], score: NDArray[Any]) -> Ranking:
    """Return MAP and MRR of candidates ranked by score; arguments as for `average_precision_and_reciprocal_rank`."""
    precision, reciprocal = average_precision_and_reciprocal_rank(question, label, score)
    return Ranking(float(np.mean(precision)), float(np.mean(reciprocal))) if len(precision) else Ranking(0.0, 0.0)


def average_precision_and_reciprocal_rank(
    question: NDArray[Any], label: NDArray[Any], score: NDArray[Any]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return average precision and reciprocal rank of each question with a correct answer, in order of questions.

    Args:
        question: (n,), the question of each candidate, in any order.
        label: (n,), above 0 for a correct answer.
        score: (n,), finite; higher is better.
    """
    _, question = np.unique(question, return_inverse=True)
    order = np.lexsort((-_id_order(question), -score.astype(np.float32), question))
    question, correct = question[order], label[order] > 0
    answers = np.bincount(question, correct).astype(np.int64)  # (questions,), correct answers of each
    rank = _positions(question)[correct] + 1  # (correct answers,)
    ordinal = _positions(question[correct]) + 1  # 1 for the first correct answer of its question
    precision = np.bincount(question[correct], ordinal / rank, minlength=len(answers))
    answered = answers > 0
    return precision[answered] / answers[answered], 1 / rank[ordinal == 1]


def _positions(group: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return how many earlier elements belong to the same group, (n,)."""
    order = np.argsort(group, kind="stable")
    counts = np.bincount(group)
    positions = np.empty_like(group)
    positions[order] = np.arange(len(group)) - np.repeat(np.cumsum(counts) - counts, counts)
    return positions


def _id_order(question: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the rank of each candidate's id in the order of strings, where "10" comes before "9"."""
    position = _positions(question)
    ids = np.arange(position.max(initial=0) + 1)
    order: NDArray[np.int64] = np.argsort(np.argsort(ids.astype(str)))[position]
    return order
