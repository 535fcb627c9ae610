"""Identity-RNN: iclr2016 §3 (iRNN)."""

import torch
from torch import Generator, Tensor

from paraphrastic.encoding.elman import Elman
from paraphrastic.encoding.packing import Packing
from paraphrastic.encoding.recurrent import RecurrentConfig, RecurrentEncoder


class Config(RecurrentConfig):
    """The identity-RNN has no options of its own; λc pulls its matrices toward the identity, b toward zero."""


class Irnn(RecurrentEncoder):
    """`1/|s| h_{|s|}` of `h_t = Wx x_t + Wh h_{t−1} + b`, which before any step is the mean of the word vectors."""

    pulled_to_start = True

    def __init__(self, config: Config, generator: Generator) -> None:
        del generator  # nothing to draw: all starts at the identity
        super().__init__(config)
        self.rnn = Elman(torch.eye(config.dim), torch.eye(config.dim), "identity", config.reduced)

    def compose(self, words: Tensor, packing: Packing) -> Tensor:
        """Sentence vectors, (B, dim)."""
        return packing.per_token(packing.final(self.rnn(words, packing.sizes)))


MODEL = Irnn
