"""Bidirectional GRAN: acl2017 §4.2 (BiGRAN)."""

from torch import Generator, Tensor

from paraphrastic.nn.batch import Batch
from paraphrastic.nn.layers import Combine, CombineMode
from paraphrastic.nn.options import LstmConfig
from paraphrastic.nn.peephole_lstm import PeepholeLstm
from paraphrastic.nn.recurrent import GranGates, RecurrentEncoder, Variant


class Config(LstmConfig):
    """Options of BiGRAN."""

    variant: Variant  # the equation of a_t in both directions, see `GranGates`
    combine: CombineMode  # forward and backward vectors are added (`sum`), or mapped by one tanh layer (`dense`)


class BiGran(RecurrentEncoder):
    """A forward and a backward GRAN, combined at each word and averaged.

    In variants 3 and 4, where a_t is a running sum, the last a_t of both directions are combined and
    divided by the number of words.
    """

    def __init__(self, config: Config, generator: Generator) -> None:
        super().__init__(config)
        lstm = config.dim, config.dim, config.output_gate, generator, config.matmul_dtype
        gates = config.dim, config.variant, generator, config.matmul_dtype
        self.forward_lstm, self.forward_gates = PeepholeLstm(*lstm), GranGates(*gates)
        self.backward_lstm, self.backward_gates = PeepholeLstm(*lstm), GranGates(*gates)
        self.combine = Combine(config.combine, config.dim, generator, config.matmul_dtype)

    def forward(self, embeddings: Tensor, batch: Batch) -> Tensor:
        """Return sentence vectors, (B, dim)."""
        words, packing = self.packed_words(embeddings, batch)  # (N, dim), packed by time
        reversed_words, sizes = packing.reverse(words), packing.batch_sizes  # (N, dim), last word first
        forward, _ = self.forward_gates(words, self.forward_lstm(words, sizes), sizes)  # (N, dim)
        backward, _ = self.backward_gates(reversed_words, self.backward_lstm(reversed_words, sizes), sizes)  # (N, dim)
        if self.forward_gates.recurrent:
            last = self.combine(packing.final(forward), packing.final(backward))  # (B, dim)
            return packing.divide_by_length(last)
        return packing.mean(self.combine(forward, packing.reverse(backward)))  # (B, dim)


MODEL = BiGran
