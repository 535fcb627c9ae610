"""Significance tests for two models: paired bootstrap and Williams' test.

Both models score the same pairs, so their errors are correlated. The bootstrap therefore resamples pairs (for a
ranking, questions) together with the scores of both models.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student

from paraphrastic.evaluation.metrics import correlation, scaled

Vector = NDArray[Any]

_BLOCK = 1 << 22  # random numbers drawn at once, which bounds memory


class Interval(NamedTuple):
    """A difference with its confidence interval."""

    difference: float
    low: float
    high: float


class Williams(NamedTuple):
    """Williams' t with n − 3 degrees of freedom, and its two-sided p-value."""

    t: float
    p: float


@dataclass(frozen=True)
class Correlation:
    """Pearson's r, computed from weighted sums, so that all resamples are one matrix product.

    Args:
        gold: (n,) gold scores. For Spearman's ρ, ranks in the whole set; they are not recomputed for a resample (an
            approximation).
        scores: (n,) scores of a model, or their ranks.
    """

    gold: Vector
    scores: Vector

    def __len__(self) -> int:
        return len(self.gold)

    def of(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return r for each row of `weights` (samples, n), which counts how often a pair was drawn; 0 if undefined.

        With n, Σx, Σy, Σx², Σy² and Σxy weighted sums of standardised values,
        `r = (n Σxy − Σx Σy) / √((n Σx² − (Σx)²)(n Σy² − (Σy)²))`.
        """
        x, y = standardize(self.gold), standardize(self.scores)
        sums = weights @ np.stack([np.ones_like(x), x, y, x * x, y * y, x * y], axis=1)  # (samples, 6)
        n, sx, sy, sxx, syy, sxy = sums.T
        spread = np.clip(n * sxx - sx * sx, 0, None) * np.clip(n * syy - sy * sy, 0, None)
        defined = spread > 1e-12 * n**4
        r: NDArray[np.float64] = np.divide(n * sxy - sx * sy, np.sqrt(spread), out=np.zeros(len(n)), where=defined)
        return r


@dataclass(frozen=True)
class Mean:
    """The mean of one value per pair or question, (n,): correct or not, average precision; 0 if there is none."""

    values: Vector

    def __len__(self) -> int:
        return len(self.values)

    def of(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the mean over each resample of `weights` (samples, n)."""
        if not len(self.values):
            return np.zeros(len(weights))
        means: NDArray[np.float64] = weights @ self.values.astype(np.float64) / weights.sum(axis=1)
        return means


Measure = Correlation | Mean


def standardize(values: Vector) -> NDArray[np.float64]:
    """Return values with mean 0 and standard deviation 1, (n,); zeros if all are equal."""
    numbers = scaled(values)
    if not len(numbers) or np.ptp(numbers) == 0:
        return np.zeros(len(numbers))
    centred = numbers - numbers.mean()
    standardized: NDArray[np.float64] = centred / centred.std()
    return standardized


def bootstrap(
    measures: Sequence[tuple[Sequence[Measure], Sequence[Measure]]], samples: int, seed: int
) -> NDArray[np.float64]:
    """Return the differences B − A on resampled pairs, a row per set, (sets, samples).

    Args:
        measures: for each set the measures of the runs of A and of B, all over the same n pairs. Several runs are
            seeds of one configuration, whose mean is compared.
        samples: resamples, each with as many pairs as the set has.
        seed: seed of the draws.
    """
    streams = np.random.SeedSequence(seed).spawn(len(measures))
    return np.stack([_resample(a, b, samples, s) for (a, b), s in zip(measures, streams, strict=True)])


def _resample(a: Sequence[Measure], b: Sequence[Measure], samples: int, seed: np.random.SeedSequence) -> Vector:
    generator, n = np.random.default_rng(seed), len(a[0])
    if not n:  # a ranking set in which no question has a correct answer
        return np.zeros(samples)
    out, block = np.empty(samples), max(1, _BLOCK // n)
    for start in range(0, samples, block):
        rows = min(block, samples - start)
        weights = generator.multinomial(n, np.full(n, 1 / n), size=rows).astype(np.float64)
        mean_a, mean_b = (np.mean([measure.of(weights) for measure in runs], axis=0) for runs in (a, b))
        out[start : start + rows] = mean_b - mean_a
    return out


def percentile_interval(difference: float, resampled: Vector) -> Interval:
    """Return the 95 % percentile interval of the differences on resamples (samples,)."""
    tail = 50 * (1 - 0.95)
    low, high = np.percentile(resampled, [tail, 100 - tail])
    return Interval(difference, float(low), float(high))


def williams_test(gold: Vector, a: Vector, b: Vector) -> Williams:
    """Test whether a and b, (n,) each, correlate equally with `gold`: Williams (1959), as in Steiger (1980, Eq. 7).

    If a and b are perfectly correlated, or n < 4, the test is undefined and the result is t = 0 and p = 1.
    """
    return williams_of(len(gold), correlation(gold, a), correlation(gold, b), correlation(a, b))


def williams_of(n: int, ra: float, rb: float, rab: float) -> Williams:
    """Return Williams' test from the correlations of gold with a and with b, and of a with b.

    With |R| = 1 − ra² − rb² − rab² + 2 ra rb rab and r̄ = (ra + rb) / 2,
    `t = (rb − ra) √((n − 1)(1 + rab) / (2 |R| (n − 1) / (n − 3) + r̄² (1 − rab)³))`; positive if b is better.
    """
    if n < 4:
        return Williams(0.0, 1.0)
    determinant = 1 - ra**2 - rb**2 - rab**2 + 2 * ra * rb * rab
    mean = (ra + rb) / 2
    denominator = 2 * (n - 1) / (n - 3) * max(determinant, 0.0) + mean**2 * (1 - rab) ** 3
    if denominator <= 1e-15:
        return Williams(0.0, 1.0)
    t = (rb - ra) * float(np.sqrt((n - 1) * (1 + rab) / denominator))
    return Williams(t, float(2 * student.sf(abs(t), n - 3)))
