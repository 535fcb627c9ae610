"""Convolution filters over characters, pooled by their maximum, without a matrix product per position.

What a filter of width w finds at position t is `Σ_j F_j · x[t + j]`, and a batch has about a hundred distinct
characters x. So one small product projects each of them onto every F_j, and a response is the sum of w
numbers looked up there: no arithmetic per position but additions, a hundred times fewer than products take.

Filters stand widest first. Those wider than j are then the first `reach[j]`, and the projected table has for
j = 0, 1, … a block of `reach[j]` columns: what a character at offset j in its window adds to each of them. A
sentence shorter than a filter is one window, in which missing characters count for nothing.
"""

from typing import Any

import numpy as np
import torch
from numba import njit
from numpy.typing import NDArray
from torch import Generator, Tensor
from torch.nn.functional import pad

from paraphrastic.encoding.weights import glorot

Array = NDArray[Any]


def reach_of(filters: dict[int, int]) -> list[int]:
    """How many filters are wider than j, for j from 0 to the greatest width, from how many there are of each width."""
    return [sum(many for width, many in filters.items() if width > j) for j in range(max(filters) + 1)]


def drawn(filters: dict[int, int], dim: int, generator: Generator) -> Tensor:
    """Weights of filters to start from, (dim, Σ reach), from how many there are of each width."""
    widths = sorted(filters.items(), reverse=True)
    blocks = [glorot(w * dim, many, generator).view(w, dim, many) for w, many in widths]
    return torch.cat([block[j] for j in range(widths[0][0]) for block in blocks if j < len(block)], 1)


@njit(cache=True)
def _maxima(projected: Array, ids: Array, offsets: Array, reach: Array, blocks: Array) -> tuple[Array, Array]:
    """Maxima (B, filters), and in which position each is reached first; `blocks`: where each starts in `projected`."""
    widest, filters = len(reach) - 1, reach[0]
    best = np.zeros((len(offsets) - 1, filters), projected.dtype)
    at = np.zeros(best.shape, np.int32)
    response = np.empty(filters, projected.dtype)
    for s in range(len(best)):
        start, end = offsets[s], offsets[s + 1]
        for t in range(start, end):
            first = 0 if t == start else reach[min(end - t, widest)]  # wider ones would leave the sentence
            _respond(projected, ids[t : min(t + widest, end)], first, reach, blocks, response)
            if t == start:
                best[s], at[s] = response, t
            _keep(response[first:], np.int32(t), best[s, first:], at[s, first:])
    return best, at


@njit(cache=True)
def _respond(projected: Array, window: Array, first: int, reach: Array, blocks: Array, response: Array) -> None:
    """Write the responses of the filters from `first` on to the characters of a window."""
    for j in range(len(window)):
        row, out = projected[window[j], blocks[j] + first : blocks[j] + reach[j]], response[first:]
        for f in range(len(row)):
            out[f] = out[f] + row[f] if j else row[f]


@njit(cache=True)
def _keep(response: Array, t: np.int32, best: Array, at: Array) -> None:
    for f in range(len(best)):
        better = response[f] > best[f]
        best[f] = response[f] if better else best[f]
        at[f] = t if better else at[f]


@njit(cache=True)
def _scatter(grad: Array, at: Array, ids: Array, offsets: Array, reach: Array, blocks: Array, out: Array) -> None:
    """Add the gradient of each maximum to the entries of the projected table that it is the sum of."""
    for s in range(len(grad)):
        end = offsets[s + 1]
        for j in range(min(end - offsets[s], len(reach) - 1)):
            for f in range(reach[j]):
                place = at[s, f] + j
                if place < end:
                    out[ids[place], blocks[j] + f] += grad[s, f]


class _Maxima(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, projected: Tensor, ids: Tensor, offsets: Tensor, reach: list[int]) -> Tensor:
        blocks = np.cumsum([0, *reach[:-1]])
        ctx.batch, ctx.filters = (ids.numpy(), offsets.numpy()), (np.array(reach), blocks)
        best, ctx.at = _maxima(projected.detach().numpy(), *ctx.batch, *ctx.filters)
        ctx.shape = projected.shape
        return torch.from_numpy(best)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        out = grads[0].new_zeros(ctx.shape)
        _scatter(grads[0].contiguous().numpy(), ctx.at, *ctx.batch, *ctx.filters, out.numpy())
        return out, None, None, None


def _gathered(projected: Tensor, ids: Tensor, offsets: Tensor, reach: list[int]) -> Tensor:
    """What `maxima` says, as operations on whole arrays (N, filters)."""
    lengths, places = offsets.diff(), torch.arange(len(ids), device=ids.device)
    sentences = torch.repeat_interleave(lengths, output_size=len(ids))
    starts, ends = offsets[sentences], offsets[sentences + 1]
    rows = pad(pad(projected, (0, 0, 0, 1)), (0, 0, 0, 1), value=-torch.inf)  # two more, for missing characters:
    missing = len(projected) + (places > starts)  # they count for nothing in a first window, rule out a later one
    responses = projected.new_zeros(len(ids), reach[0])
    for j, block in enumerate(rows.split(reach, 1)):
        row = torch.where(places + j < ends, ids[(places + j).clamp(max=len(ids) - 1)], missing)
        responses = responses + pad(block.index_select(0, row), (0, reach[0] - reach[j]))
    best = responses.new_full((len(lengths), reach[0]), -torch.inf)
    best = best.scatter_reduce(0, sentences.unsqueeze(1).expand_as(responses), responses, "amax")
    return best.masked_fill(lengths.unsqueeze(1) == 0, 0)


def maxima(projected: Tensor, ids: Tensor, offsets: Tensor, reach: list[int]) -> Tensor:
    """The greatest response of each filter in each sentence; zero for an empty sentence.

    Args:
        projected: (U, Σ reach) float, the distinct characters in the columns that this module describes.
        ids: (N,) int64, rows of `projected`.
        offsets: (B + 1,) int64; sentence i has `ids[offsets[i]:offsets[i + 1]]`.
        reach: what `reach_of` gives for the filters.

    Returns:
        (B, filters), widest first.
    """
    of_device = _Maxima.apply if projected.device.type == "cpu" else _gathered
    return of_device(projected, ids, offsets, reach)
