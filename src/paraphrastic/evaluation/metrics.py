"""Metrics of a model's scores: correlation with human scores, ranking of candidates, decisions by a threshold.

trec_eval, whose MAP and MRR these are, compares scores as float32 and orders equal ones by document id, a string,
descending. The document id of a candidate is its position among the candidates of its question, from 0, as a decimal
number. A score that is not finite raises a DataError, but in `accuracy_and_f1`; so does a judgement of similarity.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from paraphrastic.base.errors import DataError


class UndefinedError(DataError):
    """Human judgements, by which no scores would be better or worse than others."""


class Ranking(NamedTuple):
    """Means over the questions that have a correct answer."""

    map: float
    mrr: float


class Decision(NamedTuple):
    """Accuracy, and F1 of the positive class; F1 is 0 if no pair is or is predicted to be positive."""

    accuracy: float
    f1: float


def check_judgements(gold: ArrayLike, question: NDArray[Any] | None = None) -> None:
    """Check that human judgements define metrics.

    Args:
        gold: (n,), scores or labels.
        question: (n,), the question of each candidate of a ranking.

    Raises:
        UndefinedError: there are fewer than two, all are equal, or no question has a correct and a wrong candidate.
    """
    values = _finite(gold)
    if len(values) < 2:
        raise UndefinedError("not defined: fewer than two rows")
    if values.min() == values.max():
        raise UndefinedError("not defined: all scores or labels are equal")
    if question is not None and not np.isin(question[values > 0], question[values <= 0]).any():
        raise UndefinedError("not defined: no question has a correct and a wrong candidate")


def check_labels(label: NDArray[Any], is_test: NDArray[np.bool_]) -> None:
    """Check that the test pairs, and the training pairs that give the threshold if there are any, have both labels.

    Raises:
        UndefinedError: as for `check_judgements`.
    """
    check_judgements(label[is_test])
    if not is_test.all():
        try:
            check_judgements(label[~is_test])
        except UndefinedError as error:
            raise UndefinedError(f"{error} of the training rows, which give the threshold") from error


def _finite(values: ArrayLike) -> NDArray[Any]:
    """Return values as an array (n,)."""
    array = np.asarray(values)
    if not np.isfinite(array).all():
        raise DataError("a score or a label is not finite; compute the scores again")
    return array


def scaled(values: ArrayLike) -> NDArray[np.float64]:
    """Return finite values, (n,), times the power of two that brings the largest below 1: no overflow."""
    array = _finite(values).astype(np.float64)
    _, exponent = np.frexp(np.abs(array).max(initial=0))
    return np.asarray(np.ldexp(array, -exponent), np.float64)


def percent(value: float) -> float:
    """Return a value × 100, rounded to 2 decimals; −0 becomes 0."""
    return round(100 * value, 2) + 0.0


def defined_percent(metric: Callable[[Any, Any], float], gold: ArrayLike, score: ArrayLike) -> float | None:
    """Return a metric × 100, rounded to 2 decimals; None if it is not defined."""
    try:
        return percent(metric(gold, score))
    except UndefinedError:
        return None


def pearson(gold: ArrayLike, score: ArrayLike) -> float:
    """Return Pearson's r of human judgements and scores, (n,) each, in [−1, 1].

    Scores that are all equal carry no information about the judgements: the result is 0.

    Raises:
        UndefinedError: there are fewer than two judgements, or all are equal.
    """
    check_judgements(gold)
    return correlation(gold, score)


def spearman(gold: ArrayLike, score: ArrayLike) -> float:
    """Return Spearman's ρ of human judgements and scores, (n,) each: Pearson's r of their ranks, see `pearson`."""
    check_judgements(gold)
    return correlation(ranks(gold), ranks(score))


def correlation(x: ArrayLike, y: ArrayLike) -> float:
    """Return Pearson's r of two vectors (n,), whatever their units; 0 if one is constant."""
    a, b = scaled(x), scaled(y)
    if len(a) < 2 or np.ptp(a) == 0 or np.ptp(b) == 0:
        return 0.0
    a, b = a - a.mean(), b - b.mean()
    return float(np.clip((a / np.linalg.norm(a)) @ (b / np.linalg.norm(b)), -1, 1))


def ranks(x: ArrayLike) -> NDArray[np.float64]:
    """Return ranks from 1, (n,), of finite values; equal ones get the mean of their ranks."""
    _, group, counts = np.unique(_finite(x), return_inverse=True, return_counts=True)
    mean: NDArray[np.float64] = np.cumsum(counts) - (counts - 1) / 2  # rank of each distinct value
    return mean[group]


def map_and_mrr(question: NDArray[Any], label: NDArray[Any], score: NDArray[Any]) -> Ranking:
    """Return MAP and MRR of candidates ranked by score; arguments as for `average_precision_and_reciprocal_rank`.

    Raises:
        UndefinedError: no question has a correct and a wrong candidate.
    """
    check_judgements(label, question)
    precision, reciprocal = average_precision_and_reciprocal_rank(question, label, score)
    return Ranking(float(np.mean(precision)), float(np.mean(reciprocal)))


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
    position = positions_in_groups(question)
    ids = np.arange(position.max(initial=0) + 1)
    rank_of_id = np.argsort(np.argsort(ids.astype(str)))  # in the order of strings, where "10" comes before "9"
    order = np.lexsort((-rank_of_id[position], -scaled(score).astype(np.float32), question))
    question, correct = question[order], label[order] > 0
    answers = np.bincount(question, correct).astype(np.int64)  # (questions,), correct answers of each
    rank = positions_in_groups(question)[correct] + 1  # (correct answers,)
    ordinal = positions_in_groups(question[correct]) + 1  # 1 for the first correct answer of its question
    precision = np.bincount(question[correct], ordinal / rank, minlength=len(answers))
    answered = answers > 0
    return precision[answered] / answers[answered], 1 / rank[ordinal == 1]


def positions_in_groups(group: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return how many earlier elements belong to the same group, (n,)."""
    order = np.argsort(group, kind="stable")
    starts = np.searchsorted(group[order], group)  # where the elements of each group start in this order
    positions: NDArray[np.int64] = np.argsort(order) - starts
    return positions


def best_threshold(label: NDArray[Any], score: NDArray[Any]) -> float:
    """Return the threshold t for which `score >= t` predicts most labels correctly.

    All cuts between scores are compared; of equally good ones the lowest wins. The threshold lies halfway between the
    two scores on its sides, or is ±∞.

    Args:
        label: (n,), 1 for a paraphrase, 0 otherwise.
        score: (n,) float32, finite.
    """
    order = np.argsort(_finite(score), kind="stable")
    score = np.concatenate([[-np.inf], score[order].astype(np.float64), [np.inf]])
    gain = np.where(label[order] > 0, -1, 1)  # effect of predicting this pair as negative
    correct = np.concatenate([[0], np.cumsum(gain)])  # (n + 1,), relative to the lowest cut
    correct[score[1:] == score[:-1]] = -len(gain) - 1  # no cut between equal scores
    cut = int(np.argmax(correct))
    if not cut:
        return -np.inf
    middle = score[cut] / 2 + score[cut + 1] / 2
    return float(middle if middle > score[cut] else score[cut + 1])  # not the lower score, to which it may be rounded


def decision_margins(label: NDArray[Any], score: NDArray[Any], is_test: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return the score of each test pair minus a threshold: a paraphrase is predicted if this is at least 0.

    The threshold is the best one of the training pairs. A set without training pairs has two thresholds: that of its
    even rows is the best one of its odd rows, and vice versa. If one of both has a single label, as where labels
    alternate, rows are even and odd among those of their label.

    Args:
        label: (n,), 1 for a paraphrase, 0 otherwise.
        score: (n,) float32, finite.
        is_test: (n,), which pairs are test pairs.
    """
    exact = _finite(score).astype(np.float64)  # in float32, a threshold could be rounded to one of the scores
    if not is_test.all():
        return np.asarray(exact[is_test] - best_threshold(label[~is_test], score[~is_test]))
    odd = np.arange(len(score)) % 2 == 1
    if any(len(np.unique(label[half] > 0)) < 2 for half in (odd, ~odd)):
        odd = positions_in_groups((label > 0).astype(np.int64)) % 2 == 1
    thresholds = [best_threshold(label[half], score[half]) for half in (odd, ~odd)]
    return np.asarray(exact - np.where(odd, thresholds[1], thresholds[0]))


def accuracy_and_f1(label: NDArray[Any], score: NDArray[Any], threshold: float) -> Decision:
    """Return accuracy and F1 of predicting a paraphrase if `score >= threshold`.

    Args:
        label: (n,), above 0 for a paraphrase.
        score: (n,).
        threshold: compared in float64; as float32 it could be rounded to one of the scores.

    Raises:
        UndefinedError: there are no labels.
        DataError: a score is no number.
    """
    if not len(label):
        raise UndefinedError("not defined: no rows")
    _finite(score[np.isnan(score)])
    positive, predicted = label > 0, score.astype(np.float64) >= threshold
    found, sizes = (positive & predicted).sum(), positive.sum() + predicted.sum()
    return Decision(float((positive == predicted).mean()), float(2 * found / sizes) if sizes else 0.0)
