"""Cosine similarity of rows, dense or sparse; 0 if a row is zero."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from paraphrastic.base.parallel import njit
from paraphrastic.scoring.scorer import Rows, Scores, Vectors
from paraphrastic.text.columns import Ragged


def cosine_of_vectors(vectors: Vectors, left: Rows, right: Rows) -> Scores:
    """Return the cosine of the rows `left` with the rows `right` of `vectors` (n, dim), (pairs,)."""
    unit = normalize_rows(vectors)
    cosines: Scores = np.einsum("nd,nd->n", unit[left], unit[right])
    return cosines


def cosine_of_sparse_rows(sentences: Ragged, values: NDArray[np.float64], left: Rows, right: Rows) -> Scores:
    """Return the cosine of sparse rows, (pairs,).

    Args:
        sentences: n sentences with distinct, ascending ids: the columns of each row that are not zero.
        values: (N,), the value at each id.
        left: (pairs,), first row of each pair.
        right: (pairs,), second row.
    """
    squares = np.concatenate([[0.0], np.cumsum(values * values)])
    norms = np.sqrt(np.diff(squares[sentences.offsets]))
    products = _dot(sentences.ids, sentences.offsets, values, left.astype(np.int64), right.astype(np.int64))
    cosines: Scores = (products / _one_for_zero(norms[left] * norms[right])).astype(np.float32)
    return cosines


def normalize_rows(vectors: Vectors) -> Vectors:
    """Scale the rows of (n, dim) to length 1; a zero row stays zero."""
    unit: Vectors = vectors / _one_for_zero(np.linalg.norm(vectors, axis=1, keepdims=True))
    return unit


def _one_for_zero(scale: NDArray[Any]) -> NDArray[Any]:
    return np.where(scale > 0, scale, 1)


@njit(cache=True)
def _dot(
    ids: NDArray[np.int32],
    offsets: NDArray[np.int64],
    values: NDArray[np.float64],
    left: NDArray[np.int64],
    right: NDArray[np.int64],
) -> NDArray[np.float64]:
    """Multiply pairs of sparse rows by merging their ascending ids."""
    out = np.zeros(len(left))
    for pair in range(len(left)):
        a, b = offsets[left[pair]], offsets[right[pair]]
        end_a, end_b = offsets[left[pair] + 1], offsets[right[pair] + 1]
        while a < end_a and b < end_b:
            if ids[a] == ids[b]:
                out[pair] += values[a] * values[b]
            step_a, step_b = ids[a] <= ids[b], ids[b] <= ids[a]
            a += step_a
            b += step_b
    return out
