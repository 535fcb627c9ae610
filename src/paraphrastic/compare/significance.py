"""Is the difference between two models real? Paired bootstrap and Williams' test.

Both models score the same pairs, so their errors go together: what is resampled is the pair (of a ranking, the
question) with the scores of both models.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student

from paraphrastic.evaluation.similarity import pearson

Vector = NDArray[Any]
Matrix = NDArray[np.float64]

_BLOCK = 1 << 22  # drawn numbers at once


class Interval(NamedTuple):
    """A difference and where it lies with the given confidence."""

    difference: float
    low: float
    high: float


class Williams(NamedTuple):
    """Williams' t with n − 3 degrees of freedom, and its two-sided probability under no difference."""

    t: float
    p: float


@dataclass(frozen=True)
class Correlation:
    """Pearson's r of gold scores with those of a model, as sums over pairs, so that it is cheap on resamples.

    Args:
        gold: (n,); ranks where the measure is Spearman's ρ, which then keeps the ranks of the whole set.
        scores: (n,) or ranks.
    """

    gold: Vector
    scores: Vector

    def __len__(self) -> int:
        return len(self.gold)

    def of(self, weights: Matrix) -> NDArray[np.float64]:
        """The r of each row of `weights` (samples, n), which says how often a pair was drawn; 0 if undefined."""
        x, y = (v.astype(np.float64) - np.mean(v, dtype=np.float64) for v in (self.gold, self.scores))
        sums = weights @ np.stack([np.ones_like(x), x, y, x * x, y * y, x * y], axis=1)
        n, sx, sy, sxx, syy, sxy = sums.T
        spread = np.clip(n * sxx - sx * sx, 0, None) * np.clip(n * syy - sy * sy, 0, None)
        return np.divide(n * sxy - sx * sy, np.sqrt(spread), out=np.zeros(len(n)), where=spread > 1e-12 * n**4)


@dataclass(frozen=True)
class Mean:
    """The mean of one number for each pair or question: right or wrong, average precision, …, (n,)."""

    values: Vector

    def __len__(self) -> int:
        return len(self.values)

    def of(self, weights: Matrix) -> NDArray[np.float64]:
        """The mean over each resample of `weights` (samples, n)."""
        return weights @ self.values.astype(np.float64) / weights.sum(axis=1)


Measure = Correlation | Mean


def bootstrap(
    pairs: Sequence[tuple[Sequence[Measure], Sequence[Measure]]], samples: int, seed: int
) -> NDArray[np.float64]:
    """Differences B − A on resampled pairs, a row for each set, (sets, samples).

    Args:
        pairs: for each set the measures of the runs of A and of B (several are seeds of one configuration, whose
            mean is compared), all over the same n pairs.
        samples: resamples, each with as many pairs as the set has.
        seed: of the draws.
    """
    streams = np.random.SeedSequence(seed).spawn(len(pairs))
    return np.stack([_of_set(*pair, samples, s) for pair, s in zip(pairs, streams, strict=True)])


def _of_set(a: Sequence[Measure], b: Sequence[Measure], samples: int, seed: np.random.SeedSequence) -> Vector:
    generator, n = np.random.default_rng(seed), len(a[0])
    out, block = np.empty(samples), max(1, _BLOCK // n)
    for start in range(0, samples, block):
        rows = min(block, samples - start)
        weights = generator.multinomial(n, np.full(n, 1 / n), size=rows).astype(np.float64)
        of_a, of_b = (np.mean([measure.of(weights) for measure in runs], axis=0) for runs in (a, b))
        out[start : start + rows] = of_b - of_a
    return out


def interval(difference: float, resampled: Vector, confidence: float = 0.95) -> Interval:
    """The percentile interval of differences on resamples (samples,)."""
    tail = 50 * (1 - confidence)
    low, high = np.percentile(resampled, [tail, 100 - tail])
    return Interval(difference, float(low), float(high))


def williams(gold: Vector, a: Vector, b: Vector) -> Williams:
    """Do a and b, (n,) each, correlate with `gold` equally? Williams (1959), as in Steiger (1980, Eq. 7).

    Where two of the three are the same, or n < 4, there is nothing to tell apart: t = 0 and p = 1.
    """
    n, ra, rb, rab = len(gold), pearson(gold, a), pearson(gold, b), pearson(a, b)
    return williams_of(n, ra, rb, rab)


def williams_of(n: int, ra: float, rb: float, rab: float) -> Williams:
    """The same from the correlations of gold with a and with b, and of a with b; t is positive where b is better."""
    determinant = 1 - ra**2 - rb**2 - rab**2 + 2 * ra * rb * rab
    mean = (ra + rb) / 2
    if n < 4:
        return Williams(0.0, 1.0)
    below = 2 * (n - 1) / (n - 3) * max(determinant, 0.0) + mean**2 * (1 - rab) ** 3
    if below <= 1e-15:
        return Williams(0.0, 1.0)
    t = (rb - ra) * float(np.sqrt((n - 1) * (1 + rab) / below))
    return Williams(t, float(2 * student.sf(abs(t), n - 3)))
