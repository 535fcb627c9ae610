"""Two-channel convolution over similar and dissimilar components: ldc2016 §3.3, Eq. 10.

A filter has separate weights for each channel, as in Kim (2014): `c_oi = tanh(w⁺_o * S⁺ + w⁻_o * S⁻ + b_o)`. The paper
writes w_o for both. With one set of weights the response would be `w_o * (S⁺ + S⁻) = w_o * S` for every decomposition,
because the two components always sum to S, and no feature would depend on the other sentence.

For the same reason `w⁺ * S⁺ + w⁻ * S⁻ = w⁻ * S + (w⁺ − w⁻) * S⁺`, and S⁺ is a sum of word vectors with the coefficients
of `nn.decomposition`. Both products are computed once for each distinct word of a batch. What remains for each word of
each pair is a weighted sum of a few rows (`kernels.row_mixture`).
"""

import torch
from torch import Generator, Tensor, nn
from torch.nn.functional import pad

from paraphrastic.nn.kernels.conv_max_pool import conv_max_pool, filter_reach, init_filters
from paraphrastic.nn.kernels.row_mixture import row_mixture
from paraphrastic.nn.precision import Matmul, MatmulDtype

Projections = tuple[Tensor, Tensor]  # of each distinct word: as a word, and as part of a similar component


class TwoChannelConv(nn.Module):
    """Features of a sentence, one per filter: `c_o = max_i tanh(w⁺_o * S⁺_i + w⁻_o * S⁻_i + b_o)` (Eq. 10).

    A sentence shorter than a filter is one window, in which missing words are zero.

    Args:
        dim: size of a word vector.
        filters: number of filters by width.
        generator: source of the initial weights.
        matmul_dtype: data type of the operands of matrix products in training.
    """

    def __init__(self, dim: int, filters: dict[int, int], generator: Generator, matmul_dtype: MatmulDtype) -> None:
        super().__init__()
        self._reach, self._matmul = filter_reach(filters), Matmul(matmul_dtype)
        self.filters = nn.Parameter(init_filters(filters, 2 * dim, generator))  # (2 dim, Σ reach): w⁺ above w⁻
        self.bias = nn.Parameter(torch.zeros(self._reach[0]))

    def project(self, words: Tensor) -> Projections:
        """Multiply the distinct words (U, dim) by w⁻ and by w⁺ − w⁻, (U, Σ reach) each."""
        similar, dissimilar = self.filters.chunk(2)
        return self._matmul(words, dissimilar), self._matmul(words, similar - dissimilar)

    def forward(
        self, projections: Projections, ids: Tensor, rows: Tensor, coefficients: Tensor, lengths: Tensor
    ) -> Tensor:
        """Return features (P, filters), widest filter first, of P sentences with N words in total.

        Args:
            projections: from `project`, for the words that `ids` and `rows` number.
            ids: (N,) int64, the words of the sentences.
            rows: (N, K) int64, words whose vectors make up the similar component of each word.
            coefficients: (N, K), their coefficients.
            lengths: (P,) int64, words of each sentence.
        """
        responses = row_mixture(*projections, ids, rows, coefficients)  # (N, Σ reach)
        positions = torch.arange(len(ids), device=ids.device)
        pooled = conv_max_pool(responses, positions, pad(lengths.cumsum(0), (1, 0)), self._reach)  # (P, filters)
        return torch.tanh(pooled + self.bias)  # bias and tanh are monotonic, so they can follow the maximum
