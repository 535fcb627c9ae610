"""LSTM over characters, last state: charagram2016 §3 (charLSTM)."""

from torch import Generator, Tensor

from paraphrastic.encoding.batch import Batch, distinct
from paraphrastic.encoding.encoder import Encoder, EncoderConfig, Shape
from paraphrastic.encoding.packing import Packing
from paraphrastic.encoding.peephole import Peephole
from paraphrastic.encoding.products import Products


class Layer(Shape, Products):
    """What the character LSTM is made of.

    Attributes:
        output_gate: with it h = o ⊙ tanh(c), without it h = tanh(c).
    """

    output_gate: bool


class Config(Layer, EncoderConfig):
    """Options of the character LSTM."""


class CharLstm(Encoder):
    """`g(s) = h_{|s|}`, the last state of a peephole LSTM over the characters."""

    units = "characters"

    def __init__(self, config: Layer, generator: Generator) -> None:
        super().__init__()
        self.out_dim = config.dim
        self.lstm = Peephole(config.row_dim, config.dim, config.output_gate, generator, config.reduced)

    def forward(self, table: Tensor, batch: Batch) -> Tensor:
        """Sentence vectors, (B, dim)."""
        packing = Packing.of(batch)
        characters, places = distinct(table, batch.ids[packing.order])
        return packing.final(self.lstm(characters, packing.sizes, places))


MODEL = CharLstm
