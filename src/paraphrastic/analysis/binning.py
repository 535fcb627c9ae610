"""Correlation with human scores within bins of pairs."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
from numpy.typing import NDArray

from paraphrastic.evaluation.metrics import pearson, percent

Bins = Mapping[str, tuple[float, float]]  # name → smallest and largest value; bins may overlap


def correlation_by_bin(pairs: pd.DataFrame, name: str, values: NDArray[Any], bins: Bins) -> pd.DataFrame:
    """Return Pearson's r × 100 between human scores and the model's within each bin.

    Args:
        pairs: with the columns `gold` and `score`.
        name: the first column of the result, which holds the names of the bins.
        values: (pairs,), the property that pairs are binned by.
        bins: in the order of the result; those without pairs are left out.

    Returns:
        The columns `name`, `n` (pairs) and `pearson`.
    """
    selected = ((bin_name, pairs[(values >= low) & (values <= high)]) for bin_name, (low, high) in bins.items())
    rows = [(bin_name, len(part), _pearson(part)) for bin_name, part in selected if len(part)]
    return pd.DataFrame(rows, columns=[name, "n", "pearson"])


def _pearson(pairs: pd.DataFrame) -> float:
    return percent(pearson(pairs["gold"], pairs["score"]))
