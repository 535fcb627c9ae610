"""Projection of the mean word vector: iclr2016 §3."""

from torch import Generator, Tensor

from paraphrastic.encoding.batch import Batch
from paraphrastic.encoding.dense import Dense
from paraphrastic.encoding.encoder import WordConfig, WordEncoder


class Config(WordConfig):
    """Projection has no options of its own."""


class Proj(WordEncoder):
    """`g(s) = Wp (1/|s| Σ_t x_t) + b`."""

    def __init__(self, config: Config, generator: Generator) -> None:
        super().__init__(config)
        self.dense = Dense(config.dim, config.dim, "linear", generator)

    def forward(self, table: Tensor, batch: Batch) -> Tensor:
        """Sentence vectors, (B, dim)."""
        return self.dense(self.mean(table, batch))


MODEL = Proj
