"""Rows of one table plus weighted sums of a few rows of another, with gradients."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from paraphrastic.base.parallel import njit
from paraphrastic.nn.kernels import FASTMATH

Array = NDArray[Any]


def row_mixture(base: Tensor, parts: Tensor, ids: Tensor, rows: Tensor, weights: Tensor) -> Tensor:
    """Return `out[n] = base[ids[n]] + Σ_k weights[n, k] · parts[rows[n, k]]`.

    Args:
        base: (U, F) float.
        parts: (U, F) in the data type of `base`.
        ids: (N,) int64, rows of `base`.
        rows: (N, K) int64, rows of `parts`.
        weights: (N, K) in the data type of `base`.

    Returns:
        (N, F).
    """
    if base.device.type != "cpu":
        return reference(base, parts, ids, rows, weights)
    return _row_mixture(base, parts, ids, rows, weights)


def reference(base: Tensor, parts: Tensor, ids: Tensor, rows: Tensor, weights: Tensor) -> Tensor:
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


@njit(fastmath=FASTMATH, cache=True)
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


@njit(fastmath=FASTMATH, cache=True)
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
