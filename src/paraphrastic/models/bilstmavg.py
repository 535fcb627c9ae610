"""Bidirectional LSTM with averaged states: acl2017 §4.1.4 (BiLSTMAVG)."""

from torch import Generator, Tensor

from paraphrastic.encoding.packing import Packing
from paraphrastic.encoding.peephole import Peephole
from paraphrastic.encoding.recurrent import BidirectionalConfig, Combine, RecurrentEncoder, backward


class Config(BidirectionalConfig):
    """BiLSTMAVG has no options of its own."""


class BiLstmAvg(RecurrentEncoder):
    """The mean over the words of the combined states of a forward and a backward peephole LSTM."""

    def __init__(self, config: Config, generator: Generator) -> None:
        super().__init__(config)
        options = config.dim, config.dim, config.output_gate, generator, config.reduced
        self.ahead, self.back = Peephole(*options), Peephole(*options)
        self.combine = Combine(config.combine, config.dim, generator, config.reduced)

    def compose(self, words: Tensor, packing: Packing) -> Tensor:
        """Sentence vectors, (B, dim)."""
        ahead, back = self.ahead(words, packing.sizes), backward(self.back, words, packing)
        return packing.mean(self.combine(ahead, back))


MODEL = BiLstmAvg
