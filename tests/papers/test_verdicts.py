"""The numbers that verdicts on claims are made of."""

from types import SimpleNamespace

import numpy as np
import pytest

from paraphrastic.analysis.comparison.significance import Runs, interval
from paraphrastic.papers.claims import Comparison, Side
from paraphrastic.papers.results import Result
from paraphrastic.papers.verdicts import NORMAL, UNKNOWN, _items, _Reader, _test, epochs

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


@pytest.mark.parametrize(("column", "error", "over"), [("norm_error", 0.25, NORMAL), ("other", 0.0, UNKNOWN)])
def test_mean_of_an_analysis_has_its_error_over_items(column, error, over):
    result = Result("1.0", {}, {"gates": [["label", "n", "norm", column], ["NN", 100, 20.0, 0.25]]})
    claim, run = SimpleNamespace(kind="above", bound=0.0, items=0), SimpleNamespace(configuration="gran-1", name="g")
    (value, *replicates), found = _Reader(claim, None, None, None)._of_key(run, result, "gates[label=NN].norm")
    assert (value, found) == (20.0, over)
    assert np.std(replicates) == pytest.approx(error, rel=0.1)
    assert np.mean(replicates) == pytest.approx(20, abs=0.03)


def test_mean_over_sets_has_the_error_of_one_set_with_as_many_pairs_as_say_the_same():
    """Of two sets with n and 3n pairs, the error of the mean is √(1 / n + 1 / 3n) / 2, as of one set with 3n."""
    sets = {"sts.2012.MSRpar": 100, "sts.2012.MSRvid": 300, "sts.2013.FNWN": 7}
    result = Result("1.0", {"sts.2012": 60.0} | sets | {f"{name}.n": n for name, n in sets.items()})
    assert _items(result, "sts.2012") == pytest.approx(300)
    assert _items(result, "sts.2013.FNWN") == 7
    assert _items(result, "sts.2014") == 0
