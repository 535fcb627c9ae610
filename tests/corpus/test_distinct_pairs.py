"""The number of distinct pairs, against a set of pairs."""

import numpy as np
import pyarrow as pa

from paraphrastic.corpus.raw_sources import DistinctPairs


def count(*tables):
    """Return the number of distinct pairs of tables of pairs of texts."""
    distinct = DistinctPairs()
    for pairs in tables:
        left, right = zip(*pairs, strict=True)
        distinct.add(pa.table({"text1": pa.chunked_array([left]), "text2": pa.chunked_array([right])}))
    return distinct.count()


def test_equal_pairs_in_either_order_and_in_several_tables():
    assert count([("a", "b"), ("b ", " a"), ("a", "c")], [("c", "a"), ("A", "b"), ("b.", "a")]) == 4


def test_no_pairs():
    assert count() == 0


def test_random_pairs():
    rows = np.random.default_rng(0).integers(60, size=(2000, 2))
    pairs = [(f"text {left}", f"text {right}") for left, right in rows]
    assert count(pairs[:700], pairs[700:]) == len({tuple(sorted(pair)) for pair in pairs})
