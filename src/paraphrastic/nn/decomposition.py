"""Lexical decomposition and composition of padded batches of pairs: ldc2016 §3, Eq. 5–10.

Every similar component is a sum of word vectors, `s⁺_i = Σ_k c_ik x_k`. In the orthogonal decomposition the x_k are
words of the other sentence; in the rigid and linear ones the only x is s_i itself. The dissimilar component is always
`s⁻_i = s_i − s⁺_i`. A decomposition is therefore represented by the coefficients c and the words x, and everything that
is linear in s⁺ can be computed once per distinct word instead of once per word of each pair.

Cases that Eq. 5–9 leave open are decided as follows.

* The cosine with a zero vector is 0. All coefficients of a word against an empty sentence are 0.
* Eq. 8 and 9 have the same result for ŝ and for any positive multiple of ŝ, so only the sign of the denominator of
  Eq. 6 matters: `ŝ = sign(Σ a) · Σ a t`, without a division. If Σ a = 0, ŝ does not exist and s⁺ = 0.
* Of several equal maxima, k is the first. The same word is more similar than any other word. Both are decided by
  comparing words, not rounded cosines, so that they do not depend on the batch.

The convolution has two channels, similar and dissimilar components (§3.3, Eq. 10). A filter has separate weights for
each channel, as in Kim (2014): `c_oi = tanh(w⁺_o * S⁺ + w⁻_o * S⁻ + b_o)`. The paper writes w_o for both. With one set
of weights the response would be `w_o * (S⁺ + S⁻) = w_o * S` for every decomposition, because the two components always
sum to S, and no feature would depend on the other sentence. For the same reason
`w⁺ * S⁺ + w⁻ * S⁻ = w⁻ * S + (w⁺ − w⁻) * S⁺`. Both products are computed once for each distinct word of a batch. What
remains for each word of each pair is a weighted sum of a few rows (`row_mixture`).
"""

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Generator, Tensor, nn
from torch.nn.functional import pad

from paraphrastic.nn.batch import Batch
from paraphrastic.nn.kernels.conv_max_pool import conv_max_pool, filter_reach, init_filters
from paraphrastic.nn.kernels.row_sums import row_mixture
from paraphrastic.nn.layers import Matmul, unit
from paraphrastic.nn.options import MatmulDtype

Match = Literal["max", "global", "local"]
Decompose = Literal["rigid", "linear", "orthogonal"]
Coefficients = tuple[Tensor, Tensor]  # rows of words, int64, and their coefficients; (P, L, K) each
Projections = tuple[Tensor, Tensor]  # of each distinct word: as a word, and as part of a similar component
Matches = tuple[Tensor, Tensor]  # positions in the other sentence, int64, and their weights; (P, L, K) each


@dataclass(frozen=True)
class PaddedSentences:
    """One sentence of each of P pairs, padded to the length L of the longest."""

    ids: Tensor  # (P, L) int64, rows of the batch's words; U, the number of words, at padding
    vectors: Tensor  # (P, L, d), word vectors; zero at padding
    present: Tensor  # (P, L) bool, false at padding

    @classmethod
    def of(cls, words: Tensor, batch: Batch, sentences: Tensor) -> "PaddedSentences":
        """Pad the sentences (P,) of `batch`, whose ids are rows of `words` (U, d)."""
        lengths = batch.lengths[sentences]
        positions = torch.arange(max(int(lengths.max()), 1) if len(lengths) else 1, device=words.device)
        present = positions < lengths.unsqueeze(1)  # (P, L)
        at = torch.where(present, batch.offsets[sentences].unsqueeze(1) + positions, len(batch.ids))
        ids = pad(batch.ids, (0, 1), value=len(words))[at]  # (P, L)
        return cls(ids, pad(words, (0, 0, 0, 1))[ids], present)


class Decomposition:
    """The functions `f_match` and `f_decomp` of Eq. 1 and 2.

    Args:
        match: which f_match (Eq. 6).
        window: words on each side of the most similar one that `local` includes.
        decompose: which f_decomp (Eq. 7–9).
    """

    def __init__(self, match: Match, window: int, decompose: Decompose) -> None:
        self._match, self._window, self._decompose = match, window, decompose

    def __call__(self, own: PaddedSentences, other: PaddedSentences) -> Coefficients:
        """Return rows and coefficients, (P, L, K) each, such that `s⁺ = Σ_k coefficients_k · words[rows_k]`.

        `own` are P sentences of L words, `other` the other sentence of each pair, padded to M words.
        """
        positions, weights = self._matches(own, other)
        own_rows = own.ids.unsqueeze(2)  # (P, L, 1)
        rows = other.ids.gather(1, positions.flatten(1)).view_as(positions)  # (P, L, K)
        if self._decompose == "rigid":  # Eq. 7: vectors are equal if the words are
            return own_rows, (own_rows == rows).to(own.vectors.dtype)
        dense = weights.new_zeros(*weights.shape[:2], other.ids.shape[1])  # (P, L, M)
        match = dense.scatter_add(2, positions, weights) @ other.vectors  # ŝ, (P, L, d)
        if self._decompose == "linear":  # Eq. 8
            cosine = (unit(own.vectors) * unit(match)).sum(2)  # α, (P, L)
            return own_rows, cosine.unsqueeze(2)
        # Eq. 9: s⁺ = (s · ŝ / ŝ · ŝ) ŝ, with ŝ a weighted sum of words of the other sentence
        square = (match * match).sum(2)
        projection = (own.vectors * match).sum(2) / square.masked_fill(square == 0, 1)  # (P, L)
        return rows, weights * projection.unsqueeze(2)

    def _matches(self, own: PaddedSentences, other: PaddedSentences) -> Matches:
        """Eq. 6: positions in the other sentence and their weights in ŝ."""
        cosines = unit(own.vectors) @ unit(other.vectors).mT  # (P, L, M)
        if self._match == "global":
            return torch.arange(cosines.shape[2], device=cosines.device).expand_as(cosines), _multiply_sign(cosines)
        same = own.ids.unsqueeze(2) == other.ids.unsqueeze(1)  # (P, L, M)
        allowed = cosines.detach().masked_fill(same, torch.inf).masked_fill(~other.present.unsqueeze(1), -torch.inf)
        word = other.ids.gather(1, allowed.argmax(2)).unsqueeze(2)  # (P, L, 1)
        nearest = (word == other.ids.unsqueeze(1)).int().argmax(2, keepdim=True)  # k, its first occurrence, (P, L, 1)
        if self._match == "max":
            return nearest, torch.ones_like(nearest, dtype=cosines.dtype)
        window = nearest + torch.arange(-self._window, self._window + 1, device=cosines.device)  # (P, L, 2w + 1)
        positions = window.clamp(0, cosines.shape[2] - 1)
        return positions, _multiply_sign(cosines.gather(2, positions).masked_fill(positions != window, 0))


def _multiply_sign(weights: Tensor) -> Tensor:
    """Multiply weights (P, L, K) by the sign of their sum."""
    return weights * weights.detach().sum(2, keepdim=True).sign()


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
