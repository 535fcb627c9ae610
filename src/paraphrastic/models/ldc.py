"""Lexical decomposition and composition, a model of pairs: ldc2016 (Wang, Mi & Ittycheriah 2016)."""

from typing import Annotated

import torch
from pydantic import Field, ValidationInfo, field_validator
from torch import Generator, Tensor
from torch.nn.functional import dropout

from paraphrastic.encoding.batch import Batch
from paraphrastic.encoding.composition import TwoChannels
from paraphrastic.encoding.decomposition import Decompose, Decomposition, Match, Side
from paraphrastic.encoding.dense import Dense
from paraphrastic.encoding.encoder import (
    PairEncoder,
    Positive,
    Probability,
    TrainingConfig,
    VectorOptions,
)
from paraphrastic.encoding.products import Products


class Config(Products, VectorOptions, TrainingConfig):
    """Options of lexical decomposition and composition.

    Attributes:
        match: what a word is matched with (Eq. 6): the `max`, the most similar word of the other sentence; `global`,
            all its words; `local`, the words around the most similar one.
        window: words on either side that `local` takes in.
        decompose: how a word is parted by its match (Eq. 7–9): `rigid`, `linear` or `orthogonal`.
        max_window: filters are 1, 2, … so many words wide.
        filters: how many there are of each width.
        dropout: probability that a feature is dropped in training.
        mismatches: wrong partners that each sentence meets when the corpus has only right ones; `negatives` says
            which.
    """

    match: Match
    window: Annotated[int, Field(ge=1, le=4)]
    decompose: Decompose
    max_window: Annotated[int, Field(ge=1, le=5)]
    filters: Positive
    dropout: Probability
    mismatches: Positive

    @field_validator("decompose")
    @classmethod
    def _rigid_needs_max(cls, decompose: Decompose, info: ValidationInfo) -> Decompose:
        match = info.data.get("match", "max")
        if decompose == "rigid" and match != "max":
            raise ValueError(f"asks for a word equal to its match, which only match: max finds, not {match}")
        return decompose


class Ldc(PairEncoder):
    """`P(match) = σ(W [S; T] + b)`: S and T are the features of both sentences, each decomposed by the other."""

    units = "words"

    def __init__(self, config: Config, generator: Generator) -> None:
        super().__init__()
        widths = dict.fromkeys(range(1, config.max_window + 1), config.filters)
        self._decompose = Decomposition(config.match, config.window, config.decompose)
        self._dropout = config.dropout
        self.channels = TwoChannels(config.dim, widths, generator, config.reduced)
        self.similarity = Dense(2 * config.max_window * config.filters, 1, "linear", generator)

    def forward(self, table: Tensor, batch: Batch, left: Tensor, right: Tensor) -> Tensor:
        """Log odds of a match, (P,)."""
        rows, ids = batch.ids.unique(return_inverse=True)
        words = table.index_select(0, rows)
        s, t = (Side.of(words, batch.at(ids), side) for side in (left, right))
        projected = self.channels.project(words)
        features = torch.cat([self._features(projected, s, t), self._features(projected, t, s)], 1)
        return self.similarity(dropout(features, self._dropout, self.training)).squeeze(1)

    def _features(self, projected: tuple[Tensor, Tensor], own: Side, other: Side) -> Tensor:
        """What the sentences `own` say beside `other`, (P, features)."""
        rows, weights = (each[own.present] for each in self._decompose(own, other))
        known = rows.clamp(max=len(projected[0]) - 1)  # a missing word weighs nothing
        return self.channels(projected, own.ids[own.present], known, weights, own.present.sum(1))


MODEL = Ldc
