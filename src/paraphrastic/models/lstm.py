"""LSTM, last hidden state: iclr2016 §3, acl2017 §3.1 (LSTM)."""

from torch import Generator, Tensor

from paraphrastic.nn.batch import Batch
from paraphrastic.nn.options import LstmConfig
from paraphrastic.nn.peephole_lstm import PeepholeLstm
from paraphrastic.nn.recurrent import RecurrentEncoder


class Config(LstmConfig):
    """Options of the LSTM: those of all encoders with an LSTM over words."""


class Lstm(RecurrentEncoder):
    """`g(s) = h_{|s|}`, the last hidden state of a peephole LSTM."""

    def __init__(self, config: Config, generator: Generator) -> None:
        super().__init__(config)
        self.lstm = PeepholeLstm(config.dim, config.dim, config.output_gate, generator, config.matmul_dtype)

    def forward(self, embeddings: Tensor, batch: Batch) -> Tensor:
        """Return sentence vectors, (B, dim)."""
        words, packing = self.packed_words(embeddings, batch)  # (N, dim), packed by time
        states = self.lstm(words, packing.batch_sizes)  # (N, dim)
        return packing.final(states)  # (B, dim)


MODEL = Lstm
