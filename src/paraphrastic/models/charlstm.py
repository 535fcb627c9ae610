"""LSTM over characters, last hidden state: charagram2016 §3 (charLSTM)."""

from typing import Literal

from torch import Generator, Tensor

from paraphrastic.nn.batch import Batch, used_rows
from paraphrastic.nn.layers import Encoder
from paraphrastic.nn.options import ArchitectureConfig, EncoderConfig, PrecisionConfig
from paraphrastic.nn.peephole_lstm import PeepholeLstm
from paraphrastic.nn.recurrent import Packing


class CharLstmArchitecture(ArchitectureConfig, PrecisionConfig):
    """Options of the architecture, which sentence encoders and taggers share."""

    init: Literal["random", "idf"]
    output_gate: bool  # whether h = o ⊙ tanh(c); otherwise h = tanh(c)


class Config(CharLstmArchitecture, EncoderConfig):
    """Options of the character LSTM as a sentence encoder."""


class CharLstm(Encoder):
    """`g(s) = h_{|s|}`, the last hidden state of a peephole LSTM over the characters."""

    def __init__(self, config: CharLstmArchitecture, generator: Generator) -> None:
        super().__init__("characters", config.dim)
        self.lstm = PeepholeLstm(config.embedding_dim, config.dim, config.output_gate, generator, config.matmul_dtype)

    def forward(self, embeddings: Tensor, batch: Batch) -> Tensor:
        """Return sentence vectors, (B, dim)."""
        packing = Packing.of(batch)
        characters, rows = used_rows(embeddings, batch.ids[packing.order])  # (U, embedding_dim), (N,)
        states = self.lstm(characters, packing.batch_sizes, rows)  # (N, dim)
        return packing.final(states)  # (B, dim)


MODEL = CharLstm
