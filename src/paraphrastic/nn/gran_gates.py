"""The gates of the gated recurrent averaging network in its five variants: acl2017 §3.1, Eq. 1."""

from typing import Literal

import torch
from torch import Generator, Tensor, nn

from paraphrastic.nn.initialization import glorot_uniform
from paraphrastic.nn.packing import Packing
from paraphrastic.nn.precision import Matmul, MatmulDtype

Variant = Literal[1, 2, 3, 4, 5]


class GranGates(nn.Module):
    """Gates that control how much of a word embedding x_t and of an LSTM state h_t enters a_t.

    The gates are `σ(x_t Wx + h_t Wh + b)`. Variants 1 and 2 have one gate g, the others two, g1 and g2.

    1. `a_t = x_t ⊙ g`
    2. `a_t = h_t ⊙ g`
    3. `a_t = x_t ⊙ g1 + a_{t−1} ⊙ g2`
    4. like 3, with gates `σ(x_t Wx + h_t Wh + a_{t−1} Wa + b)`
    5. `a_t = x_t ⊙ g1 + h_t ⊙ g2`

    The sentence vector is the mean of all a_t. In variants 3 and 4, where a_t is a running sum, it is the last a_t
    divided by the number of words.

    Attributes:
        recurrent: whether a_t depends on a_{t−1} (variants 3 and 4).
    """

    def __init__(self, dim: int, variant: Variant, generator: Generator, matmul_dtype: MatmulDtype) -> None:
        super().__init__()
        self._variant, self.recurrent = variant, variant in (3, 4)
        gates = 1 if variant in (1, 2) else 2
        self.Wx = nn.Parameter(glorot_uniform(dim, dim, generator, gates))
        self.Wh = nn.Parameter(glorot_uniform(dim, dim, generator, gates))
        self.b = nn.Parameter(torch.zeros(gates * dim))
        self.Wa = nn.Parameter(glorot_uniform(dim, dim, generator, gates)) if variant == 4 else None
        self._matmul = Matmul(matmul_dtype)

    def forward(self, words: Tensor, states: Tensor, batch_sizes: list[int]) -> tuple[Tensor, Tensor]:
        """Return all a_t, (N, dim), and their gates, (N, dim) or (N, 2 · dim) with g1 first.

        Word embeddings and states, (N, dim) each, are packed by time.
        """
        logits: Tensor = self._matmul(words, self.Wx) + self._matmul(states, self.Wh) + self.b  # (N, gates · dim)
        if self.recurrent:
            return self._recur(words, logits, batch_sizes)
        gates = logits.sigmoid()
        if self._variant == 5:
            g1, g2 = gates.chunk(2, 1)  # (N, dim) each
            return words * g1 + states * g2, gates
        return (words if self._variant == 1 else states) * gates, gates

    def pool(self, gated: Tensor, packing: Packing) -> Tensor:
        """Return sentence vectors (B, dim) from all a_t (N, dim)."""
        return packing.divide_by_length(packing.final(gated)) if self.recurrent else packing.mean(gated)

    def _recur(self, words: Tensor, logits: Tensor, batch_sizes: list[int]) -> tuple[Tensor, Tensor]:
        out, gates = list[Tensor](), list[Tensor]()
        for x, logit in zip(words.split(batch_sizes), logits.split(batch_sizes), strict=True):
            previous = out[-1][: len(x)] if out else torch.zeros_like(x)  # (sentences of this step, dim)
            if self.Wa is not None:
                logit = logit + self._matmul(previous, self.Wa)
            gates.append(logit.sigmoid())
            g1, g2 = gates[-1].chunk(2, 1)
            out.append(x * g1 + previous * g2)
        return (torch.cat(out), torch.cat(gates)) if out else (words, logits)
