"""Bidirectional LSTM, mean of the combined hidden states: acl2017 §4.2 (BiLSTMAVG)."""

from torch import Generator, Tensor

from paraphrastic.nn.batch import Batch
from paraphrastic.nn.layers import Combine, CombineMode
from paraphrastic.nn.options import LstmConfig
from paraphrastic.nn.peephole_lstm import PeepholeLstm
from paraphrastic.nn.recurrent import RecurrentEncoder


class Config(LstmConfig):
    """Options of BiLSTMAVG."""

    combine: CombineMode  # forward and backward states are added (`sum`), or mapped by one tanh layer (`dense`)


class BiLstmAvg(RecurrentEncoder):
    """The mean over all words of the combined states of a forward and a backward peephole LSTM."""

    def __init__(self, config: Config, generator: Generator) -> None:
        super().__init__(config)
        options = config.dim, config.dim, config.output_gate, generator, config.matmul_dtype
        self.forward_lstm, self.backward_lstm = PeepholeLstm(*options), PeepholeLstm(*options)
        self.combine = Combine(config.combine, config.dim, generator, config.matmul_dtype)

    def forward(self, embeddings: Tensor, batch: Batch) -> Tensor:
        """Return sentence vectors, (B, dim)."""
        words, packing = self.packed_words(embeddings, batch)  # (N, dim), packed by time
        forward = self.forward_lstm(words, packing.batch_sizes)  # (N, dim)
        backward = self.backward_lstm(packing.reverse(words), packing.batch_sizes)  # (N, dim), last word first
        return packing.mean(self.combine(forward, packing.reverse(backward)))  # (B, dim)


MODEL = BiLstmAvg
