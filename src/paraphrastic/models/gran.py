"""Gated recurrent averaging network: acl2017 §3.1, Eq. 1 (GRAN, GRAN-2 to GRAN-5)."""

from torch import Generator, Tensor

from paraphrastic.encoding.gated import Gran, Variant
from paraphrastic.encoding.packing import Packing
from paraphrastic.encoding.recurrent import LstmConfig, RecurrentEncoder


class Config(LstmConfig):
    """Options of GRAN.

    Attributes:
        variant: what the gates act on, see `Gran`.
    """

    variant: Variant


class GranEncoder(RecurrentEncoder):
    """The mean of gated word vectors."""

    def __init__(self, config: Config, generator: Generator) -> None:
        super().__init__(config)
        self.gran = Gran(config.dim, config.variant, config.output_gate, generator, config.reduced)

    def compose(self, words: Tensor, packing: Packing) -> Tensor:
        """Sentence vectors, (B, dim)."""
        return self.gran.pool(self.gran(words, packing.sizes), packing)


MODEL = GranEncoder
