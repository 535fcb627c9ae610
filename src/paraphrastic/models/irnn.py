"""Recurrent network with identity initialisation: iclr2016 §3 (iRNN)."""

import torch
from torch import Generator, Tensor

from paraphrastic.nn.batch import Batch
from paraphrastic.nn.elman import Elman
from paraphrastic.nn.encoder import Encoder
from paraphrastic.nn.options import RecurrentConfig
from paraphrastic.nn.packing import Packing
from paraphrastic.nn.precision import Precision
from paraphrastic.nn.word_lookup import WordLookup


class Config(RecurrentConfig, Precision):
    """Options of the iRNN: those of all recurrent encoders and of `Precision`.

    λc penalises the distance of W and U from the identity and of b from 0.
    """


class Irnn(Encoder):
    """`g(s) = h_{|s|} / |s|` of `h_t = Wx x_t + Wh h_{t−1} + b`; before training this is the mean word embedding."""

    def __init__(self, config: Config, generator: Generator) -> None:
        super().__init__("words", config.dim, config.boundary_tokens, regularize_to_start=True)
        self.lookup = WordLookup(config.dropout, config.word_dropout)
        self.rnn = Elman(torch.eye(config.dim), torch.eye(config.dim), "linear", config.matmul_dtype)

    def forward(self, embeddings: Tensor, batch: Batch) -> Tensor:
        """Return sentence vectors, (B, dim)."""
        packing = Packing.of(batch)
        words = self.lookup(embeddings, batch, packing.order)  # (N, dim), packed by time
        states = self.rnn(words, packing.batch_sizes)  # (N, dim)
        return packing.divide_by_length(packing.final(states))  # (B, dim)


MODEL = Irnn
