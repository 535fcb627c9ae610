"""Whether the stored results support the claims of the papers.

A claim with several comparisons holds if all of them do, and does not hold if one of them is refuted.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, get_args
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from paraphrastic.analysis.comparison.significance import Runs, difference, holm
from paraphrastic.papers.claims import Claim, Comparison, Side
from paraphrastic.papers.experiments import Data, Experiment, Experiments, PaperName, Row
from paraphrastic.papers.plan import Run, runs_of_row
from paraphrastic.papers.results import RESAMPLES, Result, Store

Verdict = Literal["holds", "does not hold", "cannot be decided here"]
Items = Literal["resampled", "bounded", "not known"]
HOLDS, FAILS, UNDECIDED = get_args(Verdict)
ALPHA = 0.05  # of corrected p
SEEDS = 3  # fewer decide nothing
_REPLICATES = 1000
_SHARES = ("accuracy", "map", "mrr")  # last parts of keys of means of values between 0 and 1
_WITHOUT = ("norm", "gap")  # of values that are neither such means nor correlations


class Numbers(NamedTuple):
    """Values of a side for each of S seeds, with replicates over its items."""

    points: NDArray[np.float64]  # (S,)
    replicates: NDArray[np.float64]  # (S, replicates); those of all seeds have the same items
    items: frozenset[Items]  # how the replicates were made


class Test(NamedTuple):
    """A difference with its 95 % interval, and one-sided p of its being at most, and at least, a bound."""

    difference: float
    low: float
    high: float
    above: float  # p of at most: small if the difference is above the bound
    below: float


@dataclass(frozen=True)
class Decision:
    """The verdict on a claim."""

    claim: Claim
    verdict: Verdict = UNDECIDED
    reason: str = ""  # why it cannot be decided
    comparison: Comparison | None = None  # the one that decides: the weakest, or that which is refuted
    test: Test | None = None  # of that comparison
    p: float | None = None  # of the claim, two-sided and corrected; None without a test that decides
    seeds: Sequence[int] = ()  # numbers of seeds of the sides, ascending
    items: frozenset[Items] = frozenset()  # how the errors of items were found


class _MissingError(Exception):
    """The reason why a side has no numbers."""


def decide(
    claims: Sequence[Claim], find: Callable[[str, Data], Experiment], declared: Experiments, store: Store
) -> list[Decision]:
    """Return the verdict on each claim; p is corrected over the claims of a paper that have numbers (Holm).

    Args:
        claims: of any papers.
        find: returns the experiment with an id, as it is run on a kind of data.
        declared: presets and parameters.
        store: the stored results.

    Raises:
        DataError: a stored result is damaged.
    """
    found = [_tested(claim, _Reader(claim, find, declared, store)) for claim in claims]
    corrected: dict[str, float] = {}
    for paper in get_args(PaperName):
        own = [(each.claim.id, each.p) for each in found if each.claim.paper == paper and each.p is not None]
        corrected |= dict(zip([name for name, _ in own], holm([p for _, p in own]), strict=True))
    return [_decided(each, corrected[each.claim.id]) if each.claim.id in corrected else each for each in found]


def _tested(claim: Claim, reader: "_Reader") -> Decision:
    """Return the deciding comparison of a claim, with p before correction.

    With the one-sided p of each of k comparisons, the claim holds at the largest `above` and is refuted at k times the
    smallest `below`. Its p is twice the smaller of both, which for one comparison is the two-sided p.
    """
    comparisons = list(claim.comparisons())
    try:
        sides = [(reader.numbers(each.first), reader.numbers(each.second)) for each in comparisons]
    except _MissingError as error:
        return Decision(claim, reason=claim.undecidable or str(error))
    if not sides:
        return Decision(claim, reason=claim.undecidable)
    tests = [_test(*pair, each.bound) for pair, each in zip(sides, comparisons, strict=True)]
    weakest = max(range(len(tests)), key=lambda place: tests[place].above)
    refuted = min(range(len(tests)), key=lambda place: tests[place].below)
    holding, refuting = tests[weakest].above, len(tests) * tests[refuted].below
    place = weakest if holding <= refuting else refuted
    known = [each for pair in sides for each in pair if each is not _ZERO]
    return Decision(
        claim,
        UNDECIDED if claim.undecidable else HOLDS if holding <= refuting else FAILS,
        claim.undecidable,
        comparison=comparisons[place],
        test=tests[place],
        p=None if claim.undecidable else min(1.0, 2 * min(holding, refuting)),
        seeds=sorted({len(each.points) for each in known}),
        items=frozenset().union(*(each.items for each in known)),
    )


def _test(first: Numbers, second: Numbers, bound: float) -> Test:
    """Return the test of `first − second > bound`, see `significance.difference`."""
    above = difference(Runs(second.points, second.replicates), Runs(first.points - bound, first.replicates - bound))
    tail, value = above.p / 2, above.value + bound
    tails = (tail, 1 - tail) if above.value > 0 else (1 - tail, tail)
    return Test(value, above.low + bound, above.high + bound, *tails)


def _decided(decision: Decision, p: float) -> Decision:
    """Return a tested decision with corrected p, with its verdict if p is small enough."""
    decision = replace(decision, p=p)
    if p >= ALPHA:
        return replace(decision, verdict=UNDECIDED, reason=_why_open(decision))
    if decision.verdict == FAILS and decision.claim.kind == "reaches":
        return replace(decision, verdict=UNDECIDED, reason="below a published number, which other data cannot refute")
    return decision


def _why_open(decision: Decision) -> str:
    test, compared = decision.test, decision.comparison
    if test is None or compared is None or not test.low <= compared.bound <= test.high:
        return f"p is not below {ALPHA} after correction"
    limit = "0" if not compared.bound else "the limit" if None in (compared.first, compared.second) else "the margin"
    return f"the interval includes {limit}"


@dataclass(frozen=True)
class _Reader:
    """Reads the numbers that a claim compares."""

    claim: Claim
    find: Callable[[str, Data], Experiment]
    declared: Experiments
    store: Store

    def numbers(self, side: Side | None) -> Numbers:
        """Return the numbers of a side; raise a _MissingError if there are fewer than three seeds or a value lacks."""
        if side is None:
            return _ZERO
        parts = [self._by_seed(side, label) for label in (side.row, side.minus) if label]
        seeds = sorted(set(parts[0]).intersection(*parts))
        if len(seeds) < SEEDS:
            raise _MissingError(f"{len(seeds)} of at least {SEEDS} seeds: {side.experiment}, {side.row}")
        first, *other = [_joined([part[seed] for seed in seeds]) for part in parts]
        for each in other:
            values, replicates = first.points - each.points, first.replicates - each.replicates
            first = Numbers(values, replicates, first.items | each.items)
        return first

    def _by_seed(self, side: Side, label: str) -> dict[int, Numbers]:
        """Return the numbers of each seed of a row that has a result of the declared parameters."""
        experiment = self.find(side.experiment, self.claim.data)
        row, keys = _find(experiment, label, side.key)
        runs = runs_of_row(experiment, row, self.declared, self.claim.data)
        found = [(run, result) for run in runs if (result := self.store.result(run)) and not self.store.changed(run)]
        if not found:
            raise _MissingError(f"no results: {side.experiment}, {label}")
        return {run.seed: self._mean(run, result, keys, label) for run, result in found}

    def _mean(self, run: Run, result: Result, keys: Sequence[str], label: str) -> Numbers:
        """Return the mean of the values of keys."""
        parts = [self._of_key(run, result, key.replace("{task}", "".join(run.tasks[:1])), label) for key in keys]
        values, replicates = (
            np.mean([part.points for part in parts], 0),
            np.mean([part.replicates for part in parts], 0),
        )
        return Numbers(values, replicates, frozenset().union(*(part.items for part in parts)))

    def _of_key(self, run: Run, result: Result, key: str, label: str) -> Numbers:
        curve = re.fullmatch(r"epochs\[(.*),(\d+)\]", key)
        value = epochs(result.curves.get(curve[1], []), int(curve[2]) / 100) if curve else result.value(key)
        if not isinstance(value, int | float):
            raise _MissingError(f"no value of {key}: {label}")
        header, *rows = result.tables.get(RESAMPLES) or [[]]
        if key in header:
            place = header.index(key)
            return Numbers(np.array([value]), np.array([[row[place] for row in rows]]), frozenset({"resampled"}))
        error = _largest_error(key, value, self.claim.items or _items(result, key))
        noise = np.random.default_rng(crc32(f"{run.configuration} {key}".encode())).standard_normal(_REPLICATES)
        return Numbers(np.array([value]), value + error * noise[None], frozenset({"bounded" if error else "not known"}))


_ZERO = Numbers(np.zeros(SEEDS), np.zeros((SEEDS, _REPLICATES)), frozenset())


def _joined(seeds: Sequence[Numbers]) -> Numbers:
    """Return the numbers of several seeds as one."""
    values, replicates = (
        np.concatenate([each.points for each in seeds]),
        np.concatenate([each.replicates for each in seeds]),
    )
    return Numbers(values, replicates, frozenset().union(*(each.items for each in seeds)))


def _find(experiment: Experiment, label: str, key: str) -> tuple[Row, list[str]]:
    """Return the row with a label that fills the columns of a key `A + B`, and its keys; other keys stay."""
    names = key.split(" + ")
    rows = [row for row in experiment.rows if label in row.all_labels]
    row = next((row for row in rows if set(names) <= set(experiment.keys_of(row))), rows[0])
    return row, [experiment.keys_of(row).get(name, name) for name in names]


def epochs(curve: Sequence[Sequence[float]], share: float) -> float | None:
    """Return the epochs until a curve, of (epochs, score), has a share of its best score; None if it has no points."""
    best = max((score for _, score in curve), default=0.0)
    return next((epoch for epoch, score in curve if score >= share * best), None)


def _items(result: Result, key: str) -> int:
    """Return the number of items of a value: `n` of the row of its analysis, or of its set; 0 if it is not known."""
    name = re.sub(r"\.\w+$", ".n", key) if "[" in key else f"{key.removesuffix('.pearson')}.n"
    value = result.value(name)
    return value if isinstance(value, int) else 0


def _largest_error(key: str, value: float, items: int) -> float:
    """Return the largest standard error of a metric × 100 that its number of items allows; 0 if none is known.

    That of r is (1 − r²) / √n. A mean m of values between 0 and 1, such as average precisions, has at most the variance
    m (1 − m) / n.
    """
    share, metric = value / 100, key.rpartition(".")[2]
    if not items or metric in _WITHOUT:
        return 0.0
    if metric in _SHARES:
        return 100 * float(np.sqrt(max(share * (1 - share), 0) / items))
    return 100 * (1 - share**2) / float(np.sqrt(items))
