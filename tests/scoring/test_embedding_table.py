"""Embedding tables of float16 and int8: their sums against plain NumPy, and how far they are from float32."""

import itertools

import numpy as np
import pytest

from paraphrastic.scoring.embedding_table import EmbeddingTable
from paraphrastic.scoring.table_format import FORMATS

RANDOM = np.random.default_rng(1)
VALUES = RANDOM.normal(size=(50, 17)).astype(np.float32) * 10.0 ** RANDOM.integers(-3, 3, (50, 1)).astype(np.float32)
IDS, OFFSETS = RANDOM.integers(0, 50, 200), np.array([0, 0, 7, 7, 120, 200])
WEIGHTS = RANDOM.random(200).astype(np.float32)


@pytest.mark.parametrize("table_format", FORMATS)
def test_sums_of_rows(table_format):
    table = EmbeddingTable(VALUES).in_format(table_format)
    rows = table.values.astype(np.float64)[IDS] * WEIGHTS[:, None]
    if table_format == "int8":
        rows *= table.scales.astype(np.float64)[IDS, None]
    wanted = [rows[start:end].sum(0) for start, end in itertools.pairwise(OFFSETS)]
    found = table.sums(IDS, OFFSETS, WEIGHTS)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-3)


def test_every_finite_half_number():
    halves = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    halves = halves[np.isfinite(halves)].reshape(-1, 2)
    sums = EmbeddingTable(halves).sums(np.arange(len(halves)), np.arange(len(halves) + 1), np.ones(len(halves), "f4"))
    np.testing.assert_array_equal(sums, halves.astype(np.float32))


def test_int8_is_within_half_a_step_of_each_number():
    table = EmbeddingTable(VALUES).in_format("int8")
    step = np.abs(VALUES).max(1, keepdims=True) / 127
    assert (np.abs(table.array() - VALUES) <= 0.5001 * step).all()
    assert np.abs(table.values.astype(int)).max(1).tolist() == [127] * 50


@pytest.mark.parametrize("table_format", FORMATS)
def test_rows_of_zeros(table_format):
    assert not EmbeddingTable(np.zeros((3, 4), np.float32)).in_format(table_format).array().any()


def test_array_and_rows():
    table = EmbeddingTable(VALUES)
    assert table.array() is VALUES
    assert table.in_format("float32") is table
    packed = table.in_format("int8")
    np.testing.assert_array_equal(packed.rows(np.array([4, 1])).array(), packed.array()[[4, 1]])
    np.testing.assert_array_equal(packed.take(np.array([4, 1])), packed.array()[[4, 1]])
    assert packed.in_format("float32").format == "float32"


@pytest.mark.parametrize(
    ("values", "scales"),
    [
        (np.zeros((2, 3), np.int8), None),
        (np.zeros((2, 3), np.int8), np.zeros(3, np.float32)),
        (np.zeros((2, 3), np.float32), np.zeros(2, np.float32)),
        (np.zeros((2, 3), np.float64), None),
        (np.zeros(3, np.float32), None),
    ],
)
def test_arrays_that_are_no_table(values, scales):
    with pytest.raises(ValueError, match="no embedding table"):
        EmbeddingTable(values, scales)
