"""Recurrent network: iclr2016 §3 (RNN)."""

from typing import Literal

from torch import Generator, Tensor

from paraphrastic.encoding.elman import Elman
from paraphrastic.encoding.packing import Packing
from paraphrastic.encoding.recurrent import RecurrentConfig, RecurrentEncoder
from paraphrastic.encoding.weights import glorot


class Config(RecurrentConfig):
    """Options of the recurrent network.

    Attributes:
        activation: f.
    """

    activation: Literal["tanh", "relu"]


class Rnn(RecurrentEncoder):
    """The last state of `h_t = f(Wx x_t + Wh h_{t−1} + b)`."""

    def __init__(self, config: Config, generator: Generator) -> None:
        super().__init__(config)
        W, U = (glorot(config.dim, config.dim, generator) for _ in range(2))
        self.rnn = Elman(W, U, config.activation, config.reduced)

    def compose(self, words: Tensor, packing: Packing) -> Tensor:
        """Sentence vectors, (B, dim)."""
        return packing.final(self.rnn(words, packing.sizes))


MODEL = Rnn
