"""Deep averaging network: Iyyer et al. (2015), iclr2016 §3 (DAN)."""

from typing import Literal

from torch import Generator, Tensor, nn

from paraphrastic.nn.batch import Batch
from paraphrastic.nn.layers import Dense, Encoder, WordLookup
from paraphrastic.nn.options import WordEncoderConfig


class Config(WordEncoderConfig):
    """Options of DAN."""

    num_layers: Literal[1, 2]  # dense layers on top of the mean
    activation: Literal["tanh", "relu"]  # activation of each layer


class Dan(Encoder):
    """`g(s) = f(W2 f(W1 x̄ + b1) + b2)` with x̄ the mean word embedding; with one layer, `f(W1 x̄ + b1)`."""

    def __init__(self, config: Config, generator: Generator) -> None:
        super().__init__("words", config.dim, config.boundary_tokens)
        self.lookup = WordLookup(config.dropout, config.word_dropout)
        layers = (Dense(config.dim, config.dim, config.activation, generator) for _ in range(config.num_layers))
        self.layers = nn.Sequential(*layers)

    def forward(self, embeddings: Tensor, batch: Batch) -> Tensor:
        """Return sentence vectors, (B, dim)."""
        mean = self.lookup.mean(embeddings, batch)  # (B, dim)
        vectors: Tensor = self.layers(mean)  # (B, dim)
        return vectors


MODEL = Dan
