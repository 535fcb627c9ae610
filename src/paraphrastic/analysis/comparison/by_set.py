"""Compare two models, or two configurations with several seeds each, set by set, from their stored scores."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from paraphrastic.analysis.comparison.significance import (
    Correlation,
    Estimate,
    Mean,
    Measure,
    RankCorrelation,
    Runs,
    Williams,
    difference,
    holm,
    interval,
    resample,
    williams_test,
)
from paraphrastic.base.errors import DataError
from paraphrastic.evaluation.headline import FEATURES, MTEB, headline_sets
from paraphrastic.evaluation.metrics import (
    UndefinedError,
    average_precision_and_reciprocal_rank,
    check_judgements,
    check_labels,
    decision_margins,
    ranks,
)
from paraphrastic.evaluation.suite import uses_spearman

SAMPLES = 2000
ScoresBySet = Mapping[str, pa.Table]  # the scores of one trained model


@dataclass(frozen=True)
class SetComparison:
    """The comparison on one set, or on the mean of several. A metric of 1 is perfect."""

    name: str  # of the set, or `mean of N sets`
    metric: str  # `pearson`, `spearman`, `map` or `accuracy`
    n: int  # pairs or questions; for a mean, sets
    a: Runs
    b: Runs
    change: Estimate  # mean of B minus mean of A
    williams: Williams | None  # Williams' test, for a correlation with one run on each side; None otherwise
    p: float  # of Williams' test if there is one, otherwise that of `change`; those of sets are corrected by `holm`

    @property
    def is_significant(self) -> bool:
        """Whether p is below 0.05."""
        return self.p < 0.05

    @property
    def verdict(self) -> str:
        """Whether B is `better` or `worse` than A; `undecided` if the difference is not significant."""
        if not self.is_significant:
            return "undecided"
        return "better" if self.change.value > 0 else "worse"


@dataclass(frozen=True)
class RunComparison:
    """The comparison of two runs, or of two configurations with several seeds each."""

    # first the means over the sets of `headline_sets`, of `MTEB` and of `FEATURES`, if they are two or more; then sets
    rows: list[SetComparison]
    left_out: list[str]  # sets that not all runs have, by name
    undefined: dict[str, str]  # why the judgements of a set define no metric, by its name


def by_set(scores: pa.Table) -> dict[str, pa.Table]:
    """Divide a table with columns of `SCORES` by set.

    Raises:
        DataError: a score is not finite.
    """
    if not np.isfinite(scores["score"].to_numpy()).all():
        raise DataError("scores.parquet: a score is not finite; run `dvc repro evaluate` again")
    return {name: scores.filter(pc.equal(scores["set"], name)) for name in sorted(pc.unique(scores["set"]).to_pylist())}


def compare(a: Sequence[ScoresBySet], b: Sequence[ScoresBySet], samples: int = SAMPLES) -> RunComparison:
    """Compare B with A on the sets that all runs have.

    Args:
        a: the runs of A; several are seeds of one configuration.
        b: the runs of B.
        samples: resamples of the bootstrap.

    Raises:
        DataError: the runs have no set in common that defines a metric, or a set has other judgements in one run than
            in another, by which other pairs are recognized.
    """
    runs = [*a, *b]
    common = sorted(set.intersection(*(set(run) for run in runs)))
    if not common:
        raise DataError("no evaluation set is in all runs: evaluate all with the same `benchmarks`")
    _refuse_other_pairs(runs, common)
    undefined = {name: reason for name in common if (reason := why_undefined(a[0][name]))}
    if undefined and len(undefined) == len(common):
        raise DataError("; ".join(f"{name}: {reason}" for name, reason in undefined.items()))
    common = [name for name in common if name not in undefined]
    rows = [_row(name, [run[name] for run in a], [run[name] for run in b], samples) for name in common]
    rows = [replace(row, p=p) for row, p in zip(rows, holm([row.p for row in rows]), strict=True)]
    suites = [[row for row in rows if row.name.startswith(prefix)] for prefix in (MTEB, FEATURES)]
    main = headline_sets(row.name for row in rows if row.metric == "pearson")
    means = [_mean_row(group) for group in ([row for row in rows if row.name in main], *suites) if len(group) > 1]
    left_out = set.union(*(set(run) for run in runs)).difference(common, undefined)
    return RunComparison(means + rows, sorted(left_out), undefined)


class MainMetric(NamedTuple):
    """The metric of a set by which runs are compared, of one run."""

    name: str  # as of `metric_name`
    n: int  # pairs, questions or labelled rows
    estimate: Estimate


def main_metrics(scores: pa.Table) -> dict[str, MainMetric]:
    """Return the main metric of each set of a table with columns of `SCORES`, with its interval over items.

    Sets whose judgements define no metric are left out.
    """
    tables = {name: table for name, table in by_set(scores).items() if not why_undefined(table)}
    return {name: MainMetric(metric_name(table), *_alone(name, measure(table))) for name, table in tables.items()}


def _alone(name: str, own: Measure) -> tuple[int, Estimate]:
    runs = Runs(own.of(np.ones((1, len(own)))), resample([own], name, SAMPLES))
    return len(own), interval(runs)


def why_undefined(scores: pa.Table) -> str:
    """Return why the judgements of a set define no metric; an empty string if they do."""
    metric, gold = metric_name(scores), scores["gold"].to_numpy()
    try:
        if metric == "accuracy":
            check_labels(gold, pc.equal(scores["split"], "test").to_numpy())
        else:
            check_judgements(gold, scores["question"].to_numpy() if metric == "map" else None)
    except UndefinedError as error:
        return str(error)
    return ""


def metric_name(scores: pa.Table) -> str:
    """Return the name of the metric that `measure` computes."""
    kind, name = (scores[column][0].as_py() for column in ("kind", "set"))
    if kind == "similarity":
        return "spearman" if uses_spearman(name) else "pearson"
    return "map" if kind == "ranking" else "accuracy"


def measure(scores: pa.Table) -> Measure:
    """Return the values of one set that are averaged or correlated over its pairs or questions."""
    metric, (gold, score) = metric_name(scores), (scores[column].to_numpy() for column in ("gold", "score"))
    if metric == "map":
        return Mean(average_precision_and_reciprocal_rank(scores["question"].to_numpy(), gold, score)[0])
    if scores["set"][0].as_py().startswith(FEATURES):
        return Mean(score)
    if metric == "accuracy":
        test = pc.equal(scores["split"], "test").to_numpy()
        return Mean((decision_margins(gold, score, test) >= 0) == (gold[test] > 0))
    return RankCorrelation(ranks(gold), ranks(score)) if metric == "spearman" else Correlation(gold, score)


def _refuse_other_pairs(runs: Sequence[ScoresBySet], common: Sequence[str]) -> None:
    columns = ["split", "question", "gold"]
    for name in common:
        first, *others = (run[name].select(columns) for run in runs)
        if not all(first.equals(other) for other in others):
            raise DataError(f"{name}: the runs have different pairs; evaluate all with the same data")


def _row(name: str, a: Sequence[pa.Table], b: Sequence[pa.Table], samples: int) -> SetComparison:
    measures = [measure(scores) for scores in (*a, *b)]
    first, second = measures[0], measures[-1]
    points = np.array([each.of(np.ones((1, len(each))))[0] for each in measures])
    replicates = resample(measures, name, samples)
    runs_a, runs_b = (Runs(points[at], replicates[at]) for at in (slice(len(a)), slice(len(a), None)))
    williams = None
    if len(measures) == 2 and isinstance(first, Correlation) and isinstance(second, Correlation):
        williams = williams_test(first.gold, first.scores, second.scores)
    return _compared(name, metric_name(a[0]), len(first), runs_a, runs_b, williams)


def _mean_row(rows: Sequence[SetComparison]) -> SetComparison:
    """Return the comparison on the mean of the metric over the sets of `rows`."""
    a, b = (
        Runs(np.mean([each.points for each in sides], axis=0), np.mean([each.replicates for each in sides], axis=0))
        for sides in ([row.a for row in rows], [row.b for row in rows])
    )
    return _compared(f"mean of {len(rows)} sets", rows[0].metric, len(rows), a, b)


def _compared(name: str, metric: str, n: int, a: Runs, b: Runs, williams: Williams | None = None) -> SetComparison:
    change = difference(a, b)
    return SetComparison(name, metric, n, a, b, change, williams, williams.p if williams else change.p)
