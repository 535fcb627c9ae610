"""Bidirectional GRAN: acl2017 §4.1.4 (BiGRAN)."""

from torch import Generator, Tensor

from paraphrastic.encoding.gated import Gran, Variant
from paraphrastic.encoding.packing import Packing
from paraphrastic.encoding.recurrent import BidirectionalConfig, Combine, RecurrentEncoder, backward


class Config(BidirectionalConfig):
    """Options of BiGRAN.

    Attributes:
        variant: what the gates of both directions act on, see `Gran`.
    """

    variant: Variant


class BiGran(RecurrentEncoder):
    """A GRAN that reads forward and one that reads backward, combined word by word and averaged.

    Of variants 3 and 4, whose a_t run over the sentence, the two last ones are combined.
    """

    def __init__(self, config: Config, generator: Generator) -> None:
        super().__init__(config)
        options = config.dim, config.variant, config.output_gate, generator, config.reduced
        self.ahead, self.back = Gran(*options), Gran(*options)
        self.combine = Combine(config.combine, config.dim, generator, config.reduced)

    def compose(self, words: Tensor, packing: Packing) -> Tensor:
        """Sentence vectors, (B, dim)."""
        ahead = self.ahead(words, packing.sizes)
        if not self.ahead.running:
            return packing.mean(self.combine(ahead, backward(self.back, words, packing)))
        back = self.back(words.index_select(0, packing.mirror), packing.sizes)
        return packing.per_token(self.combine(packing.final(ahead), packing.final(back)))


MODEL = BiGran
