"""What recurrent encoders of words share: their words packed by time, and two directions put together."""

from abc import abstractmethod
from collections.abc import Callable
from typing import Literal

import torch
from torch import Generator, Tensor, nn

from paraphrastic.encoding.batch import Batch
from paraphrastic.encoding.encoder import WordConfig, WordEncoder
from paraphrastic.encoding.packing import Packing
from paraphrastic.encoding.peephole import Peephole
from paraphrastic.encoding.products import Products, Reducible
from paraphrastic.encoding.weights import glorot

How = Literal["sum", "dense"]
Run = Callable[[Tensor, list[int]], Tensor]


class RecurrentConfig(WordConfig, Products):
    """Options of recurrent encoders of words."""


class LstmConfig(RecurrentConfig):
    """Options of encoders with an LSTM.

    Attributes:
        output_gate: with it h = o ⊙ tanh(c), without it h = tanh(c).
    """

    output_gate: bool


class BidirectionalConfig(LstmConfig):
    """Options of encoders with an LSTM in each direction.

    Attributes:
        combine: what is said forward and backward is added (`sum`), or goes through one tanh layer (`dense`).
    """

    combine: How


class RecurrentEncoder(WordEncoder):
    """Hands the word vectors of a batch, packed by time, to `compose`."""

    def forward(self, table: Tensor, batch: Batch) -> Tensor:
        """Sentence vectors, (B, dim)."""
        packing = Packing.of(batch)
        return self.compose(self.inputs(table, batch.ids[packing.order]), packing)

    @abstractmethod
    def compose(self, words: Tensor, packing: Packing) -> Tensor:
        """Sentence vectors (B, dim) from word vectors (N, dim) packed by time."""


class LstmEncoder(RecurrentEncoder):
    """A peephole LSTM, whose states `pool` makes one vector of."""

    def __init__(self, config: LstmConfig, generator: Generator) -> None:
        super().__init__(config)
        self.lstm = Peephole(config.dim, config.dim, config.output_gate, generator, config.reduced)

    def compose(self, words: Tensor, packing: Packing) -> Tensor:
        """Sentence vectors, (B, dim)."""
        return self.pool(self.lstm(words, packing.sizes), packing)

    @abstractmethod
    def pool(self, states: Tensor, packing: Packing) -> Tensor:
        """Sentence vectors (B, dim) from states (N, dim)."""


def backward(run: Run, words: Tensor, packing: Packing) -> Tensor:
    """What `run` makes of the sentences read backward, (N, dim), each word's at the place of the word."""
    return run(words.index_select(0, packing.mirror), packing.sizes).index_select(0, packing.mirror)


class Combine(Reducible):
    """The forward and the backward vector as one (acl2017 §4.1.4): their sum, or `tanh([f; b] W + c)`."""

    def __init__(self, how: How, dim: int, generator: Generator, reduced: bool) -> None:
        super().__init__(reduced)
        self._dense = how == "dense"
        if self._dense:
            self.W, self.b = nn.Parameter(glorot(2 * dim, dim, generator)), nn.Parameter(torch.zeros(dim))

    def forward(self, ahead: Tensor, back: Tensor) -> Tensor:
        """(n, dim) from two of (n, dim)."""
        if not self._dense:
            return ahead + back
        return (self.product(torch.cat([ahead, back], 1), self.W) + self.b).tanh()
