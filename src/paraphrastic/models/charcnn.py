"""Character CNN: charagram2016 §3 (charCNN), Kim (2014)."""

from typing import Annotated, Any, Literal

import torch
from pydantic import BeforeValidator, Field, ValidationInfo, field_validator
from torch import Generator, Tensor, nn

from paraphrastic.nn.batch import Batch, used_rows
from paraphrastic.nn.kernels.conv_max_pool import conv_max_pool, filter_reach, init_filters
from paraphrastic.nn.layers import Dense, Encoder, sentence_dropout
from paraphrastic.nn.options import ArchitectureConfig, DropoutProbability, EncoderConfig, PositiveInt
from paraphrastic.nn.static_form import Activation

Width = Annotated[int, Field(ge=1, le=10)]


def _integer_keys(filters: Any) -> Any:
    """Convert widths to integers; JSON stores them as strings."""
    if not isinstance(filters, dict):
        return filters
    widths = {int(key) if isinstance(key, str) and key.isdecimal() else key: count for key, count in filters.items()}
    if len(widths) < len(filters):
        raise ValueError("a width is named twice")
    return widths


class CharCnnArchitecture(ArchitectureConfig):
    """Options of the architecture, which sentence encoders and taggers share."""

    init: Literal["random", "idf"]
    # number of filters by width (charagram2016 §4.1.3)
    filters: Annotated[dict[Width, PositiveInt], Field(min_length=1), BeforeValidator(_integer_keys)]
    filter_activation: Literal["relu", "tanh"]  # f, applied to the pooled responses
    # whether a dense layer maps the pooled responses to a vector of size `dim`. Without it they are the vector, and its
    # size is the number of filters (charagram2016 §4.1.3).
    dense: bool
    # h, of the dense layer; `relu` is meant for tagging (charagram2016 §4.2, note 2). `linear` without a dense layer.
    activation: Activation
    dropout: DropoutProbability  # probability that a pooled response is set to zero in training

    @property
    def pooled_dim(self) -> int:
        """Number of filters, which is the number of pooled responses."""
        return sum(self.filters.values())

    @field_validator("activation")
    @classmethod
    def _linear_without_dense(cls, activation: Activation, info: ValidationInfo) -> Activation:
        if activation != "linear" and not info.data.get("dense", True):
            raise ValueError("should be linear, because there is no dense layer (dense: false)")
        return activation


class Config(CharCnnArchitecture, EncoderConfig):
    """Options of the character CNN as a sentence encoder."""


class CharCnn(Encoder):
    """`g(s) = h(p W + b)` with `p_k = f(max_t Σ_j F_kj · x_{t+j} + b_k)` for filters k over characters x.

    Without the dense layer, `g(s) = p`.
    """

    def __init__(self, config: CharCnnArchitecture, generator: Generator) -> None:
        super().__init__("characters", config.dim if config.dense else config.pooled_dim)
        self._reach, self._dropout = filter_reach(config.filters), config.dropout
        self._activation = {"relu": torch.relu, "tanh": torch.tanh}[config.filter_activation]
        self.filters = nn.Parameter(init_filters(config.filters, config.embedding_dim, generator))
        self.bias = nn.Parameter(torch.zeros(self._reach[0]))
        self.dense = Dense(config.pooled_dim, config.dim, config.activation, generator) if config.dense else None

    def forward(self, embeddings: Tensor, batch: Batch) -> Tensor:
        """Return sentence vectors, (B, out_dim); zero for an empty sentence."""
        characters, ids = used_rows(embeddings, batch.ids)  # (U, embedding_dim), (N,)
        projected = characters @ self.filters  # (U, Σ reach), every character with every filter offset
        maxima = conv_max_pool(projected, ids, batch.offsets, self._reach)  # (B, filters)
        pooled = self._activation(maxima + self.bias)  # both are monotonic, so they can follow the maximum
        if self.training and self._dropout:
            pooled = sentence_dropout(pooled, batch, self._dropout)
        vectors: Tensor = pooled if self.dense is None else self.dense(pooled)  # (B, out_dim)
        return vectors.masked_fill(batch.lengths.unsqueeze(1) == 0, 0)


MODEL = CharCnn
