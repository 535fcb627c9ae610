"""Paraphrase detection: accuracy and F1 of a threshold on the score, which is chosen on other pairs."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class Decision(NamedTuple):
    """Accuracy, and F1 of the positive class; 0 if undefined."""

    accuracy: float
    f1: float


def best_threshold(label: NDArray[Any], score: NDArray[Any]) -> float:
    """Return the threshold t for which `score >= t` predicts most labels correctly.

    All cuts between scores are compared; of equally good ones the lowest wins. The threshold lies halfway between the
    two scores on its sides, or is ±∞.

    Args:
        label: (n,), 1 for a paraphrase, 0 otherwise.
        score: (n,) float32, finite.
    """
    order = np.argsort(score, kind="stable")
    score = np.concatenate([[-np.inf], score[order].astype(np.float64), [np.inf]])
    gain = np.where(label[order] > 0, -1, 1)  # effect of predicting this pair as negative
    correct = np.concatenate([[0], np.cumsum(gain)])  # (n + 1,), relative to the lowest cut
    correct[score[1:] == score[:-1]] = -len(gain) - 1  # no cut between equal scores
    cut = int(np.argmax(correct))
    return float(score[cut] / 2 + score[cut + 1] / 2) if cut else -np.inf


def decision_margins(label: NDArray[Any], score: NDArray[Any], is_test: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return the score of each test pair minus a threshold: a paraphrase is predicted if this is at least 0.

    The threshold is the best one of the training pairs. A set without training pairs has two thresholds: that of its
    even rows is the best one of its odd rows, and vice versa.

    Args:
        label: (n,), 1 for a paraphrase, 0 otherwise.
        score: (n,) float32, finite.
        is_test: (n,), which pairs are test pairs.
    """
    exact = score.astype(np.float64)  # in float32, a threshold could be rounded to one of the scores
    if not is_test.all():
        return np.asarray(exact[is_test] - best_threshold(label[~is_test], score[~is_test]))
    odd = np.arange(len(score)) % 2 == 1
    thresholds = [best_threshold(label[half], score[half]) for half in (odd, ~odd)]
    return np.asarray(exact - np.where(odd, thresholds[1], thresholds[0]))


def accuracy_and_f1(label: NDArray[Any], score: NDArray[Any], threshold: float) -> Decision:
    """Return accuracy and F1 of predicting a paraphrase if `score >= threshold`.

    Args:
        label: (n,), above 0 for a paraphrase.
        score: (n,).
        threshold: compared in float64; as float32 it could be rounded to one of the scores.
    """
    if not len(label):
        return Decision(0.0, 0.0)
    from sklearn.metrics import accuracy_score, f1_score  # takes a second or two, which most processes do not need

    positive, predicted = label > 0, score.astype(np.float64) >= threshold
    f1 = f1_score(positive, predicted, zero_division=0.0)
    return Decision(float(accuracy_score(positive, predicted)), float(f1))
