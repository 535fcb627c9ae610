"""Weighted sums of rows of a table with their gradient: one per sentence, and mixtures of the rows of two tables.

`bag_sum` is `torch.nn.functional.embedding_bag`, whose own backward pass takes two to four times as long on the CPU as
the one here. This sum is all that averaging and n-gram models compute.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import embedding_bag

from paraphrastic.base.parallel import FASTMATH, Array, njit


def bag_sum(table: Tensor, ids: Tensor, offsets: Tensor, weights: Tensor) -> Tensor:
    """Return `out[i] = Σ_n weights[n] · table[ids[n]]` over n in `offsets[i]:offsets[i + 1]`, (B, dim).

    Args:
        table: (rows, dim) float.
        ids: (N,) int64, rows of `table`.
        offsets: (B + 1,) int64.
        weights: (N,) in the data type of `table`; they receive no gradient.
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


@njit()
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


def row_mixture(base: Tensor, parts: Tensor, ids: Tensor, rows: Tensor, weights: Tensor) -> Tensor:
    """Return `out[n] = base[ids[n]] + Σ_k weights[n, k] · parts[rows[n, k]]`, (N, F).

    Tables, (U, F), and weights, (N, K), have one data type; ids, (N,), and rows, (N, K), are int64.
    """
    if base.device.type != "cpu":
        return reference_mixture(base, parts, ids, rows, weights)
    return _row_mixture(base, parts, ids, rows, weights)


def reference_mixture(base: Tensor, parts: Tensor, ids: Tensor, rows: Tensor, weights: Tensor) -> Tensor:
    """Compute `row_mixture` in plain torch, on any device: a product with the dense (N, U) matrix of weights."""
    places = torch.arange(len(ids), device=ids.device).unsqueeze(1).expand_as(rows)
    dense = weights.new_zeros(len(ids), len(parts)).index_put((places, rows), weights, accumulate=True)
    return base.index_select(0, ids) + dense @ parts


class _RowMixture(torch.autograd.Function):
    """Loops over the K rows of each n, where the reference multiplies a matrix that is mostly zero."""

    @staticmethod
    def forward(ctx: Any, base: Tensor, parts: Tensor, ids: Tensor, rows: Tensor, weights: Tensor) -> Tensor:
        ctx.mixture = parts.detach().numpy(), ids.numpy(), rows.numpy(), weights.detach().numpy()
        return torch.from_numpy(_mix(base.detach().numpy(), *ctx.mixture))

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        d_base, d_parts, d_weights = map(torch.from_numpy, _gradients(grads[0].contiguous().numpy(), *ctx.mixture))
        return d_base, d_parts, None, None, d_weights


_row_mixture: Callable[..., Tensor] = _RowMixture.apply


@njit(fastmath=FASTMATH)
def _mix(base: Array, parts: Array, ids: Array, rows: Array, weights: Array) -> Array:
    out = np.empty((len(ids), base.shape[1]), base.dtype)
    for n in range(len(ids)):
        out[n] = base[ids[n]]
        for k in range(rows.shape[1]):
            weight, part = weights[n, k], parts[rows[n, k]]
            if weight != 0:
                for f in range(len(part)):
                    out[n, f] += weight * part[f]
    return out


@njit(fastmath=FASTMATH)
def _gradients(grad: Array, parts: Array, ids: Array, rows: Array, weights: Array) -> tuple[Array, Array, Array]:
    """Return the gradients of `base`, `parts` and `weights`.

    `grad` comes from a maximum over the words of a sentence, so that it is zero nearly everywhere: the columns with a
    gradient are collected first, and only they are visited.
    """
    d_base, d_parts, d_weights = np.zeros_like(parts), np.zeros_like(parts), np.zeros_like(weights)
    columns = np.empty(grad.shape[1], np.int64)
    for n in range(len(ids)):
        count = 0
        for f in range(grad.shape[1]):
            columns[count] = f
            count += grad[n, f] != 0
        for f in columns[:count]:
            d_base[ids[n], f] += grad[n, f]
        for k in range(rows.shape[1]):
            row, weight, slope = rows[n, k], weights[n, k], grad.dtype.type(0)
            for f in columns[:count]:
                d_parts[row, f] += weight * grad[n, f]
                slope += grad[n, f] * parts[row, f]
            d_weights[n, k] = slope
    return d_base, d_parts, d_weights
