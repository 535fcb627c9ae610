"""Two-channel convolution over similar and dissimilar components: ldc2016 §3.3, Eq. 10.

A filter has a slice for each channel, as in Kim (2014): `c_oi = tanh(w⁺_o * S⁺ + w⁻_o * S⁻ + b_o)`. The paper writes
w_o for both slices. With a single one, a response would be `w_o * (S⁺ + S⁻) = w_o * S` for each of its
decompositions, which all sum to S: no feature would depend on the other sentence. So its two channels can only mean
two slices.

For the same reason `w⁺ * S⁺ + w⁻ * S⁻ = w⁻ * S + (w⁺ − w⁻) * S⁺`, and S⁺ is a sum of word vectors with the
coefficients of `decomposition`. Both products are taken once for each distinct word of a batch; what is left for each
word of each pair is a sum of a few rows of them.
"""

from typing import Any

import numpy as np
import torch
from numba import njit
from numpy.typing import NDArray
from torch import Generator, Tensor, nn
from torch.nn.functional import pad

from paraphrastic.encoding.filters import drawn, maxima, reach_of
from paraphrastic.encoding.products import Reducible

Array = NDArray[Any]


@njit(fastmath=True, cache=True)
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


@njit(fastmath=True, cache=True)
def _unmix(grad: Array, parts: Array, ids: Array, rows: Array, weights: Array) -> tuple[Array, Array, Array]:
    """Gradients of what was mixed; that of a maximum is zero nearly everywhere, which is what is skipped first."""
    base, into, slopes = np.zeros_like(parts), np.zeros_like(parts), np.zeros_like(weights)
    found = np.empty(grad.shape[1], np.int64)
    for n in range(len(ids)):
        some = 0
        for f in range(grad.shape[1]):
            found[some] = f
            some += grad[n, f] != 0
        for f in found[:some]:
            base[ids[n], f] += grad[n, f]
        for k in range(rows.shape[1]):
            row, weight, slope = rows[n, k], weights[n, k], grad.dtype.type(0)
            for f in found[:some]:
                into[row, f] += weight * grad[n, f]
                slope += grad[n, f] * parts[row, f]
            slopes[n, k] = slope
    return base, into, slopes


class _Mixed(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, base: Tensor, parts: Tensor, ids: Tensor, rows: Tensor, weights: Tensor) -> Tensor:
        ctx.mix = parts.detach().numpy(), ids.numpy(), rows.numpy(), weights.detach().numpy()
        return torch.from_numpy(_mix(base.detach().numpy(), *ctx.mix))

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        base, into, slopes = map(torch.from_numpy, _unmix(grads[0].contiguous().numpy(), *ctx.mix))
        return base, into, None, None, slopes


def _multiplied(base: Tensor, parts: Tensor, ids: Tensor, rows: Tensor, weights: Tensor) -> Tensor:
    """What `mixed` says, as a product of whole matrices."""
    places = torch.arange(len(ids), device=ids.device).unsqueeze(1).expand_as(rows)
    shares = weights.new_zeros(len(ids), len(parts)).index_put((places, rows), weights, accumulate=True)
    return base.index_select(0, ids) + shares @ parts


def mixed(base: Tensor, parts: Tensor, ids: Tensor, rows: Tensor, weights: Tensor) -> Tensor:
    """`out[n] = base[ids[n]] + Σ_k weights[n, k] · parts[rows[n, k]]`.

    Args:
        base: (U, F) float.
        parts: (U, F) of the same type.
        ids: (N,) int64, rows of `base`.
        rows: (N, K) int64, rows of `parts`.
        weights: (N, K) of the tables' type.

    Returns:
        (N, F).
    """
    of_device = _Mixed.apply if base.device.type == "cpu" else _multiplied
    return of_device(base, parts, ids, rows, weights)


class TwoChannels(Reducible):
    """Features of a sentence, one per filter: `c_o = max_i tanh(w⁺_o * S⁺_i + w⁻_o * S⁻_i + b_o)` (Eq. 10).

    A sentence shorter than a filter is one patch, in which missing words are zero, alone and in any batch.

    Args:
        dim: of word vectors.
        filters: how many there are of each width.
        generator: source of the weights.
        reduced: whether products are rounded in training.
    """

    def __init__(self, dim: int, filters: dict[int, int], generator: Generator, reduced: bool) -> None:
        super().__init__(reduced)
        self._reach = reach_of(filters)
        self.filters = nn.Parameter(drawn(filters, 2 * dim, generator))  # (2 dim, columns): w⁺ above w⁻
        self.bias = nn.Parameter(torch.zeros(self._reach[0]))

    def project(self, words: Tensor) -> tuple[Tensor, Tensor]:
        """What each of the words (U, dim) adds to the responses as a word, and as a similar component."""
        similar, dissimilar = self.filters.chunk(2)
        return self.product(words, dissimilar), self.product(words, similar - dissimilar)

    def forward(
        self, projected: tuple[Tensor, Tensor], ids: Tensor, rows: Tensor, weights: Tensor, lengths: Tensor
    ) -> Tensor:
        """Features (P, filters), widest first, of P sentences with N words.

        Args:
            projected: what `project` gave for the words that `ids` and `rows` number.
            ids: (N,) int64, the sentences' words.
            rows: (N, K) int64, whose vectors make up the similar component of each word.
            weights: (N, K) and in which proportion.
            lengths: (P,) int64, words of each sentence.
        """
        responses = mixed(*projected, ids, rows, weights)
        places = torch.arange(len(ids), device=ids.device)
        # bias and tanh leave the order of responses as it is, so that they can wait for the maximum
        return torch.tanh(maxima(responses, places, pad(lengths.cumsum(0), (1, 0)), self._reach) + self.bias)
