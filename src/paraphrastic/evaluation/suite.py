"""Score a model on all sets at once, or on a few to choose an epoch by."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from paraphrastic.encoding.scorer import Scorer
from paraphrastic.errors import DataError, ModelError, ParameterError, unknown
from paraphrastic.evaluation.benchmarks import Benchmarks, Task
from paraphrastic.evaluation.headline import averaged, headline, percent
from paraphrastic.evaluation.paraphrase import best_threshold, decide
from paraphrastic.evaluation.ranking import rank
from paraphrastic.evaluation.similarity import pearson, spearman
from paraphrastic.tables import SCORES

METRICS = ("pearson", "spearman", "map", "mrr", "accuracy", "f1")
COLUMNS = ("set", "kind", "n", *METRICS, "oov")

Scores = NDArray[np.float32]


@dataclass(frozen=True)
class Results:
    """What came out.

    Attributes:
        metrics: the headline numbers, nested, see `headline`.
        sets: a row of `COLUMNS` for each set, by name; metrics and oov (the mean share of unknown units in
            its distinct test sentences) × 100, rounded to 2 decimals; metrics of other kinds are left out.
        scores: table `SCORES`, what every figure can be worked out from again.
    """

    metrics: dict[str, Any]
    sets: list[dict[str, Any]]
    scores: pa.Table


def evaluate(benchmarks: Benchmarks, scorer: Scorer) -> Results:
    """Score every set of `benchmarks`; every distinct sentence meets the scorer once.

    Raises:
        DataError: there is no set, or a set lacks the training pairs that its threshold is chosen on.
        ModelError: a score is not finite.
    """
    tasks = benchmarks.tasks()
    if not tasks:
        raise DataError("the benchmarks hold no set with test pairs; choose another suite for `benchmarks`")
    scores = _score(benchmarks.sentences, tasks, scorer)
    figures = {task.name: _FIGURES[task.kind](task, s) for task, s in zip(tasks, scores, strict=True)}
    oov = _oov(benchmarks.sentences, tasks, scorer)
    rows = [_row(task, figures[task.name], share) for task, share in zip(tasks, oov, strict=True)]
    return Results(headline(figures), rows, pa.concat_tables(map(_scored, tasks, scores)))


def by_rank(name: str) -> bool:
    """Whether the set `name` is of words or phrases, which Spearman's ρ is the measure of."""
    return not {"words", "paraphrase"}.isdisjoint(name.split("."))


def selection_score(benchmarks: Benchmarks, select: str, scorer: Scorer) -> float:
    """Mean Pearson × 100 over the similarity set `select`, or all whose names start with it and a dot.

    `oracle` are the sets that the headline's mean is over (acl2017 §4.1.4). Of words and phrases Spearman takes
    the place of Pearson. No other set is scored.

    Raises:
        ParameterError: there is no such set.
        ModelError: a score is not finite.
    """
    tasks = [task for task in benchmarks.tasks() if task.kind == "similarity"]
    oracle = averaged([task.name for task in tasks]) if select == "oracle" else []
    chosen = [task for task in tasks if task.name in oracle or f"{task.name}.".startswith(f"{select}.")]
    if not chosen:
        raise ParameterError(unknown("set to select by", select, {"oracle"} | _groups(tasks)))
    scores = _score(benchmarks.sentences, chosen, scorer)
    return 100 * float(np.mean([_agreement(task, s) for task, s in zip(chosen, scores, strict=True)]))


def _scored(task: Task, scores: Scores) -> pa.Table:
    n, table = len(task), task.table
    question = table["question"] if "question" in table.column_names else pa.array(np.full(n, -1))
    gold = table["score" if "score" in table.column_names else "label"]
    columns = [pa.array([task.name] * n), pa.array([task.kind] * n), table["split"], question, gold, pa.array(scores)]
    return pa.table(columns, SCORES.names).cast(SCORES)


def _row(task: Task, figures: dict[str, float], oov: float) -> dict[str, Any]:
    shares = {name: percent(value) for name, value in (figures | {"oov": oov}).items()}
    return {"set": task.name, "kind": task.kind, "n": int(task.is_test.sum())} | shares


def _groups(tasks: Sequence[Task]) -> set[str]:
    """All names that a selection can have: `sts`, `sts.2016`, `sts.2016.headlines`."""
    return {group for task in tasks for group in accumulate(task.name.split("."), "{}.{}".format)}


def _agreement(task: Task, scores: Scores) -> float:
    return (spearman if by_rank(task.name) else pearson)(task.column("score"), scores)


def _score(sentences: pa.StringArray, tasks: Sequence[Task], scorer: Scorer) -> list[Scores]:
    """The scores of each task's pairs, from one call over the distinct sentences of all tasks."""
    pairs = np.concatenate([np.stack([task.column("left"), task.column("right")]) for task in tasks], axis=1)
    rows, at = np.unique(pairs, return_inverse=True)
    left, right = at.reshape(pairs.shape)
    scores = scorer.score(sentences.take(pa.array(rows)), left, right)
    parts = np.split(scores, np.cumsum([len(task) for task in tasks])[:-1])
    for task, part in zip(tasks, parts, strict=True):
        if bad := np.count_nonzero(~np.isfinite(part)):
            raise ModelError(f"{task.name}: {bad} of {len(part)} scores are not finite; train the model again")
    return parts


def _oov(sentences: pa.StringArray, tasks: Sequence[Task], scorer: Scorer) -> list[float]:
    """Mean share of unknown units over the distinct test sentences of each task."""
    rows = [np.unique([task.column(side)[task.is_test] for side in ("left", "right")]) for task in tasks]
    needed, at = np.unique(np.concatenate(rows), return_inverse=True)
    shares = scorer.unknown(sentences.take(pa.array(needed)))[at]
    return [float(part.mean()) for part in np.split(shares, np.cumsum([len(r) for r in rows])[:-1])]


def _similarity(task: Task, scores: Scores) -> dict[str, float]:
    gold = task.column("score")
    return {"pearson": pearson(gold, scores), "spearman": spearman(gold, scores)}


def _ranking(task: Task, scores: Scores) -> dict[str, float]:
    return rank(task.column("question"), task.column("label"), scores)._asdict()


def _paraphrase(task: Task, scores: Scores) -> dict[str, float]:
    label, test = task.column("label"), task.is_test
    if test.all():
        raise DataError(f"{task.name}: no training pairs to choose the threshold on; its source is incomplete")
    threshold = best_threshold(label[~test], scores[~test])
    return decide(label[test], scores[test], threshold)._asdict()


_FIGURES: dict[str, Callable[[Task, Scores], dict[str, float]]] = {
    "similarity": _similarity,
    "ranking": _ranking,
    "labelled_pairs": _paraphrase,
}
