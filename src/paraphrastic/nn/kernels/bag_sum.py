"""Weighted sums of embedding rows, one per sentence, with their gradient.

The sum is `torch.nn.functional.embedding_bag`. Its own backward pass takes two to four times as long on the CPU as the
one here, and this sum is all that averaging and n-gram models compute.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import embedding_bag

from paraphrastic.base.parallel import njit

Array = NDArray[Any]


def bag_sum(table: Tensor, ids: Tensor, offsets: Tensor, weights: Tensor) -> Tensor:
    """Return `out[i] = Σ_n weights[n] · table[ids[n]]` over n in `offsets[i]:offsets[i + 1]`; 0 for an empty bag.

    Args:
        table: (rows, dim) float.
        ids: (N,) int64, rows of `table`.
        offsets: (B + 1,) int64.
        weights: (N,) in the data type of `table`; they receive no gradient.

    Returns:
        (B, dim).
    """
    return (_bag_sum if table.device.type == "cpu" else _sum)(table, ids, offsets, weights)


def _sum(table: Tensor, ids: Tensor, offsets: Tensor, weights: Tensor) -> Tensor:
    return embedding_bag(ids, table, offsets, mode="sum", per_sample_weights=weights, include_last_offset=True)


class _BagSum(torch.autograd.Function):
    """With S the sparse matrix of the weights, (B, rows): `out = S table`, hence `∂L/∂table = Sᵀ ∂L/∂out`."""

    @staticmethod
    def forward(ctx: Any, table: Tensor, ids: Tensor, offsets: Tensor, weights: Tensor) -> Tensor:
        ctx.matrix, ctx.rows = (ids, offsets, weights), len(table)
        return _sum(table, *ctx.matrix)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        ids, offsets, weights = (tensor.numpy() for tensor in ctx.matrix)
        transposed = map(torch.from_numpy, _transpose(ids, offsets, weights, ctx.rows))
        return _sum(grads[0].contiguous(), *transposed), None, None, None


_bag_sum: Callable[..., Tensor] = _BagSum.apply


@njit(cache=True)
def _transpose(ids: Array, offsets: Array, weights: Array, rows: int) -> tuple[Array, Array, Array]:
    """Transpose a sparse matrix in CSR format by a counting sort; sentences stay in order within a row."""
    starts = np.zeros(rows + 1, np.int64)
    for row in ids:
        starts[row + 1] += 1
    starts = np.cumsum(starts)
    free, bags, by_row = starts.copy(), np.empty_like(ids), np.empty_like(weights)
    for bag in range(len(offsets) - 1):
        for n in range(offsets[bag], offsets[bag + 1]):
            at = free[ids[n]]
            bags[at], by_row[at] = bag, weights[n]
            free[ids[n]] += 1
    return bags, starts, by_row
