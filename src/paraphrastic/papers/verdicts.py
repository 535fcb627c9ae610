"""Whether the stored results support the claims of the papers.

A claim with several comparisons holds if all of them do, and does not hold if one of them is refuted.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, get_args
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from paraphrastic.analysis.comparison.significance import Runs, difference, holm
from paraphrastic.papers.claims import Claim, Comparison, Side
from paraphrastic.papers.experiments import Experiment, Experiments, PaperName
from paraphrastic.papers.plan import Run, runs_of_row
from paraphrastic.papers.results import Result, Store, sets_of

Verdict = Literal["holds", "does not hold", "cannot be decided here"]
HOLDS, FAILS, UNDECIDED = get_args(Verdict)
ALPHA = 0.05  # of corrected p
SEEDS = 3  # fewer decide nothing
# what intervals are over beside seeds
RESAMPLED, NORMAL = "items resampled", "normal-theory error of items"
STANDARD, UNKNOWN = "standard error of items", "seeds alone"
_REPLICATES = 1000
_BELOW = "below a published number, which other data cannot refute"
_SHARES = ("accuracy", "map", "mrr")  # last parts of keys of means of values between 0 and 1
_WITHOUT = ("norm", "gap")  # of values that are neither such means nor correlations


class Numbers(NamedTuple):
    """What the runs of a side measured."""

    runs: Runs
    over: frozenset[str]  # what their replicates are over
    names: tuple[str, ...]  # of the runs


class Test(NamedTuple):
    """A difference with its 95 % interval, and the one-sided p of its being at most, and at least, a bound."""

    difference: float
    low: float
    high: float
    p_above: float  # small if the difference is above the bound
    p_below: float


@dataclass(frozen=True)
class Decision:
    """The verdict on a claim."""

    claim: Claim
    verdict: Verdict = UNDECIDED
    reason: str = ""  # why it cannot be decided
    comparison: Comparison | None = None  # the one that decides: the weakest, or that which is refuted
    test: Test | None = None  # of that comparison
    p: float | None = None  # of the claim, two-sided and corrected; None without a test that decides
    seeds: tuple[int, ...] = ()  # numbers of seeds of the sides, ascending
    over: Sequence[str] = ()  # what the intervals are over beside seeds


class _MissingError(Exception):
    """The reason why a side has no numbers."""


def decide(
    claims: Sequence[Claim], find: Callable[[str], Experiment], declared: Experiments, store: Store, looks: int = 1
) -> list[Decision]:
    """Return the verdict on each claim; p is corrected over the claims of a paper that open data can decide (Holm).

    It is also multiplied by `looks`, the number of times that verdicts were taken (Bonferroni). Claims without numbers
    count, with p = 1, so that no verdict depends on what has been run of other claims. `find` returns the experiment
    with an id, as it is run on the replica.
    """
    found = [_tested(claim, _Reader(claim, find, declared, store)) for claim in claims]
    corrected: dict[str, float] = {}
    for paper in get_args(PaperName):
        family = [each for each in found if each.claim.paper == paper and not each.claim.undecidable]
        ps = holm([1.0 if each.p is None else min(1.0, looks * each.p) for each in family])
        corrected |= {each.claim.id: p for each, p in zip(family, ps, strict=True)}
    return [each if each.p is None else _decided(each, corrected[each.claim.id]) for each in found]


def _tested(claim: Claim, reader: "_Reader") -> Decision:
    """Return the deciding comparison of a claim, with p before correction.

    With the one-sided p of each of k comparisons, the claim holds at the largest `p_above` and is refuted at k times
    the smallest `p_below`. Its p is twice the smaller of both, which for one comparison is the two-sided p.
    """
    comparisons = list(claim.comparisons())
    try:
        sides = [[reader.numbers(side) for side in each.sides] for each in comparisons]
    except _MissingError as error:
        return Decision(claim, reason=claim.undecidable or str(error))
    if not sides:
        return Decision(claim, reason=claim.undecidable)
    tests = [_test(pair, each) for pair, each in zip(sides, comparisons, strict=True)]
    weakest = max(range(len(tests)), key=lambda place: tests[place].p_above)
    refuted = min(range(len(tests)), key=lambda place: tests[place].p_below)
    holding, refuting = tests[weakest].p_above, len(tests) * tests[refuted].p_below
    verdict, place = (HOLDS, weakest) if holding <= refuting else (FAILS, refuted)
    seeds = tuple(sorted({len(side.runs) for pair in sides for side in pair}))
    over = sorted(frozenset().union(*(side.over for pair in sides for side in pair)))
    p = min(1.0, 2 * min(holding, refuting))
    found = Decision(claim, verdict, "", comparisons[place], tests[place], p, seeds, over)
    return replace(found, verdict=UNDECIDED, reason=claim.undecidable, p=None) if claim.undecidable else found


def _test(sides: Sequence[Numbers], compared: Comparison) -> Test:
    """Return the test of `first − second > bound`, see `significance.difference`.

    Two values of the same runs are compared run by run. A 0 beside one row has as many seeds as the row, so that it
    does not lower the degrees of freedom.
    """
    runs, bound = [side.runs for side in sides], compared.bound
    if len({side.names for side in sides}) < len(sides):
        runs = [Runs(runs[0].points - runs[1].points, runs[0].replicates - runs[1].replicates)]
    zero = Runs(0 * runs[0].points, 0 * runs[0].replicates)
    first, second = [*runs, zero][:2][:: compared.sign]
    above = difference(second, Runs(first.points - bound, first.replicates - bound))
    tail, value = above.p / 2, above.value + bound
    tails = (tail, 1 - tail) if above.value > 0 else (1 - tail, tail)
    return Test(value, above.low + bound, above.high + bound, *tails)


def _decided(decision: Decision, p: float) -> Decision:
    """Return a tested decision with corrected p, with its verdict if p is small enough."""
    reason, test, compared = "", decision.test, decision.comparison
    if p >= ALPHA and test and compared:
        reason = f"p is not below {ALPHA} after correction"
        if test.low <= compared.bound <= test.high:
            reason = f"the interval includes {compared.sign * compared.bound:g}"
    elif decision.verdict == FAILS and decision.claim.kind == "reaches":
        return replace(decision, p=None, reason=_BELOW, verdict=UNDECIDED)
    return replace(decision, p=p, reason=reason, verdict=UNDECIDED if reason else decision.verdict)


class _Measured(NamedTuple):
    """What one run of a row measured."""

    name: str
    values: NDArray[Any]  # (1 + replicates,), the value and its replicates
    over: frozenset[str]  # what these are over


@dataclass(frozen=True)
class _Reader:
    """Reads the numbers that a claim compares."""

    claim: Claim
    find: Callable[[str], Experiment]
    declared: Experiments
    store: Store

    def numbers(self, side: Side) -> Numbers:
        """Return the numbers of a side; raise a _MissingError if there are fewer than three seeds or a value lacks."""
        rows = [self._of_row(side, label) for label in (side.row, side.minus) if label]
        seeds = sorted(set(rows[0]).intersection(*rows))
        if len(seeds) < SEEDS:
            raise _MissingError(f"{len(seeds)} of at least {SEEDS} seeds: {side.experiment}, {side.row}")
        first, *minus = [np.stack([row[seed].values for seed in seeds]) for row in rows]
        values = first - sum(minus)
        over = frozenset().union(*(row[seed].over for row in rows for seed in seeds))
        return Numbers(Runs(values[:, 0], values[:, 1:]), over, tuple(row[seed].name for row in rows for seed in seeds))

    def _of_row(self, side: Side, label: str) -> dict[int, _Measured]:
        """Return what each run of a row measured that has a result of the declared parameters, by seed."""
        experiment, names = self.find(side.experiment), side.key.split(" + ")
        rows = [row for row in experiment.rows if label in row.all_labels]
        row = next((row for row in rows if set(names) <= set(experiment.keys_of(row))), rows[0])
        runs = runs_of_row(experiment, row, self.declared, "replica")
        task = "".join(runs[0].tasks[:1])
        keys = [experiment.keys_of(row).get(name, name).replace("{task}", task) for name in names]
        stored = [(run, self.store.result(run)) for run in runs if not self.store.changed(run)]
        found = [(run, result) for run, result in stored if result]
        if not found:
            raise _MissingError(f"no results: {side.experiment}, {label}")
        results, measured = [result for _, result in found], {}
        for run, result in found:
            parts = [self._of_key(run, result, key, results) for key in keys]
            values = np.mean([values for values, _ in parts], axis=0)
            measured[run.seed] = _Measured(run.name, values, frozenset(over for _, over in parts))
        return measured

    def _of_key(self, run: Run, result: Result, key: str, of_row: Sequence[Result]) -> tuple[NDArray[Any], str]:
        curve = _curve(result, key)
        value = epochs(*curve) if curve else result.value(key)
        if not isinstance(value, int | float):
            raise _MissingError(f"no value of {key}: {run.name}")
        if deviations := _deviations([result], key) or _deviations(of_row, key):
            # items are the same for all seeds: errors of another kind would average out over seeds
            return np.array([value, *(value + np.mean(deviations, axis=0))]), RESAMPLED
        error, over = self._error(result, key, value, of_row)
        noise = np.random.default_rng(crc32(f"{run.configuration} {key}".encode())).standard_normal(_REPLICATES)
        return np.array([value, *(value + error * noise)]), over

    def _error(self, result: Result, key: str, value: float, of_row: Sequence[Result]) -> tuple[float, str]:
        """Return the error of a value that is not resampled, and what it is over."""
        if curve := _curve(result, key):
            return curve[0][0][0] / 12**0.5, UNKNOWN  # of a uniform distribution between two points of the curve
        of_analysis = [error for each in of_row if isinstance(error := each.value(f"{key}_error"), int | float)]
        if of_analysis:
            return float(np.mean(of_analysis)), STANDARD
        null = self.claim.bound if self.claim.kind in ("at least", "at most", "reaches") else value
        error = error_of_items(key, null, self.claim.items or _items(result, key))
        return error, NORMAL if error else UNKNOWN


def _curve(result: Result, key: str) -> tuple[Sequence[Sequence[float]], float] | None:
    """Return the curve and the share that a key such as `epochs[selection,95]` names; None for other keys."""
    found = re.fullmatch(r"epochs\[(.*),(\d+)\]", key)
    return (result.curves.get(found[1], []), int(found[2]) / 100) if found else None


def epochs(curve: Sequence[Sequence[float]], share: float) -> float | None:
    """Return the epochs until a curve, of (epochs, score), has a share of its best score; None if it has no points.

    If that is below 0, it is missed by the same share of its absolute value.
    """
    best = max((score for _, score in curve), default=0.0)
    least = share * best if best > 0 else (2 - share) * best
    return next((epoch for epoch, score in curve if score >= least), None)


def _deviations(results: Sequence[Result], key: str) -> list[NDArray[Any]]:
    """Return the bootstrap replicates of a value minus the value, (1000,) for each result that has some."""
    found = ((result.replicates(key), result.value(key)) for result in results)
    return [
        np.array(replicates) - value for replicates, value in found if replicates and isinstance(value, int | float)
    ]


def _items(result: Result, key: str) -> float:
    """Return the number of items of a value: `n` of the row of its analysis, or of its set; 0 if it is not known.

    That of a mean over the K sets that have a result is the one at which a set of the same ρ has the error of the
    mean, K² / Σ 1 / n.
    """
    keys = [re.sub(r"\.\w+$", ".n", key)] if "[" in key else [f"{name}.n" for name in sets_of(key) or [key]]
    known = np.array([n for n in map(result.value, keys) if isinstance(n, int) and n > 0])
    return float(len(known) ** 2 / (1 / known).sum()) if len(known) else 0.0


def error_of_items(key: str, value: float, items: float) -> float:
    """Return the standard error of a metric × 100 by its number of items, at a value; 0 if their number is not known.

    That of ρ is (1 − ρ²) √((1 + ρ² / 2) / (n − 1)) (Bonett and Wright 2000, Psychometrika 65(1)), exact at 0, and at
    least that of r. A mean m of values between 0 and 1, such as average precisions, has at most the variance
    m (1 − m) / n.
    """
    share, metric = value / 100, key.rpartition(".")[2]
    if items < 2 or metric in _WITHOUT:
        return 0.0
    if metric in _SHARES:
        return 100 * float(np.sqrt(max(share * (1 - share), 0) / items))
    return 100 * (1 - share**2) * float(np.sqrt((1 + share**2 / 2) / (items - 1)))
