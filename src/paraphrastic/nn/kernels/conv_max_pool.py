"""Convolution filters over characters with max pooling, without a matrix product per position.

The response of a filter F of width w at position t is `Σ_j F_j · x[t + j]`, j = 0 … w − 1. A batch has only about a
hundred distinct characters, so one small product `characters @ filters` yields F_j · x for every distinct x and all j.
A response is then a sum of w numbers that are looked up, where a convolution multiplies and adds w vectors.

Filters are ordered from the widest to the narrowest. The filters wider than j are then the first `reach[j]`, and the
projected table has, for j = 0, 1, …, a block of `reach[j]` columns: the contribution of a character at offset j of the
window to each of these filters. A sentence shorter than a filter is one window, in which missing characters contribute
nothing.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Generator, Tensor
from torch.nn.functional import pad

from paraphrastic.base.parallel import Array, njit
from paraphrastic.nn.layers import glorot_uniform


def filter_reach(filters: dict[int, int]) -> list[int]:
    """Return how many filters are wider than j, for j from 0 to the greatest width, from their numbers by width."""
    return [sum(count for width, count in filters.items() if width > j) for j in range(max(filters) + 1)]


def init_filters(filters: dict[int, int], dim: int, generator: Generator) -> Tensor:
    """Return initial weights of filters over vectors of size `dim`, (dim, Σ reach), Glorot-uniform for each width."""
    widths = sorted(filters.items(), reverse=True)
    blocks = [glorot_uniform(w * dim, count, generator).view(w, dim, count) for w, count in widths]
    return torch.cat([block[j] for j in range(widths[0][0]) for block in blocks if j < len(block)], 1)


def conv_max_pool(projected: Tensor, ids: Tensor, offsets: Tensor, reach: list[int]) -> Tensor:
    """Return the greatest response of each filter, widest first, in each sentence, (B, filters); zero if it is empty.

    Args:
        projected: (U, Σ reach) float, U input vectors (such as those of the distinct characters) times the filters.
        ids: (N,) int64, rows of `projected`.
        offsets: (B + 1,) int64; sentence i has `ids[offsets[i]:offsets[i + 1]]`.
        reach: from `filter_reach`.
    """
    if projected.device.type != "cpu" or projected.detach().sum().isnan():  # the loops would drop a NaN
        return reference(projected, ids, offsets, reach)
    return _conv_max_pool(projected, ids, offsets, reach)


def reference(projected: Tensor, ids: Tensor, offsets: Tensor, reach: list[int]) -> Tensor:
    """Compute `conv_max_pool` in plain torch, on any device, with all responses (N, filters) in memory."""
    lengths, positions = offsets.diff(), torch.arange(len(ids), device=ids.device)
    sentences = torch.repeat_interleave(lengths, output_size=len(ids))  # (N,)
    starts, ends = offsets[sentences], offsets[sentences + 1]
    # Two rows for characters beyond the end of the sentence: zeros in the first window, which may be shorter than the
    # filter, and −∞ in later windows, which must not leave the sentence.
    rows = pad(pad(projected, (0, 0, 0, 1)), (0, 0, 0, 1), value=-torch.inf)  # (U + 2, Σ reach)
    beyond = len(projected) + (positions > starts)
    responses = projected.new_zeros(len(ids), reach[0])  # (N, filters)
    for j, block in enumerate(rows.split(reach, 1)):
        row = torch.where(positions + j < ends, ids[(positions + j).clamp(max=len(ids) - 1)], beyond)
        responses = responses + pad(block.index_select(0, row), (0, reach[0] - reach[j]))
    best = responses.new_full((len(lengths), reach[0]), -torch.inf)  # (B, filters)
    best = best.scatter_reduce(0, sentences.unsqueeze(1).expand_as(responses), responses, "amax")
    return best.masked_fill(lengths.unsqueeze(1) == 0, 0)


class _ConvMaxPool(torch.autograd.Function):
    """One pass over the characters; the gradient of a maximum goes to the w table entries that it is the sum of."""

    @staticmethod
    def forward(ctx: Any, projected: Tensor, ids: Tensor, offsets: Tensor, reach: list[int]) -> Tensor:
        blocks = np.cumsum([0, *reach[:-1]])
        ctx.sentences, ctx.filters = (ids.numpy(), offsets.numpy()), (np.array(reach), blocks)
        best, ctx.argmax = _forward(projected.detach().numpy(), *ctx.sentences, *ctx.filters)
        ctx.shape = projected.shape
        return torch.from_numpy(best)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        out = grads[0].new_zeros(ctx.shape)
        scatter = *ctx.sentences, *ctx.filters, out.numpy()
        _backward(grads[0].contiguous().numpy(), ctx.argmax, *scatter)
        return out, None, None, None


_conv_max_pool: Callable[..., Tensor] = _ConvMaxPool.apply


@njit()
def _forward(projected: Array, ids: Array, offsets: Array, reach: Array, blocks: Array) -> tuple[Array, Array]:
    """Return the maxima (B, filters) and the first position of each; `blocks` are the first columns of the blocks.

    Its inner loops are functions, because the compiler vectorises them only there: four times as fast.
    """
    widest, filters = len(reach) - 1, reach[0]
    best = np.zeros((len(offsets) - 1, filters), projected.dtype)
    argmax = np.zeros(best.shape, np.int32)
    response = np.empty(filters, projected.dtype)
    for s in range(len(best)):
        start, end = offsets[s], offsets[s + 1]
        for t in range(start, end):
            first = 0 if t == start else reach[min(end - t, widest)]  # wider filters would leave the sentence
            _respond(projected, ids[t : min(t + widest, end)], first, reach, blocks, response)
            if t == start:
                best[s], argmax[s] = response, t
            _keep_maximum(response[first:], np.int32(t), best[s, first:], argmax[s, first:])
    return best, argmax


@njit()
def _respond(projected: Array, window: Array, first: int, reach: Array, blocks: Array, response: Array) -> None:
    """Write the responses of the filters from `first` on to the characters of a window."""
    for j in range(len(window)):
        row, out = projected[window[j], blocks[j] + first : blocks[j] + reach[j]], response[first:]
        for f in range(len(row)):
            out[f] = out[f] + row[f] if j else row[f]


@njit()
def _keep_maximum(response: Array, t: np.int32, best: Array, argmax: Array) -> None:
    for f in range(len(best)):
        better = response[f] > best[f]
        best[f] = response[f] if better else best[f]
        argmax[f] = t if better else argmax[f]


@njit()
def _backward(grad: Array, argmax: Array, ids: Array, offsets: Array, reach: Array, blocks: Array, out: Array) -> None:
    for s in range(len(grad)):
        end = offsets[s + 1]
        for j in range(min(end - offsets[s], len(reach) - 1)):
            for f in range(reach[j]):
                position = argmax[s, f] + j
                if position < end:
                    out[ids[position], blocks[j] + f] += grad[s, f]
