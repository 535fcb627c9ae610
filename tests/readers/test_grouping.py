"""Connected components, and pairs within groups."""

from collections import Counter
from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest

from paraphrastic.readers.grouping import components, pairs_within, round_robin


def test_components():
    left, right = np.array([0, 4, 2, 5, 7]), np.array([1, 5, 0, 6, 7])
    component = components(left, right)
    assert component[0] == component[2]
    assert component[1] == component[3]
    assert len(set(component)) == 3


@pytest.mark.parametrize("size", range(9))
def test_round_robin_has_all_pairs_in_rounds(size: int):
    pairs = [tuple(pair) for pair in round_robin(size).tolist()]
    assert sorted(pairs) == list(combinations(range(size), 2))
    for start in range(0, len(pairs), max(size // 2, 1)):
        met = Counter(player for pair in pairs[start : start + size // 2] for player in pair)
        assert set(met.values()) <= {1}


def test_pairs_within_groups():
    texts = pa.array(["A cat.", "b", "a cat", "c", "", "x", "y", "alone", "x"])
    group = np.array([3, 3, 3, 3, 3, 1, 1, 0, 9])
    left, right = pairs_within(group, texts, 100)
    pairs = [(group[i], *sorted((texts[i].as_py(), texts[j].as_py()))) for i, j in zip(left, right, strict=True)]
    assert pairs[0] == (1, "x", "y")
    assert sorted(pairs[1:]) == [(3, "A cat.", "b"), (3, "A cat.", "c"), (3, "b", "c")]


def test_few_pairs_of_a_group_have_many_sentences():
    texts = pa.array([f"{group} {i}" for group in range(3) for i in range(20)])
    group = np.repeat(np.arange(3), 20)
    left, right = pairs_within(group, texts, 10)
    assert sorted([*left, *right]) == list(range(60))
    assert len({tuple(left[group[left] == i] % 20) for i in range(3)}) == 3  # another order in each group


def test_no_pairs_within_groups():
    left, right = pairs_within(np.zeros(2, int), pa.array(["a", "A"]), 5)
    assert len(left) == len(right) == 0
