"""LSTM over characters, last state: charagram2016 §3 (charLSTM)."""

from torch import Generator, Tensor

from paraphrastic.encoding.encoder import Batch, Encoder, EncoderConfig
from paraphrastic.encoding.packing import Packing
from paraphrastic.encoding.peephole import Peephole
from paraphrastic.encoding.products import Products


class Config(EncoderConfig, Products):
    """Options of the character LSTM.

    Attributes:
        output_gate: with it h = o ⊙ tanh(c), without it h = tanh(c).
    """

    output_gate: bool


class CharLstm(Encoder):
    """`g(s) = h_{|s|}`, the last state of a peephole LSTM over the characters."""

    units = "characters"

    def __init__(self, config: Config, generator: Generator) -> None:
        super().__init__()
        self.out_dim = config.dim
        self.lstm = Peephole(config.dim, config.dim, config.output_gate, generator, config.reduced)

    def forward(self, table: Tensor, batch: Batch) -> Tensor:
        """Sentence vectors, (B, dim)."""
        packing = Packing.of(batch.offsets)
        rows, places = batch.ids[packing.order].unique(return_inverse=True)
        return packing.final(self.lstm(table.index_select(0, rows), packing.sizes, places))


MODEL = CharLstm
