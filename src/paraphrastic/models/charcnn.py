"""Character CNN: charagram2016 §3 (charCNN), Kim (2014)."""

from typing import Annotated, Any, Literal

import torch
from pydantic import BeforeValidator, Field
from torch import Generator, Tensor, nn
from torch.nn.functional import dropout

from paraphrastic.encoding.batch import Batch, distinct
from paraphrastic.encoding.dense import Activation, Dense
from paraphrastic.encoding.encoder import Encoder, EncoderConfig, Positive, Probability, Shape
from paraphrastic.encoding.filters import drawn, maxima, reach_of

Width = Annotated[int, Field(ge=1, le=10)]


def _numbered(filters: Any) -> Any:
    """JSON writes the widths as strings."""
    if not isinstance(filters, dict):
        return filters
    return {int(key) if isinstance(key, str) and key.isdecimal() else key: many for key, many in filters.items()}


class Filters(Shape):
    """What the character CNN is made of.

    Attributes:
        filters: how many there are of each width (charagram2016 §4.1.3).
        filter_activation: of the pooled filters.
        activation: of the dense layer; `relu` is for tagging (charagram2016 §4.2, note 2).
        dropout: probability that a pooled filter is dropped in training.
    """

    filters: Annotated[dict[Width, Positive], Field(min_length=1), BeforeValidator(_numbered)]
    filter_activation: Literal["relu", "tanh"]
    activation: Activation
    dropout: Probability


class Config(Filters, EncoderConfig):
    """Options of the character CNN."""


class CharCnn(Encoder):
    """`g(s) = h(p W + b)`, `p_k = max_t f(b_k + Σ_j F_kj · x_{t+j})` of the filters k over characters x."""

    units = "characters"

    def __init__(self, config: Filters, generator: Generator) -> None:
        super().__init__()
        self.out_dim = config.dim
        self._reach = reach_of(config.filters)
        self._f = {"relu": torch.relu, "tanh": torch.tanh}[config.filter_activation]
        self._dropout = config.dropout
        self.filters = nn.Parameter(drawn(config.filters, config.row_dim, generator))
        self.bias = nn.Parameter(torch.zeros(self._reach[0]))
        self.dense = Dense(self._reach[0], config.dim, config.activation, generator)

    def forward(self, table: Tensor, batch: Batch) -> Tensor:
        """Sentence vectors, (B, dim)."""
        characters, ids = distinct(table, batch.ids)
        projected = characters @ self.filters
        # bias and activation leave the order of responses as it is, so that they can wait for the maximum
        pooled = self._f(maxima(projected, ids, batch.offsets, self._reach) + self.bias)
        vectors = self.dense(dropout(pooled, self._dropout, self.training))
        return vectors.masked_fill(batch.lengths.unsqueeze(1) == 0, 0)


MODEL = CharCnn
