"""Cosines of pairs of rows, sparse or dense; 0 where a row is all zero."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

Rows = NDArray[np.integer]


def of_bags(bags: csr_array, left: Rows, right: Rows) -> NDArray[np.float32]:
    """Cosine of the rows `left` with the rows `right` of `bags` (n, units), (pairs,)."""
    norms = np.sqrt((bags * bags).sum(axis=1))
    products = (bags[left] * bags[right]).sum(axis=1)
    return (products / _one_for_zero(norms[left] * norms[right])).astype(np.float32)


def of_vectors(vectors: NDArray[np.float32], left: Rows, right: Rows) -> NDArray[np.float32]:
    """Cosine of the rows `left` with the rows `right` of `vectors` (n, dim), (pairs,)."""
    unit = unit_rows(vectors)
    return np.einsum("nd,nd->n", unit[left], unit[right])


def unit_rows(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """The rows of (n, dim) scaled to length 1; zero stays zero."""
    return vectors / _one_for_zero(np.linalg.norm(vectors, axis=1, keepdims=True))


def _one_for_zero(scale: NDArray[Any]) -> NDArray[Any]:
    return np.where(scale > 0, scale, 1)
