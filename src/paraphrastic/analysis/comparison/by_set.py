"""Compare two models, or two configurations with several seeds each, set by set, from their stored scores."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from paraphrastic.analysis.comparison.significance import (
    Correlation,
    Interval,
    Mean,
    Measure,
    RankCorrelation,
    Williams,
    percentile_interval,
    resample,
    williams_test,
)
from paraphrastic.base.errors import DataError
from paraphrastic.evaluation.headline import FEATURES, MTEB, headline_sets
from paraphrastic.evaluation.metrics import (
    UndefinedError,
    average_precision_and_reciprocal_rank,
    check_judgements,
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
    a: NDArray[np.float64]  # the metric of each run of A, (runs,)
    b: NDArray[np.float64]  # the metric of each run of B, (runs,)
    change: Interval  # mean of B minus mean of A, with a 95 % interval
    williams: Williams | None  # Williams' test, for a correlation with one run on each side; None otherwise

    @property
    def is_significant(self) -> bool:
        """Whether the interval excludes zero."""
        return self.change.low > 0 or self.change.high < 0


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
        a: the runs of A; several are seeds of one configuration, whose metrics are averaged.
        b: the runs of B.
        samples: resamples of the bootstrap.

    Raises:
        DataError: the runs have no set in common that defines a metric, or a set has other pairs in one run than in
            another.
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
    measures = [([measure(run[name]) for run in a], [measure(run[name]) for run in b]) for name in common]
    resampled = np.stack([_differences(*each, samples) for each in zip(common, measures, strict=True)])
    metrics = [metric_name(a[0][name]) for name in common]
    rows = [_row(*each) for each in zip(common, metrics, measures, resampled, strict=True)]
    suites = [[row.name for row in rows if row.name.startswith(prefix)] for prefix in (MTEB, FEATURES)]
    groups = [headline_sets(row.name for row in rows if row.metric == "pearson"), *suites]
    means = [mean for names in groups for mean in _mean_row(rows, resampled, names)]
    left_out = set.union(*(set(run) for run in runs)).difference(common, undefined)
    return RunComparison(means + rows, sorted(left_out), undefined)


def _differences(name: str, measures: tuple[Sequence[Measure], Sequence[Measure]], samples: int) -> NDArray[np.float64]:
    """Return the mean of B minus the mean of A in each replicate, (samples,)."""
    a, b = measures
    replicates = resample([*a, *b], name, samples)
    differences: NDArray[np.float64] = replicates[len(a) :].mean(axis=0) - replicates[: len(a)].mean(axis=0)
    return differences


def why_undefined(scores: pa.Table) -> str:
    """Return why the judgements of a set define no metric; an empty string if they do."""
    metric = metric_name(scores)
    table = scores.filter(pc.equal(scores["split"], "test")) if metric == "accuracy" else scores
    try:
        check_judgements(table["gold"].to_numpy(), table["question"].to_numpy() if metric == "map" else None)
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


def _row(
    name: str, metric: str, measures: tuple[Sequence[Measure], Sequence[Measure]], resampled: NDArray[np.float64]
) -> SetComparison:
    a, b = measures
    values_a, values_b = (np.array([m.of(np.ones((1, len(m))))[0] for m in side]) for side in (a, b))
    change = percentile_interval(float(values_b.mean() - values_a.mean()), resampled)
    first_a, first_b, test = a[0], b[0], None
    if len(a) == len(b) == 1 and isinstance(first_a, Correlation) and isinstance(first_b, Correlation):
        test = williams_test(first_a.gold, first_a.scores, first_b.scores)
    return SetComparison(name, metric, len(first_a), values_a, values_b, change, test)


def _mean_row(
    rows: Sequence[SetComparison], resampled: NDArray[np.float64], names: Sequence[str]
) -> list[SetComparison]:
    at = [n for n, row in enumerate(rows) if row.name in names]
    if len(at) < 2:
        return []
    a, b = np.mean([rows[n].a for n in at], axis=0), np.mean([rows[n].b for n in at], axis=0)
    change = percentile_interval(float(b.mean() - a.mean()), resampled[at].mean(axis=0))
    return [SetComparison(f"mean of {len(at)} sets", rows[at[0]].metric, len(at), a, b, change, None)]
