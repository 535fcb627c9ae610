"""Cosines of vectors, and principal directions: the right singular vectors of NumPy, with a sign."""

import numpy as np
import pytest

from paraphrastic.scoring.scorer import cosine_of_vectors, normalize_rows, principal_directions


def test_cosines_and_normalized_rows_worked_by_hand():
    vectors = np.array([[3, 4], [4, 3], [-3, -4], [0, 0]], np.float32)
    scores = cosine_of_vectors(vectors, np.array([0, 0, 0, 3]), np.array([1, 2, 3, 3]))
    np.testing.assert_allclose(scores, [24 / 25, -1, 0, 0], atol=1e-6)
    np.testing.assert_allclose(normalize_rows(np.array([[3, 4], [0, 0]], np.float32)), [[0.6, 0.8], [0, 0]])


def test_cosine_of_a_row_with_itself_is_1():
    rows = np.vstack([np.random.default_rng(0).normal(size=(99, 300)), np.zeros((1, 300))]).astype(np.float32)
    numbers = np.arange(100)
    assert cosine_of_vectors(rows, numbers, numbers).tolist() == [1.0] * 99 + [0.0]
    assert cosine_of_vectors(rows, numbers, numbers).dtype == np.float32


@pytest.mark.parametrize("scale", [1e30, 1e-30])
def test_rows_whose_squares_float32_does_not_hold(scale):
    rows = np.array([[3, 4], [0, 0], [3 * scale, 4 * scale]], np.float32)
    with np.errstate(all="raise", under="ignore"):
        unit = normalize_rows(rows)
    np.testing.assert_allclose(unit, [[0.6, 0.8], [0, 0], [0.6, 0.8]], rtol=1e-6)
    np.testing.assert_array_equal(unit[0], normalize_rows(rows[:1])[0])
    assert rows[2, 0] == np.float32(3 * scale)


@pytest.mark.parametrize("count", [0, 1, 3, 5, 9])
def test_right_singular_vectors(count):
    rows = np.random.default_rng(3).normal(size=(40, 5)) * [1, 2, 3, 4, 5]
    directions = principal_directions(rows.T @ rows, count)
    expected = np.linalg.svd(rows)[2][:count]
    assert directions.shape == (min(count, 5), 5)
    np.testing.assert_allclose(np.abs(directions), np.abs(expected), atol=1e-9)
    assert (directions.max(1, initial=0) >= -directions.min(1, initial=0)).all()
    np.testing.assert_allclose(directions @ directions.T, np.eye(len(directions)), atol=1e-9)
