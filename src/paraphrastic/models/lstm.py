"""LSTM, last hidden state: iclr2016 §3, acl2017 §3.1 (LSTM)."""

from torch import Generator, Tensor

from paraphrastic.nn.batch import Batch
from paraphrastic.nn.encoder import Encoder
from paraphrastic.nn.options import RecurrentConfig
from paraphrastic.nn.packing import Packing
from paraphrastic.nn.peephole_lstm import PeepholeLstm
from paraphrastic.nn.precision import Precision
from paraphrastic.nn.word_lookup import WordLookup


class Config(RecurrentConfig, Precision):
    """Options of the LSTM.

    Attributes:
        output_gate: whether h = o ⊙ tanh(c); otherwise h = tanh(c).
    """

    output_gate: bool


class Lstm(Encoder):
    """`g(s) = h_{|s|}`, the last hidden state of a peephole LSTM."""

    def __init__(self, config: Config, generator: Generator) -> None:
        super().__init__("words", config.dim, config.boundary_tokens)
        self.lookup = WordLookup(config.dropout, config.word_dropout)
        self.lstm = PeepholeLstm(config.dim, config.dim, config.output_gate, generator, config.matmul_dtype)

    def forward(self, embeddings: Tensor, batch: Batch) -> Tensor:
        """Return sentence vectors, (B, dim)."""
        packing = Packing.of(batch)
        words = self.lookup(embeddings, batch, packing.order)  # (N, dim), packed by time
        states = self.lstm(words, packing.batch_sizes)  # (N, dim)
        return packing.final(states)  # (B, dim)


MODEL = Lstm
