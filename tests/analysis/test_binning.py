"""Correlation within bins."""

import numpy as np
import pandas as pd
import pytest

from paraphrastic.analysis.binning import correlation_by_bin


def test_correlation_within_bins_that_overlap():
    random = np.random.default_rng(0)
    values, pairs = random.integers(0, 4, 200), pd.DataFrame(random.normal(size=(200, 2)), columns=["gold", "score"])
    pairs["score"] += pairs["gold"] * values
    table = correlation_by_bin(pairs, "size", values, {"≥ 2": (2, np.inf), "none": (7, 9), "1": (1, 1)})
    expected = [("≥ 2", values >= 2), ("1", values == 1)]
    assert list(table.columns) == ["size", "n", "pearson"]
    assert list(table["size"]) == [name for name, _ in expected]
    assert list(table["n"]) == [rows.sum() for _, rows in expected]
    r = [100 * np.corrcoef(pairs[rows].to_numpy().T)[0, 1] for _, rows in expected]
    assert list(table["pearson"]) == pytest.approx(r, abs=0.0051)
