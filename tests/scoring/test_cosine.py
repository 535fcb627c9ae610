"""Cosine similarity of dense and sparse rows."""

import numpy as np
import pytest

from paraphrastic.scoring.cosine import cosine_of_sparse_rows, cosine_of_vectors, normalize_rows
from paraphrastic.text.columns import Ragged
from tests.helpers.pair_scores import cosines

ROWS, COLUMNS = 30, 12
LEFT, RIGHT = (rows.ravel() for rows in np.indices((ROWS, ROWS)))


def random_rows(density: float) -> np.ndarray:
    """Return a matrix (ROWS, COLUMNS) of which a share `density` is positive, with a first row of zeros."""
    rng = np.random.default_rng(0)
    dense = rng.uniform(0.1, 9, (ROWS, COLUMNS)) * (rng.random((ROWS, COLUMNS)) < density)
    dense[0] = 0
    return dense


def to_ragged(dense: np.ndarray) -> tuple[Ragged, np.ndarray]:
    """Return the positive columns of each row, and the values there."""
    row, column = np.nonzero(dense)
    offsets = np.searchsorted(row, np.arange(ROWS + 1))
    return Ragged(column.astype(np.int32), offsets), dense[row, column]


@pytest.mark.parametrize("density", [0.0, 0.1, 0.5, 1.0])
def test_cosine_of_sparse_rows_against_dense_rows(density):
    dense = random_rows(density)
    scores = cosine_of_sparse_rows(*to_ragged(dense), LEFT, RIGHT)
    assert scores.dtype == np.float32
    np.testing.assert_allclose(scores, cosines(dense), atol=1e-6)


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.uint16])
def test_cosine_of_sparse_rows_with_rows_of_any_integer_type(dtype):
    dense = random_rows(0.5)
    left, right = np.array([1, 2], dtype), np.array([1, 3], dtype)
    scores = cosine_of_sparse_rows(*to_ragged(dense), left, right)
    np.testing.assert_allclose(scores, cosines(dense).reshape(ROWS, ROWS)[left, right], atol=1e-6)


def test_cosine_of_sparse_rows_of_no_pairs():
    nothing = np.array([], np.int64)
    assert cosine_of_sparse_rows(*to_ragged(random_rows(0.5)), nothing, nothing).shape == (0,)


def test_cosine_of_vectors_worked_by_hand():
    vectors = np.array([[3, 4], [4, 3], [-3, -4], [0, 0]], np.float32)
    scores = cosine_of_vectors(vectors, np.array([0, 0, 0, 3]), np.array([1, 2, 3, 3]))
    np.testing.assert_allclose(scores, [24 / 25, -1, 0, 0], atol=1e-6)


def test_normalize_rows_with_zero_row():
    np.testing.assert_allclose(normalize_rows(np.array([[3, 4], [0, 0]], np.float32)), [[0.6, 0.8], [0, 0]])
