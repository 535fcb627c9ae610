"""Simple recurrent network, last state: iclr2016 §3 (RNN)."""

from typing import Literal

from torch import Generator, Tensor

from paraphrastic.nn.batch import Batch
from paraphrastic.nn.elman import Elman
from paraphrastic.nn.encoder import Encoder
from paraphrastic.nn.initialization import glorot_uniform
from paraphrastic.nn.options import RecurrentConfig
from paraphrastic.nn.packing import Packing
from paraphrastic.nn.precision import Precision
from paraphrastic.nn.word_lookup import WordLookup


class Config(RecurrentConfig, Precision):
    """Options of the recurrent network.

    Attributes:
        activation: f.
    """

    activation: Literal["tanh", "relu"]


class Rnn(Encoder):
    """`g(s) = h_{|s|}` of `h_t = f(Wx x_t + Wh h_{t−1} + b)`."""

    def __init__(self, config: Config, generator: Generator) -> None:
        super().__init__("words", config.dim, config.boundary_tokens)
        self.lookup = WordLookup(config.dropout, config.word_dropout)
        W, U = (glorot_uniform(config.dim, config.dim, generator) for _ in range(2))
        self.rnn = Elman(W, U, config.activation, config.matmul_dtype)

    def forward(self, embeddings: Tensor, batch: Batch) -> Tensor:
        """Return sentence vectors, (B, dim)."""
        packing = Packing.of(batch)
        words = self.lookup(embeddings, batch, packing.order)  # (N, dim), packed by time
        states = self.rnn(words, packing.batch_sizes)  # (N, dim)
        return packing.final(states)  # (B, dim)


MODEL = Rnn
