"""The gated recurrent averaging network in its five variants: acl2017 §3.1, Eq. 1."""

from typing import Literal

import torch
from torch import Generator, Tensor, nn

from paraphrastic.encoding.packing import Packing
from paraphrastic.encoding.peephole import Peephole
from paraphrastic.encoding.products import Reducible
from paraphrastic.encoding.weights import glorot

Variant = Literal[1, 2, 3, 4, 5]


class Gran(Reducible):
    """Word vectors x_t, gated by what an LSTM (states h_t) has read so far.

    With gates `σ(x_t Wx + h_t Wh + b)`, one for variants 1 and 2, two for the others:

    1. `a_t = x_t ⊙ g`
    2. `a_t = h_t ⊙ g`
    3. `a_t = x_t ⊙ g1 + a_{t−1} ⊙ g2`
    4. the same, and the gates also see the state before: `σ(… + a_{t−1} Wa)`
    5. `a_t = x_t ⊙ g1 + h_t ⊙ g2`

    A sentence is the mean of its a_t; for variants 3 and 4 it is the last one divided by the number of words.

    Attributes:
        running: whether a_t runs over the sentence, as in variants 3 and 4.
    """

    def __init__(self, dim: int, variant: Variant, output_gate: bool, generator: Generator, reduced: bool) -> None:
        super().__init__(reduced)
        self._variant, self.running = variant, variant in (3, 4)
        gates = 1 if variant in (1, 2) else 2
        self.lstm = Peephole(dim, dim, output_gate, generator, reduced)
        self.Wx = nn.Parameter(glorot(dim, dim, generator, gates))
        self.Wh = nn.Parameter(glorot(dim, dim, generator, gates))
        self.b = nn.Parameter(torch.zeros(gates * dim))
        self.Wa = nn.Parameter(glorot(dim, dim, generator, gates)) if variant == 4 else None

    def forward(self, words: Tensor, sizes: list[int]) -> Tensor:
        """a_t (N, dim) from word vectors packed by time (N, dim) with `sizes` sentences at each step."""
        states = self.lstm(words, sizes)
        opening = self.product(words, self.Wx) + self.product(states, self.Wh) + self.b
        if self.running:
            return self._run(words, opening, sizes)
        first, *second = opening.sigmoid().chunk(2, 1) if self._variant == 5 else [opening.sigmoid()]
        if second:
            return words * first + states * second[0]
        return (words if self._variant == 1 else states) * first

    def _run(self, words: Tensor, opening: Tensor, sizes: list[int]) -> Tensor:
        out: list[Tensor] = []
        for word, gates in zip(words.split(sizes), opening.split(sizes), strict=True):
            old = out[-1][: len(word)] if out else torch.zeros_like(word)
            if self.Wa is not None:
                gates = gates + self.product(old, self.Wa)
            new, kept = gates.sigmoid().chunk(2, 1)
            out.append(word * new + old * kept)
        return torch.cat(out) if out else words

    def pool(self, gated: Tensor, packing: Packing) -> Tensor:
        """Sentence vectors (B, dim) from a_t (N, dim)."""
        return packing.per_token(packing.final(gated)) if self.running else packing.mean(gated)
