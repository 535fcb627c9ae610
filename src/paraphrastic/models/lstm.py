"""LSTM, last state: iclr2016 §3, acl2017 §3.1."""

from torch import Generator, Tensor

from paraphrastic.encoding.packing import Packing
from paraphrastic.encoding.peephole import Peephole
from paraphrastic.encoding.recurrent import LstmConfig, RecurrentEncoder


class Config(LstmConfig):
    """The LSTM has no options of its own."""


class Lstm(RecurrentEncoder):
    """`g(s) = h_{|s|}`, the last state of a peephole LSTM."""

    def __init__(self, config: Config, generator: Generator) -> None:
        super().__init__(config)
        self.lstm = Peephole(config.dim, config.dim, config.output_gate, generator, config.reduced)

    def compose(self, words: Tensor, packing: Packing) -> Tensor:
        """Sentence vectors, (B, dim)."""
        return packing.final(self.lstm(words, packing.sizes))


MODEL = Lstm
