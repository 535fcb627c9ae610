"""The numbers that verdicts on claims are made of."""

import numpy as np
import pytest

from paraphrastic.analysis.comparison.significance import Runs, interval
from paraphrastic.papers.claims import Comparison, Side
from paraphrastic.papers.verdicts import _test, epochs

CURVE, NEGATIVE = [[0.25, 90], [0.5, 95], [1, 100], [2, 80]], [[1, -10.0], [2, -5.2], [3, -5.0]]


@pytest.mark.parametrize(
    ("curve", "share", "expected"), [(CURVE, 0.95, 0.5), ([[1, 10]], 1.0, 1), ([], 0.9, None), (NEGATIVE, 0.95, 2)]
)
def test_epochs_until_convergence(curve, share, expected):
    assert epochs(curve, share) == expected


def test_row_beside_a_number_has_the_degrees_of_freedom_of_its_own_seeds():
    """Errors over items that nearly cancel in the mean of five seeds leave the least degrees of freedom, four."""
    items = np.outer([1, -1, 1, -1, 0.2], np.random.default_rng(1).standard_normal(1000))
    points = np.array([60.0, 60.1, 60.2, 60.3, 60.4])
    row, side = Runs(points, points[:, None] + items), Side(row="avg")
    value, low, high, _ = interval(row)
    assert _test([row], Comparison(side, None, 50.0))[:3] == pytest.approx((value, low, high))
    assert _test([row], Comparison(None, side, -70.0))[:3] == pytest.approx((-value, -high, -low))
    assert high - value == pytest.approx(2.776 * 0.2 / 5, rel=0.1)  # t of four degrees of freedom
