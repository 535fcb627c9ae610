"""LSTM, last state: iclr2016 §3, acl2017 §3.1."""

from torch import Tensor

from paraphrastic.encoding.packing import Packing
from paraphrastic.encoding.recurrent import LstmConfig, LstmEncoder


class Config(LstmConfig):
    """The LSTM has no options of its own."""


class Lstm(LstmEncoder):
    """`g(s) = h_{|s|}`, the last state of a peephole LSTM."""

    def pool(self, states: Tensor, packing: Packing) -> Tensor:
        """Sentence vectors, (B, dim)."""
        return packing.final(states)


MODEL = Lstm
