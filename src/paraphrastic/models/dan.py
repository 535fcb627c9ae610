"""Deep averaging network: Iyyer et al. (2015), iclr2016 §3."""

from typing import Literal

from torch import Generator, Tensor, nn

from paraphrastic.encoding.batch import Batch
from paraphrastic.encoding.dense import Dense
from paraphrastic.encoding.encoder import WordConfig, WordEncoder


class Config(WordConfig):
    """Options of DAN.

    Attributes:
        layers: how many dense layers stand on the mean.
        activation: of each layer.
    """

    layers: Literal[1, 2]
    activation: Literal["tanh", "relu"]


class Dan(WordEncoder):
    """`g(s) = f(W2 f(W1 x̄ + b1) + b2)` of the mean word vector x̄; with one layer `f(W1 x̄ + b1)`."""

    def __init__(self, config: Config, generator: Generator) -> None:
        super().__init__(config)
        layers = (Dense(config.dim, config.dim, config.activation, generator) for _ in range(config.layers))
        self.layers = nn.Sequential(*layers)

    def forward(self, table: Tensor, batch: Batch) -> Tensor:
        """Sentence vectors, (B, dim)."""
        return self.layers(self.mean(table, batch))


MODEL = Dan
