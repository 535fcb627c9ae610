"""Gated recurrent averaging network: acl2017 §3.1, Eq. 1 (GRAN, GRAN-2 to GRAN-5)."""

from torch import Generator, Tensor

from paraphrastic.nn.batch import Batch
from paraphrastic.nn.options import LstmConfig
from paraphrastic.nn.peephole_lstm import PeepholeLstm
from paraphrastic.nn.recurrent import GranGates, Packing, RecurrentEncoder, Variant


class Config(LstmConfig):
    """Options of GRAN."""

    variant: Variant  # the equation of a_t, see `GranGates`


class Gran(RecurrentEncoder):
    """The vectors a_t of `GranGates`, pooled: in variant 1 the mean of `x_t ⊙ σ(Wx x_t + Wh h_t + b)`.

    In variants 3 and 4, where a_t is a running sum, the last a_t is divided by the number of words.

    The states h_t are those of an LSTM.
    """

    def __init__(self, config: Config, generator: Generator) -> None:
        super().__init__(config)
        self.lstm = PeepholeLstm(config.dim, config.dim, config.output_gate, generator, config.matmul_dtype)
        self.gates = GranGates(config.dim, config.variant, generator, config.matmul_dtype)

    def forward(self, embeddings: Tensor, batch: Batch) -> Tensor:
        """Return sentence vectors, (B, dim)."""
        gated, _, packing = self.gated_words(embeddings, batch)  # (N, dim)
        if self.gates.recurrent:
            return packing.divide_by_length(packing.final(gated))  # (B, dim)
        return packing.mean(gated)  # (B, dim)

    def gated_words(self, embeddings: Tensor, batch: Batch) -> tuple[Tensor, Tensor, Packing]:
        """Return all a_t, (N, dim), and their gates, packed by time, and the packing; see `GranGates.forward`."""
        words, packing = self.packed_words(embeddings, batch)  # (N, dim)
        states = self.lstm(words, packing.batch_sizes)  # (N, dim)
        return *self.gates(words, states, packing.batch_sizes), packing


MODEL = Gran
