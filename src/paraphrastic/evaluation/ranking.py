"""Mean average precision and mean reciprocal rank, to the last tie as trec_eval computes them.

trec_eval compares scores as float32 and orders equal ones by document id, a string, descending. The document
id of a candidate is its position among the candidates of its question, from 0, written as a decimal number.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class Ranking(NamedTuple):
    """Means over the questions that have an answer; 0 where no question has one."""

    map: float
    mrr: float


def rank(question: NDArray[Any], label: NDArray[Any], score: NDArray[Any]) -> Ranking:
    """MAP and MRR of candidates ranked by score within their questions; arguments as for `per_question`."""
    precision, reciprocal = per_question(question, label, score)
    return Ranking(float(np.mean(precision)), float(np.mean(reciprocal))) if len(precision) else Ranking(0.0, 0.0)


def per_question(
    question: NDArray[Any], label: NDArray[Any], score: NDArray[Any]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Average precision and reciprocal rank of each question that has an answer, in ascending order of questions.

    Args:
        question: (n,) which question each candidate belongs to, in any order.
        label: (n,) above 0 for an answer.
        score: (n,) finite; higher is better.
    """
    _, question = np.unique(question, return_inverse=True)
    order = np.lexsort((-_id_order(question), -score.astype(np.float32), question))
    question, answer = question[order], label[order] > 0
    answers = np.bincount(question, answer).astype(np.int64)  # (questions,)
    place = _positions(question)[answer] + 1  # (answers in all,)
    found = _positions(question[answer]) + 1
    precision = np.bincount(question[answer], found / place, minlength=len(answers))
    answered = answers > 0
    return precision[answered] / answers[answered], 1 / place[found == 1]


def _positions(group: NDArray[np.int64]) -> NDArray[np.int64]:
    """How many earlier elements are of the same group, (n,)."""
    order = np.argsort(group, kind="stable")
    counts = np.bincount(group)
    positions = np.empty_like(group)
    positions[order] = np.arange(len(group)) - np.repeat(np.cumsum(counts) - counts, counts)
    return positions


def _id_order(question: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where each candidate's id stands in the string order of ids: "10" is before "9"."""
    position = _positions(question)
    ids = np.arange(position.max(initial=0) + 1)
    return np.argsort(np.argsort(ids.astype(str)))[position]
