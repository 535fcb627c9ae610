"""Linear projection of the mean word embedding: iclr2016 §3."""

from torch import Generator, Tensor

from paraphrastic.nn.batch import Batch
from paraphrastic.nn.dense import Dense
from paraphrastic.nn.encoder import Encoder
from paraphrastic.nn.options import WordEncoderConfig
from paraphrastic.nn.word_lookup import WordLookup


class Config(WordEncoderConfig):
    """Options of projection: those of all word encoders."""


class Proj(Encoder):
    """`g(s) = Wp (1/|s| Σ_t x_t) + b`."""

    def __init__(self, config: Config, generator: Generator) -> None:
        super().__init__("words", config.dim, config.boundary_tokens)
        self.lookup = WordLookup(config.dropout, config.word_dropout)
        self.dense = Dense(config.dim, config.dim, "linear", generator)

    def forward(self, embeddings: Tensor, batch: Batch) -> Tensor:
        """Return sentence vectors, (B, dim)."""
        mean = self.lookup.mean(embeddings, batch)  # (B, dim)
        vectors: Tensor = self.dense(mean)  # (B, dim)
        return vectors


MODEL = Proj
