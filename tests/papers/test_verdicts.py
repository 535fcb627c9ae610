"""The numbers that verdicts on claims are made of."""

from types import SimpleNamespace

import numpy as np
import pytest

from paraphrastic.analysis.comparison.significance import Runs, interval
from paraphrastic.papers.claims import Comparison, Side
from paraphrastic.papers.results import Result
from paraphrastic.papers.verdicts import RESAMPLED, STANDARD, UNKNOWN, Numbers, _items, _Reader, _test, epochs

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
    runs, side = Runs(points, points[:, None] + items), Side(row="avg")
    row = Numbers(runs, frozenset(), ("avg-1",))
    value, low, high, _ = interval(runs)
    assert _test([row], Comparison(side, None, 50.0))[:3] == pytest.approx((value, low, high))
    assert _test([row], Comparison(None, side, -70.0))[:3] == pytest.approx((-value, -high, -low))
    assert high - value == pytest.approx(2.776 * 0.2 / 5, rel=0.1)  # t of four degrees of freedom


def test_two_values_of_the_same_runs_are_compared_run_by_run():
    """What a seed does to both values cancels: the spread is that of the differences, 1.9 to 2.1."""
    of_seeds, items = np.array([50.0, 60.0, 70.0]), np.zeros((3, 1000))
    first, second = (
        Runs(points, points[:, None] + items) for points in (of_seeds + np.array([1.9, 2.0, 2.1]), of_seeds)
    )
    compared = Comparison(*(Side(row="gran", key=key) for key in "ab"), 0.0)
    same, other = (
        _test([Numbers(first, frozenset(), ("gran-1",)), Numbers(second, frozenset(), (name,))], compared)
        for name in ("gran-1", "gran-2")
    )
    half = 4.303 * 0.1 / 3**0.5  # t of two degrees of freedom
    assert same[:3] == pytest.approx((2, 2 - half, 2 + half), abs=1e-3)
    assert other.difference == pytest.approx(2)
    assert other.high - other.low > 40


def test_run_without_replicates_has_the_deviations_of_the_others_of_its_row():
    """The seeds have one set of items: with errors of its own, their mean would be too exact."""
    draws = np.random.default_rng(1).standard_normal(1000)
    key = "finetune.sts.test.pearson"
    table = {"finetune.sts": [["test.pearson"], *[[float(each)] for each in 60 + draws]]}
    sampled, bare = Result("1.0", {key: 60.0}, table), Result("1.0", {key: 62.0})
    reader = _Reader(SimpleNamespace(kind="above", bound=0.0, items=100), None, None, None)
    values, over = reader._of_key(SimpleNamespace(configuration="avg-1", name="avg"), bare, key, [sampled, bare])
    assert over == RESAMPLED
    assert values == pytest.approx([62.0, *(62 + draws)])


@pytest.mark.parametrize(("column", "error", "over"), [("norm_error", 0.25, STANDARD), ("other", 0.0, UNKNOWN)])
def test_mean_of_an_analysis_has_its_error_over_items(column, error, over):
    """A run whose analysis has none has that of the others of its row: the items are the same."""
    table = [["label", "n", "norm", column], ["NN", 100, 20.0, 0.25]]
    result = Result("1.0", {}, {"gates": table})
    bare = Result("1.0", {}, {"gates": [row[:3] for row in table]})
    claim, run = SimpleNamespace(kind="above", bound=0.0, items=0), SimpleNamespace(configuration="gran-1", name="g")
    for each in (result, bare):
        (value, *replicates), found = _Reader(claim, None, None, None)._of_key(
            run, each, "gates[label=NN].norm", [result, bare]
        )
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
