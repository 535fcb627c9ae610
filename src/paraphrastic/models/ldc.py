"""Lexical decomposition and composition, a model of sentence pairs: ldc2016 (Wang, Mi and Ittycheriah 2016)."""

from typing import Annotated

import torch
from pydantic import Field, ValidationInfo, field_validator
from torch import Generator, Tensor

from paraphrastic.nn.batch import Batch
from paraphrastic.nn.decomposition import Decompose, Decomposition, Match, PaddedSentences, Projections, TwoChannelConv
from paraphrastic.nn.layers import Dense, PairModel, dropout_mask
from paraphrastic.nn.options import (
    DropoutProbability,
    PairModelConfig,
    PositiveInt,
    PrecisionConfig,
    WordEmbeddingsConfig,
)


class Config(PrecisionConfig, WordEmbeddingsConfig, PairModelConfig):
    """Options of lexical decomposition and composition."""

    # what a word is matched with (Eq. 6): the most similar word of the other sentence (`max`), all its words
    # (`global`), or the words around the most similar one (`local`).
    match: Match
    window: Annotated[int, Field(ge=1, le=4)]  # words on each side that `local` includes; others do not read it
    decompose: Decompose  # how a word is decomposed by its match (Eq. 7–9): `rigid`, `linear` or `orthogonal`.
    max_window: Annotated[int, Field(ge=1, le=5)]  # filters are 1, 2, …, `max_window` words wide
    filters_per_width: PositiveInt  # number of filters of each width
    dropout: DropoutProbability  # probability that a feature is set to zero in training

    @field_validator("decompose")
    @classmethod
    def _rigid_needs_max(cls, decompose: Decompose, info: ValidationInfo) -> Decompose:
        match = info.data.get("match", "max")
        if decompose == "rigid" and match != "max":
            raise ValueError(f"needs match: max, because it compares a word with one other word; match is {match}")
        return decompose


class Ldc(PairModel):
    """`P(match) = σ(W [S; T] + b)`, with S and T the features of both sentences, each decomposed by the other."""

    def __init__(self, config: Config, generator: Generator) -> None:
        super().__init__()
        widths = dict.fromkeys(range(1, config.max_window + 1), config.filters_per_width)
        self._decompose = Decomposition(config.match, config.window, config.decompose)
        self._dropout = config.dropout
        self.conv = TwoChannelConv(config.dim, widths, generator, config.matmul_dtype)
        self.similarity = Dense(2 * config.max_window * config.filters_per_width, 1, "linear", generator)

    def forward(self, embeddings: Tensor, batch: Batch, left: Tensor, right: Tensor) -> Tensor:
        """Return the log-odds of a match, (P,)."""
        rows, ids = batch.ids.unique(return_inverse=True)
        words = embeddings.index_select(0, rows)  # (U, dim), the distinct words
        s, t = (PaddedSentences.of(words, batch.with_ids(ids), side) for side in (left, right))
        projections = self.conv.project(words)  # (U, Σ reach) each
        features = torch.cat([self._features(projections, s, t), self._features(projections, t, s)], 1)
        if self.training and self._dropout:
            features = features * dropout_mask(features.shape, features, self._dropout)
        log_odds: Tensor = self.similarity(features)  # (P, 1)
        return log_odds.squeeze(1)

    def _features(self, projections: Projections, own: PaddedSentences, other: PaddedSentences) -> Tensor:
        """Return the features (P, filters) of the sentences `own`, decomposed by `other`."""
        rows, coefficients = (each[own.present] for each in self._decompose(own, other))  # (N, K) each
        rows = rows.clamp(max=len(projections[0]) - 1)  # padding has coefficient 0, its row only has to exist
        features: Tensor = self.conv(projections, own.ids[own.present], rows, coefficients, own.present.sum(1))
        return features


MODEL = Ldc
