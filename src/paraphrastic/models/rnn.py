"""Simple recurrent network, last state: iclr2016 §3 (RNN)."""

from typing import Literal

from torch import Generator, Tensor

from paraphrastic.nn.batch import Batch
from paraphrastic.nn.layers import glorot_uniform
from paraphrastic.nn.options import RecurrentConfig
from paraphrastic.nn.recurrent import Elman, RecurrentEncoder


class Config(RecurrentConfig):
    """Options of the recurrent network."""

    activation: Literal["tanh", "relu"]  # f


class Rnn(RecurrentEncoder):
    """`g(s) = h_{|s|}` of `h_t = f(Wx x_t + Wh h_{t−1} + b)`."""

    def __init__(self, config: Config, generator: Generator) -> None:
        super().__init__(config)
        W, U = (glorot_uniform(config.dim, config.dim, generator) for _ in range(2))
        self.rnn = Elman(W, U, config.activation, config.matmul_dtype)

    def forward(self, embeddings: Tensor, batch: Batch) -> Tensor:
        """Return sentence vectors, (B, dim)."""
        words, packing = self.packed_words(embeddings, batch)  # (N, dim), packed by time
        states = self.rnn(words, packing.batch_sizes)  # (N, dim)
        return packing.final(states)  # (B, dim)


MODEL = Rnn
