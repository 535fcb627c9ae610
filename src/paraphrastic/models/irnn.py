"""Recurrent network with identity initialisation: iclr2016 §3 (iRNN)."""

import torch
from torch import Generator, Tensor

from paraphrastic.nn.batch import Batch
from paraphrastic.nn.options import RecurrentConfig
from paraphrastic.nn.recurrent import Elman, RecurrentEncoder


class Config(RecurrentConfig):
    """Options of the iRNN: those of all recurrent encoders.

    λc penalises the distance of W and U from the identity and of b from 0.
    """


class Irnn(RecurrentEncoder):
    """`g(s) = h_{|s|} / |s|` of `h_t = Wx x_t + Wh h_{t−1} + b`; before training this is the mean word embedding."""

    regularize_to_start = True

    def __init__(self, config: Config, generator: Generator) -> None:
        super().__init__(config)
        self.rnn = Elman(torch.eye(config.dim), torch.eye(config.dim), "linear", config.matmul_dtype)

    def forward(self, embeddings: Tensor, batch: Batch) -> Tensor:
        """Return sentence vectors, (B, dim)."""
        words, packing = self.packed_words(embeddings, batch)  # (N, dim), packed by time
        states = self.rnn(words, packing.batch_sizes)  # (N, dim)
        return packing.divide_by_length(packing.final(states))  # (B, dim)


MODEL = Irnn
