"""LSTM with averaged states: acl2017 §3.1 (LSTMAVG)."""

from torch import Tensor

from paraphrastic.encoding.packing import Packing
from paraphrastic.encoding.recurrent import LstmConfig, LstmEncoder


class Config(LstmConfig):
    """LSTMAVG has no options of its own."""


class LstmAvg(LstmEncoder):
    """`g(s) = 1/|s| Σ_t h_t`, the mean of the states of a peephole LSTM."""

    def pool(self, states: Tensor, packing: Packing) -> Tensor:
        """Sentence vectors, (B, dim)."""
        return packing.mean(states)


MODEL = LstmAvg
