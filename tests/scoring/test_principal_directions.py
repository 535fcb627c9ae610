"""Principal directions: the right singular vectors of NumPy, with a sign."""

import numpy as np
import pytest

from paraphrastic.scoring.principal_directions import principal_directions


@pytest.mark.parametrize("count", [0, 1, 3, 5, 9])
def test_right_singular_vectors(count):
    rows = np.random.default_rng(3).normal(size=(40, 5)) * [1, 2, 3, 4, 5]
    directions = principal_directions(rows.T @ rows, count)
    expected = np.linalg.svd(rows)[2][:count]
    assert directions.shape == (min(count, 5), 5)
    np.testing.assert_allclose(np.abs(directions), np.abs(expected), atol=1e-9)
    assert (directions.max(1, initial=0) >= -directions.min(1, initial=0)).all()
    np.testing.assert_allclose(directions @ directions.T, np.eye(len(directions)), atol=1e-9)
