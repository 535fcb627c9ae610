"""Linear projection of the mean word embedding: iclr2016 §3."""

from torch import Generator, Tensor

from paraphrastic.nn.batch import Batch
from paraphrastic.nn.layers import Dense, Encoder, WordLookup
from paraphrastic.nn.options import PositiveInt, WordEncoderConfig


class Config(WordEncoderConfig):
    """Options of projection."""

    out_dim: PositiveInt  # size of a sentence vector; `dim` in most of the paper, 1200 and 2400 in iclr2016 §4.4.2


class Proj(Encoder):
    """`g(s) = Wp (1/|s| Σ_t x_t) + b`, with Wp of `out_dim` rows."""

    def __init__(self, config: Config, generator: Generator) -> None:
        super().__init__("words", config.out_dim, config.boundary_tokens)
        self.lookup = WordLookup(config.dropout, config.word_dropout)
        self.dense = Dense(config.dim, config.out_dim, "linear", generator)

    def forward(self, embeddings: Tensor, batch: Batch) -> Tensor:
        """Return sentence vectors, (B, out_dim)."""
        mean = self.lookup.mean(embeddings, batch)  # (B, dim)
        vectors: Tensor = self.dense(mean)  # (B, out_dim)
        return vectors


MODEL = Proj
