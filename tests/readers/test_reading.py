"""Limits of the scores of pairs."""

import pyarrow as pa
import pytest

from paraphrastic.base.errors import DataError
from paraphrastic.readers.reading import PASS_ALL, PairFilter

SCORES = pa.array([1.0, None, 2.0, 3.0, float("nan")], pa.float64())


@pytest.mark.parametrize(
    ("limits", "accepted"),
    [
        ({}, [True, True, True, True, False]),
        ({"min_score": 2.0}, [False, False, True, True, False]),
        ({"max_score": 2.0}, [True, False, True, False, False]),
        ({"min_score": 1.5, "max_score": 2.5}, [False, False, True, False, False]),
    ],
)
def test_scores_within_limits(limits, accepted):
    wanted = PairFilter(**limits)
    assert wanted.accepts_scores(SCORES).to_pylist() == accepted
    assert wanted.is_active == wanted.limits_scores == bool(limits)


def test_relations_of_a_source_that_has_none():
    PASS_ALL.check_source_without_relations("x.gz")
    wanted = PairFilter(relations=("Equivalence",))
    assert wanted.is_active
    with pytest.raises(DataError, match=r"^x\.gz: has no entailment relations, only PPDB 2\.0 has; empty"):
        wanted.check_source_without_relations("x.gz")
