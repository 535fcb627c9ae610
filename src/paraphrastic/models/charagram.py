"""Charagram: charagram2016 Eq. 1."""

from typing import Literal

import torch
from pydantic import ValidationInfo, field_validator
from torch import Generator, Tensor, nn

from paraphrastic.nn.batch import Batch
from paraphrastic.nn.kernels.row_sums import bag_sum
from paraphrastic.nn.layers import Dense, Encoder, activation
from paraphrastic.nn.options import ArchitectureConfig, EncoderConfig, PositiveInt
from paraphrastic.nn.static_form import Activation, CountWeight, StaticForm


class CharagramArchitecture(ArchitectureConfig):
    """Options of the architecture, which sentence encoders and taggers share."""

    init: Literal["random", "idf"]
    words: bool  # add an embedding for each whole word to those of the n-grams
    counts: CountWeight  # an n-gram that occurs k times has weight k (`linear`, the paper's) or √k (`sqrt`)
    num_layers: Literal[1, 2]  # 2 adds a dense layer on top of Eq. 1 (charagram2016 §4.2).
    # h of Eq. 1 and of the second layer; `relu` is meant for tagging (charagram2016 §4.2, note 2).
    activation: Activation


class Config(CharagramArchitecture, EncoderConfig):
    """Options of Charagram as a sentence encoder.

    Attributes:
        bigrams: with `words`, add an embedding for each pair of adjacent words that occurs at least so many times in
            the distinct sentences; None for no pairs.
    """

    bigrams: PositiveInt | None

    @field_validator("bigrams")
    @classmethod
    def _words_with_bigrams(cls, bigrams: int | None, info: ValidationInfo) -> int | None:
        if bigrams is not None and not info.data.get("words", True):
            raise ValueError("needs words: true, because a pair is made of two of them")
        return bigrams


class Charagram(Encoder):
    """`g(s) = h(b + Σ_f weight(f) · W[f])` over the character n-grams f of s in the vocabulary.

    weight(f) is the number of occurrences of f in s, or its square root. With `words`, f is an n-gram or a word;
    with `bigrams`, or a pair of adjacent words.
    """

    def __init__(self, config: CharagramArchitecture, generator: Generator) -> None:
        super().__init__("words+ngrams" if config.words else "ngrams", config.dim)
        self.bigram_min_count = config.bigrams if isinstance(config, Config) else None
        self._form = StaticForm(self.vocabulary, "sum", counts=config.counts, activation=config.activation)
        self._activation = activation(config.activation)
        self.bias = nn.Parameter(torch.zeros(config.dim))  # b; W is the embedding table
        self.dense = Dense(config.dim, config.dim, config.activation, generator) if config.num_layers == 2 else None

    def forward(self, embeddings: Tensor, batch: Batch) -> Tensor:
        """Return sentence vectors, (B, dim)."""
        weights = batch.counts.sqrt() if self._form.counts == "sqrt" else batch.counts  # (N,)
        sums = bag_sum(embeddings, batch.ids, batch.offsets, weights)  # (B, dim)
        vectors: Tensor = self._activation(sums + self.bias)  # (B, dim), Eq. 1
        return vectors if self.dense is None else self.dense(vectors)

    def static_form(self) -> StaticForm:
        """Return the same sum without torch."""
        return self._form


MODEL = Charagram
