"""Gated recurrent averaging network: acl2017 §3.1, Eq. 1 (GRAN, GRAN-2 to GRAN-5)."""

from torch import Generator, Tensor

from paraphrastic.nn.batch import Batch
from paraphrastic.nn.encoder import Encoder
from paraphrastic.nn.gran_gates import GranGates, Variant
from paraphrastic.nn.options import RecurrentConfig
from paraphrastic.nn.packing import Packing
from paraphrastic.nn.peephole_lstm import PeepholeLstm
from paraphrastic.nn.precision import Precision
from paraphrastic.nn.word_lookup import WordLookup


class Config(RecurrentConfig, Precision):
    """Options of GRAN.

    Attributes:
        output_gate: whether h = o ⊙ tanh(c) in the LSTM; otherwise h = tanh(c).
        variant: the equation of a_t, see `GranGates`.
    """

    output_gate: bool
    variant: Variant


class Gran(Encoder):
    """The vectors a_t of `GranGates`, pooled: in variant 1 the mean of `x_t ⊙ σ(Wx x_t + Wh h_t + b)`.

    The states h_t are those of an LSTM.
    """

    def __init__(self, config: Config, generator: Generator) -> None:
        super().__init__("words", config.dim, config.boundary_tokens)
        self.lookup = WordLookup(config.dropout, config.word_dropout)
        self.lstm = PeepholeLstm(config.dim, config.dim, config.output_gate, generator, config.matmul_dtype)
        self.gates = GranGates(config.dim, config.variant, generator, config.matmul_dtype)

    def forward(self, embeddings: Tensor, batch: Batch) -> Tensor:
        """Return sentence vectors, (B, dim)."""
        packing = Packing.of(batch)
        gated, _ = self.gated_words(embeddings, batch, packing)
        return self.gates.pool(gated, packing)  # (B, dim)

    def gated_words(self, embeddings: Tensor, batch: Batch, packing: Packing) -> tuple[Tensor, Tensor]:
        """Return all a_t, (N, dim), and their gates, packed by time; see `GranGates.forward`."""
        words = self.lookup(embeddings, batch, packing.order)  # (N, dim), packed by time
        states = self.lstm(words, packing.batch_sizes)  # (N, dim)
        gated: tuple[Tensor, Tensor] = self.gates(words, states, packing.batch_sizes)
        return gated


MODEL = Gran
