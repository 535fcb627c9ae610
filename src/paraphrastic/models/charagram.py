"""Charagram: charagram2016 Eq. 1."""

from typing import Literal

import torch
from torch import Generator, Tensor, nn

from paraphrastic.encoding.bag_sum import bag_sum
from paraphrastic.encoding.batch import Batch
from paraphrastic.encoding.dense import Activation, Dense, activation
from paraphrastic.encoding.encoder import Encoder, EncoderConfig, Shape


class Sum(Shape):
    """What Eq. 1 is made of.

    Attributes:
        words: whole words are units too, beside the n-grams.
        counts: a unit weighs as often as it occurs (`linear`, the paper's), or its square root (`sqrt`).
        layers: 2 puts a dense layer on Eq. 1 (charagram2016 §4.2).
        activation: h of Eq. 1 and of the second layer; `relu` is for tagging (charagram2016 §4.2, note 2).
    """

    words: bool
    counts: Literal["linear", "sqrt"]
    layers: Literal[1, 2]
    activation: Activation


class Config(Sum, EncoderConfig):
    """Options of Charagram."""


class Charagram(Encoder):
    """`g(s) = h(b + Σ_{n-grams f of s} count(f) · W[f])` over the character n-grams f in the vocabulary."""

    units = "ngrams"

    def __init__(self, config: Sum, generator: Generator) -> None:
        super().__init__()
        self.out_dim = config.dim
        self.units = "words+ngrams" if config.words else "ngrams"
        self.root = config.counts == "sqrt"
        self._h = activation(config.activation)
        self.bias = nn.Parameter(torch.zeros(config.dim))  # W is the table
        self.second = Dense(config.dim, config.dim, config.activation, generator) if config.layers == 2 else None

    def forward(self, table: Tensor, batch: Batch) -> Tensor:
        """Sentence vectors, (B, dim)."""
        weights = batch.counts.sqrt() if self.root else batch.counts
        sums = bag_sum(table, batch.ids, batch.offsets, weights) + self.bias
        first = self._h(sums)
        return first if self.second is None else self.second(first)


MODEL = Charagram
