"""Word averaging: iclr2016 §3 (paragram-phrase), acl2017 §3.1 (AVG)."""

from torch import Generator, Tensor

from paraphrastic.encoding.batch import Batch
from paraphrastic.encoding.encoder import WordConfig, WordEncoder


class Config(WordConfig):
    """Word averaging has no options of its own."""


class Avg(WordEncoder):
    """`g(s) = 1/|s| Σ_t x_t`, the mean of the word vectors."""

    def __init__(self, config: Config, generator: Generator) -> None:
        del generator  # nothing to draw: the table is all that is learned
        super().__init__(config)

    def forward(self, table: Tensor, batch: Batch) -> Tensor:
        """Sentence vectors, (B, dim)."""
        return self.mean(table, batch)


MODEL = Avg
