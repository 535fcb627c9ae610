"""Two models, or two configurations with several seeds each, set by set, from the scores that they were kept with."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from paraphrastic.compare.significance import (
    Correlation,
    Interval,
    Mean,
    Measure,
    Williams,
    bootstrap,
    interval,
    williams,
)
from paraphrastic.errors import DataError
from paraphrastic.evaluation.headline import averaged
from paraphrastic.evaluation.paraphrase import best_threshold
from paraphrastic.evaluation.ranking import per_question
from paraphrastic.evaluation.similarity import ranks
from paraphrastic.evaluation.suite import by_rank

SAMPLES = 2000
Run = Mapping[str, pa.Table]  # the scores of one model by set


@dataclass(frozen=True)
class Row:
    """One set, or the mean of several; figures are 1 for perfect.

    Attributes:
        name: of the set, or `mean of N sets`.
        metric: `pearson`, `spearman`, `map` or `accuracy`.
        n: pairs, or questions; sets where it is a mean.
        a: figures of the runs of A, (runs,).
        b: figures of the runs of B, (runs,).
        change: B − A of their means, with a 95 % interval.
        williams: of a correlation and one run on each side; None otherwise.
    """

    name: str
    metric: str
    n: int
    a: NDArray[np.float64]
    b: NDArray[np.float64]
    change: Interval
    williams: Williams | None

    @property
    def is_real(self) -> bool:
        """Whether the interval leaves out zero."""
        return self.change.low > 0 or self.change.high < 0


@dataclass(frozen=True)
class Comparison:
    """What came out.

    Attributes:
        rows: the mean of the sets that the headline is about, then each set, by name.
        left_out: sets that not all runs have, by name.
    """

    rows: list[Row]
    left_out: list[str]


def by_set(scores: pa.Table) -> dict[str, pa.Table]:
    """A table `SCORES` cut by set."""
    return {name: scores.filter(pc.equal(scores["set"], name)) for name in sorted(pc.unique(scores["set"]).to_pylist())}


def compare(a: Sequence[Run], b: Sequence[Run], seed: int = 0, samples: int = SAMPLES) -> Comparison:
    """B against A over the sets that all runs have.

    Args:
        a: scores of one model; several are seeds of one configuration, whose figures are averaged.
        b: the same of the other.
        seed: of the bootstrap.
        samples: of the bootstrap.

    Raises:
        DataError: they have no set in common, or a set holds other pairs in one run than in another.
    """
    runs = [*a, *b]
    common = sorted(set.intersection(*(set(run) for run in runs)))
    if not common:
        raise DataError("the two have no evaluation set in common: evaluate both with the same `benchmarks`")
    _refuse_other_pairs(runs, common)
    both = [tuple([measure(run[name]) for run in side] for side in (a, b)) for name in common]  # by set
    drawn = bootstrap(both, samples, seed)
    metrics = [metric_of(a[0][name]) for name in common]
    rows = [_row(*of_set) for of_set in zip(common, metrics, both, drawn, strict=True)]
    means = _mean(rows, drawn, averaged(row.name for row in rows if row.metric == "pearson"))
    return Comparison(means + rows, sorted(set.union(*(set(run) for run in runs)) - set(common)))


def metric_of(scores: pa.Table) -> str:
    """The name of what `measure` measures."""
    kind, name = (scores[column][0].as_py() for column in ("kind", "set"))
    by_kind = {"ranking": "map", "labelled_pairs": "accuracy", "similarity": "spearman" if by_rank(name) else "pearson"}
    return by_kind[kind]


def measure(scores: pa.Table) -> Measure:
    """What is averaged or correlated over the pairs, or questions, of one set."""
    metric, (gold, score) = metric_of(scores), (scores[column].to_numpy() for column in ("gold", "score"))
    if metric == "map":
        return Mean(per_question(scores["question"].to_numpy(), gold, score)[0])
    if metric == "accuracy":
        test = pc.equal(scores["split"], "test").to_numpy()
        threshold = best_threshold(gold[~test], score[~test])
        return Mean((score[test].astype(np.float64) >= threshold) == (gold[test] > 0))
    return Correlation(ranks(gold), ranks(score)) if metric == "spearman" else Correlation(gold, score)


def _refuse_other_pairs(runs: Sequence[Run], common: Sequence[str]) -> None:
    columns = ["split", "question", "gold"]
    for name in common:
        first, *others = (run[name].select(columns) for run in runs)
        if not all(first.equals(other) for other in others):
            raise DataError(f"{name}: not the same pairs in all runs; evaluate both with the same data")


def _row(name: str, metric: str, sides: tuple[list[Measure], ...], drawn: NDArray[np.float64]) -> Row:
    a, b = sides
    figures = [np.array([m.of(np.ones((1, len(m))))[0] for m in side]) for side in (a, b)]
    change = interval(float(figures[1].mean() - figures[0].mean()), drawn)
    test = None
    if metric in ("pearson", "spearman") and len(a) == len(b) == 1:
        test = williams(a[0].gold, a[0].scores, b[0].scores)
    return Row(name, metric, len(a[0]), *figures, change, test)


def _mean(rows: Sequence[Row], drawn: NDArray[np.float64], names: Sequence[str]) -> list[Row]:
    at = [n for n, row in enumerate(rows) if row.name in names]
    if len(at) < 2:
        return []
    a, b = (np.mean([getattr(rows[n], side) for n in at], axis=0) for side in ("a", "b"))
    change = interval(float(b.mean() - a.mean()), drawn[at].mean(axis=0))
    return [Row(f"mean of {len(at)} sets", "pearson", len(at), a, b, change, None)]
