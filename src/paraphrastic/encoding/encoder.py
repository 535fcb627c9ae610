"""What all trained models share: what they are and the options of their training."""

from abc import ABC, abstractmethod
from typing import Annotated, ClassVar, Literal, Protocol

import numpy as np
import pyarrow as pa
import torch
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field
from torch import Tensor, nn
from torch.nn.functional import dropout

from paraphrastic.encoding.bag_sum import bag_sum
from paraphrastic.encoding.batch import Batch
from paraphrastic.text.bags import Bags
from paraphrastic.text.characters import Characters
from paraphrastic.text.mixed import WordsAndNgrams
from paraphrastic.text.ngrams import Ngrams
from paraphrastic.text.words import Tags, Words

Positive = Annotated[int, Field(ge=1)]
Weight = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Rate = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Probability = Annotated[float, Field(ge=0, lt=1)]


class Shape(BaseModel):
    """What an encoder is made of, whatever it is trained for.

    Attributes:
        dim: size of a vector that it makes.
        init: rows of the table start at `random` directions, or at random directions scaled by `idf`.
    """

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    dim: Positive
    init: Literal["random", "idf"]

    @property
    def row_dim(self) -> int:
        """Size of a row of the table (words, characters or n-grams)."""
        return self.dim


class TrainingConfig(Shape):
    """Options that all trained models have (acl2017 §4.1; the starting table: iclr2016 §4.2).

    Vectors and rows of the table have one size, 300 in the papers.

    Attributes:
        epochs: passes over the pairs.
        batch_size: pairs per mini-batch.
        batches: `mixed`, or every mini-batch from one `source`, which makes its negatives harder.
        curriculum: the first epoch takes the pairs in file order (charagram2016 §4.1.4).
        negatives: `max`, the most similar ones; `random`; or `mix` of both with probability one half.
        optimizer: `adam` or `adagrad`.
        rate: learning rate at the first step.
        schedule: rate stays `constant`, or falls as `linear` to 0 at the last step.
        clip: largest norm of the whole gradient; null for no clipping.
        threads: of the CPU; more than one pays for recurrent encoders only.
        lambda_c: weight of ½‖Wc‖², Wc being all that is learned but word vectors; of ½‖Wc − Wc_initial‖² where
            the model says so.
    """

    epochs: Positive
    batch_size: Annotated[int, Field(ge=2)]
    batches: Literal["mixed", "source"]
    curriculum: bool
    negatives: Literal["max", "mix", "random"]
    optimizer: Literal["adam", "adagrad"]
    rate: Rate
    schedule: Literal["constant", "linear"]
    clip: Rate | None
    lambda_c: Weight
    threads: Positive


class EncoderConfig(TrainingConfig):
    """Options of sentence encoders (acl2017 §3.2).

    Attributes:
        margin: δ of Eq. 2.
    """

    margin: Weight


class VectorOptions(BaseModel):
    """Options of models whose table is of words.

    Attributes:
        vectors: file of initial word vectors in GloVe or word2vec text format; null for none.
        lambda_w: weight of ½‖Ww − Ww_initial‖², Ww being the word vectors.
    """

    vectors: str | None
    lambda_w: Weight


class WordConfig(VectorOptions, EncoderConfig):
    """Options of encoders that read words; the noise of training is that of acl2017 §4.1.4.

    Attributes:
        tags: `<s>` and `</s>` around every sentence: `none`, `start`, `end` or `both`.
        scramble: probability that the words of both sentences of a pair are shuffled.
        dropout: probability that a number of a word vector is dropped in training.
        word_dropout: probability that a whole word vector is dropped in training.
    """

    tags: Tags
    scramble: Annotated[float, Field(ge=0, le=1)]
    dropout: Probability
    word_dropout: Probability


class Units(Protocol):
    """A vocabulary that reads text: words, character n-grams."""

    def bags(self, sentences: pa.StringArray) -> Bags:
        """The units of tokenized sentences."""
        ...

    def unknown(self, sentences: pa.StringArray) -> NDArray[np.float64]:
        """Share of each sentence's units that the vocabulary lacks, (n,)."""
        ...


class Composition(nn.Module):
    """What is learned beside a table of unit vectors.

    The table (Ww) is handed in, so that a training step can hand in only the rows that it touches; the
    module's own parameters are the compositional ones (Wc).

    Attributes:
        units: what the rows of the table stand for.
        pulled_to_start: λc pulls the parameters toward where they started, not toward zero.
    """

    units: Literal["words", "ngrams", "words+ngrams", "characters"]
    pulled_to_start: ClassVar[bool] = False

    def reader(self, texts: pa.StringArray) -> Units:
        """The vocabulary `texts`, in row order of the table, as this model reads text with it."""
        kinds = {"words": Words, "ngrams": Ngrams, "words+ngrams": WordsAndNgrams, "characters": Characters}
        return kinds[self.units](texts)


class Encoder(Composition, ABC):
    """Maps a table of unit vectors and a batch of sentences to sentence vectors.

    Attributes:
        out_dim: size of a sentence vector.
    """

    out_dim: int

    @abstractmethod
    def forward(self, table: Tensor, batch: Batch) -> Tensor:
        """Sentence vectors (B, out_dim) from `table` (U, dim); the same finite one for all sentences without units."""


class PairEncoder(Composition, ABC):
    """Maps a table of unit vectors and pairs of sentences to how well each pair matches."""

    @abstractmethod
    def forward(self, table: Tensor, batch: Batch, left: Tensor, right: Tensor) -> Tensor:
        """Log odds of a match (P,) from `table` (U, dim), `left` and `right` (P,) being sentences of the batch."""


class WordEncoder(Encoder):
    """An encoder that reads words; in training their vectors are dropped out as acl2017 §4.1.4 says."""

    units = "words"

    def __init__(self, config: WordConfig) -> None:
        super().__init__()
        self.out_dim = config.dim
        self._tags: Tags = config.tags
        self._dropout, self._word_dropout = config.dropout, config.word_dropout

    def reader(self, texts: pa.StringArray) -> Words:
        """The words `texts`, with tags around each sentence where the model has them."""
        return Words(texts, self._tags)

    def inputs(self, table: Tensor, ids: Tensor) -> Tensor:
        """Word vectors (N, dim) of the rows `ids` (N,) of `table`; what is not dropped is scaled up."""
        vectors = table.index_select(0, ids)
        if self._word_dropout:
            vectors = vectors * dropout(vectors.new_ones(len(ids), 1), self._word_dropout, self.training)
        return dropout(vectors, self._dropout, self.training) if self._dropout else vectors

    def mean(self, table: Tensor, batch: Batch) -> Tensor:
        """Mean word vectors (B, dim): iclr2016 §3, acl2017 §3.1 (AVG)."""
        ids, weights = batch.ids, batch.counts
        if self.training and (self._dropout or self._word_dropout):
            table, ids = self.inputs(table, ids), torch.arange(len(ids), device=ids.device)
        return bag_sum(table, ids, batch.offsets, weights) / batch.lengths.clamp(min=1).unsqueeze(1)
