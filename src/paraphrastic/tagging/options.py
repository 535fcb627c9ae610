"""The options of a tagger, by the name of the model that composes its words."""

from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, Field

from paraphrastic.encoding.encoder import Positive, Probability, Rate, Shape
from paraphrastic.encoding.products import Products
from paraphrastic.errors import ParameterError, unknown
from paraphrastic.models.charagram import Sum
from paraphrastic.models.charcnn import Filters
from paraphrastic.models.charlstm import Layer


def _ascending(orders: list[int]) -> list[int]:
    if orders != sorted(set(orders)):
        raise ValueError("should be one length or more, ascending")
    return orders


Order = Annotated[int, Field(ge=1, le=6)]
Orders = Annotated[list[Order], Field(min_length=1), AfterValidator(_ascending)]


class TaggerConfig(Shape, Products):
    """Options that all taggers have; `dim` is that of a word, 150 in the paper (charagram2016 §4.2).

    Attributes:
        encoder: the model of `paraphrastic.models` that makes a word's vector.
        hidden: size of a state of the word LSTM in each direction; the paper does not say it.
        lstm_dropout: probability that a number that the word LSTM reads or says is dropped in training.
        epochs: passes over the training sentences, 50 in the paper.
        batch_size: sentences per mini-batch, 100 in the paper.
        optimizer: `sgd` with momentum 0.95 as in the paper, or `adam`.
        rate: learning rate at the first step, 0.2 in the paper.
        schedule: rate stays `constant`, or falls as `linear` to 0 at the last step.
        clip: largest norm of the whole gradient; null for no clipping.
        threads: of the CPU.
    """

    encoder: ClassVar[str]

    hidden: Positive
    lstm_dropout: Probability
    epochs: Positive
    batch_size: Positive
    optimizer: Literal["adam", "sgd"]
    rate: Rate
    schedule: Literal["constant", "linear"]
    clip: Rate | None
    threads: Positive


class CharagramTagger(Sum, TaggerConfig):
    """A word is the sum of its n-grams.

    Attributes:
        orders: lengths of n-grams in characters, a space at each end of the word included.
        min_count: occurrences in the training tokens that an n-gram (or word) needs, 1 or 2 in the paper.
        per_order: the most frequent ones of each order that are kept (Table 5); null keeps all.
    """

    encoder = "charagram"

    orders: Orders
    min_count: Positive
    per_order: Positive | None


class CharacterTagger(TaggerConfig):
    """A word is composed of its characters; those of the training tokens have vectors.

    Attributes:
        characters: size of a character's vector, 50 in the paper.
    """

    characters: Positive

    @property
    def row_dim(self) -> int:
        """Size of a row of the table."""
        return self.characters


class CharCnnTagger(Filters, CharacterTagger):
    """A word is what filters find in its characters."""

    encoder = "charcnn"


class CharLstmTagger(Layer, CharacterTagger):
    """A word is the last state of an LSTM over its characters."""

    encoder = "charlstm"


TAGGERS: dict[str, type[TaggerConfig]] = {
    config.encoder: config for config in (CharagramTagger, CharCnnTagger, CharLstmTagger)
}


def options(encoder: str) -> type[TaggerConfig]:
    """What checks and holds the options of a tagger with the word model `encoder`.

    Raises:
        ParameterError: there is no such tagger.
    """
    if encoder not in TAGGERS:
        raise ParameterError(unknown("tagger", encoder, TAGGERS))
    return TAGGERS[encoder]
