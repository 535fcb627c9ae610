"""LSTM with averaged states: acl2017 §3.1 (LSTMAVG)."""

from torch import Generator, Tensor

from paraphrastic.encoding.packing import Packing
from paraphrastic.encoding.peephole import Peephole
from paraphrastic.encoding.recurrent import LstmConfig, RecurrentEncoder


class Config(LstmConfig):
    """LSTMAVG has no options of its own."""


class LstmAvg(RecurrentEncoder):
    """`g(s) = 1/|s| Σ_t h_t`, the mean of the states of a peephole LSTM."""

    def __init__(self, config: Config, generator: Generator) -> None:
        super().__init__(config)
        self.lstm = Peephole(config.dim, config.dim, config.output_gate, generator, config.reduced)

    def compose(self, words: Tensor, packing: Packing) -> Tensor:
        """Sentence vectors, (B, dim)."""
        return packing.mean(self.lstm(words, packing.sizes))


MODEL = LstmAvg
