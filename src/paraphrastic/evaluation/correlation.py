"""Correlation of a model's scores with human scores: Pearson's r and Spearman's ρ."""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Vector = NDArray[Any]


def pearson(x: Vector, y: Vector) -> float:
    """Return Pearson's r of two vectors (n,), in [−1, 1].

    If r is undefined, because there are fewer than two values or one side is constant, the result is 0: such scores
    carry no information about the gold standard.
    """
    if len(x) < 2 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return 0.0
    return float(np.clip(_standardize(x) @ _standardize(y), -1, 1))


def spearman(x: Vector, y: Vector) -> float:
    """Return Spearman's ρ of two vectors (n,): Pearson's r of their ranks; 0 if it is undefined."""
    return pearson(ranks(x), ranks(y))


def ranks(x: Vector) -> NDArray[np.float64]:
    """Return ranks from 1, (n,); equal values get the mean of their ranks."""
    return np.asarray(pd.Series(x).rank(method="average"), np.float64)


def _standardize(x: Vector) -> NDArray[np.float64]:
    """Subtract the mean and scale to length 1, in float64."""
    centred = x.astype(np.float64) - np.mean(x, dtype=np.float64)
    scaled: NDArray[np.float64] = centred / np.linalg.norm(centred)
    return scaled
