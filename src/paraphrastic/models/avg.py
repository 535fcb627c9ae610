"""Word averaging: iclr2016 §3 (PARAGRAM-PHRASE), acl2017 §3.1 (AVG)."""

from torch import Generator, Tensor

from paraphrastic.nn.batch import Batch
from paraphrastic.nn.layers import Encoder, WordLookup
from paraphrastic.nn.options import WordEncoderConfig
from paraphrastic.nn.static_form import StaticForm


class Config(WordEncoderConfig):
    """Options of word averaging: those of all word encoders."""


class Avg(Encoder):
    """`g(s) = 1/|s| Σ_t x_t`, the mean of the word embeddings."""

    def __init__(self, config: Config, generator: Generator) -> None:
        super().__init__("words", config.dim, config.boundary_tokens)
        self.lookup = WordLookup(config.dropout, config.word_dropout)

    def forward(self, embeddings: Tensor, batch: Batch) -> Tensor:
        """Return sentence vectors, (B, dim)."""
        return self.lookup.mean(embeddings, batch)  # (B, dim)

    def static_form(self) -> StaticForm:
        """Return the same mean without torch."""
        return StaticForm("words", "mean", self.boundary_tokens)


MODEL = Avg
