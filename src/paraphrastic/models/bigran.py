"""Bidirectional GRAN: acl2017 §4.2 (BiGRAN)."""

from torch import Generator, Tensor

from paraphrastic.nn.batch import Batch
from paraphrastic.nn.bidirectional import Combine, CombineMode
from paraphrastic.nn.encoder import Encoder
from paraphrastic.nn.gran_gates import GranGates, Variant
from paraphrastic.nn.options import RecurrentConfig
from paraphrastic.nn.packing import Packing
from paraphrastic.nn.peephole_lstm import PeepholeLstm
from paraphrastic.nn.precision import Precision
from paraphrastic.nn.word_lookup import WordLookup


class Config(RecurrentConfig, Precision):
    """Options of BiGRAN.

    Attributes:
        output_gate: whether h = o ⊙ tanh(c) in both LSTMs; otherwise h = tanh(c).
        variant: the equation of a_t in both directions, see `GranGates`.
        combine: forward and backward vectors are added (`sum`), or mapped by one tanh layer (`dense`).
    """

    output_gate: bool
    variant: Variant
    combine: CombineMode


class BiGran(Encoder):
    """A forward and a backward GRAN, combined at each word and averaged.

    In variants 3 and 4, where a_t is a running sum, the last a_t of both directions are combined and
    divided by the number of words.
    """

    def __init__(self, config: Config, generator: Generator) -> None:
        super().__init__("words", config.dim, config.boundary_tokens)
        self.lookup = WordLookup(config.dropout, config.word_dropout)
        lstm = config.dim, config.dim, config.output_gate, generator, config.matmul_dtype
        gates = config.dim, config.variant, generator, config.matmul_dtype
        self.forward_lstm, self.forward_gates = PeepholeLstm(*lstm), GranGates(*gates)
        self.backward_lstm, self.backward_gates = PeepholeLstm(*lstm), GranGates(*gates)
        self.combine = Combine(config.combine, config.dim, generator, config.matmul_dtype)

    def forward(self, embeddings: Tensor, batch: Batch) -> Tensor:
        """Return sentence vectors, (B, dim)."""
        packing = Packing.of(batch)
        sizes = packing.batch_sizes
        words = self.lookup(embeddings, batch, packing.order)  # (N, dim), packed by time
        reversed_words = packing.reverse(words)  # (N, dim), last word first
        forward, _ = self.forward_gates(words, self.forward_lstm(words, sizes), sizes)  # (N, dim)
        backward, _ = self.backward_gates(reversed_words, self.backward_lstm(reversed_words, sizes), sizes)  # (N, dim)
        if self.forward_gates.recurrent:
            last = self.combine(packing.final(forward), packing.final(backward))  # (B, dim)
            return packing.divide_by_length(last)
        return packing.mean(self.combine(forward, packing.reverse(backward)))  # (B, dim)


MODEL = BiGran
