"""Options that several models share. Each model's own options stand in its file."""

from collections.abc import Callable
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from paraphrastic.vocabulary.kinds import BoundaryTokens

PositiveInt = Annotated[int, Field(gt=0, lt=2**31)]  # torch refuses larger sizes in other words for each
Threads = Annotated[int, Field(ge=1, le=1024)]  # more end the process, without an error that Python sees
# finite, unlike pydantic's, and float32 holds its product with a learning rate
NonNegativeFloat = Annotated[float, Field(ge=0, le=1e30, allow_inf_nan=False)]
PositiveFloat = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Probability = Annotated[float, Field(ge=0, le=1)]
DropoutProbability = Annotated[float, Field(ge=0, lt=1)]
Negatives = Literal["max", "mix", "random"]
Schedule = Literal["constant", "linear"]  # the names in `SCHEDULES`
MatmulDtype = Literal["float32", "bfloat16"]
Shares = NDArray[np.float64]

# what the learning rate is multiplied by at each step, from the share of the steps that are done
SCHEDULES: dict[Schedule, Callable[[Shares], Shares]] = {"constant": np.ones_like, "linear": lambda done: 1 - done}


class ArchitectureConfig(BaseModel):
    """Options of a model's architecture, independent of how it is trained.

    Attributes:
        dim: size of the embeddings, unless an option of the model gives it, and of the vectors that an encoder returns.
        init: initial embeddings, drawn from N(0, 1/d), so that their length is about 1 (`random`), or the same
            multiplied by inverse document frequency (`idf`), or, multiplied so, vectors of length 1 that are computed
            from the words that stand near each other in the training sentences (`cooccurrence`), which models of words
            have.
    """

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    dim: PositiveInt
    init: Literal["random", "idf", "cooccurrence"]

    @property
    def embedding_dim(self) -> int:
        """Size of a row of the embedding table."""
        return self.dim


class TrainingConfig(ArchitectureConfig):
    """Options of every model that is trained on pairs (acl2017 §4.1.2).

    On supervised tasks, encoders read none of them, because finetune/params.yaml has its own; pair models read all
    except `negatives` and `num_threads`.

    Attributes:
        epochs: passes over the pairs.
        batch_size: pairs per mini-batch.
        accumulate: mini-batches whose gradients are added before a step. The loss of a step is the mean over all their
            pairs, as that of one mini-batch of `accumulate` · `batch_size` pairs, except that the negatives of a
            sentence come from its own mini-batch. The learning rate is not changed.
        batches: draw each mini-batch from one `source`, which makes its negatives harder, or from all (`mixed`).
            `blocks` is for corpora that are larger than the memory: mini-batches come from 16 random blocks of 65,536
            adjacent pairs, then from other 16.
        curriculum: the first epoch takes the pairs in file order (charagram2016 §4.1.4).
        negatives: the most similar sentences of the mini-batch (`max`), `random` ones, or each of both with
            probability one half (`mix`). The loss `margin` and pair models read it.
        optimizer: `adam` or `adagrad`.
        learning_rate: learning rate at the first step.
        schedule: the learning rate stays `constant`, or decreases to 0 after the last step (`linear`).
        max_grad_norm: the gradient is scaled down to this norm if it is larger; null for no limit.
        lambda_c: weight of ½‖Wc‖². Wc is all parameters except word embeddings; embeddings of n-grams and characters
            belong to it. Models that are regularised toward their start use ½‖Wc − Wc_initial‖². `avg` has no Wc and
            refuses any weight but 0.
        num_threads: threads of the CPU. More than one helps recurrent encoders, whose blocks have this option.
    """

    epochs: PositiveInt
    batch_size: Annotated[int, Field(ge=2, lt=2**31)]
    accumulate: PositiveInt = 1
    batches: Literal["mixed", "source", "blocks"]
    curriculum: bool
    negatives: Negatives
    optimizer: Literal["adam", "adagrad"]
    learning_rate: PositiveFloat
    schedule: Schedule
    max_grad_norm: PositiveFloat | None
    lambda_c: NonNegativeFloat
    num_threads: Threads = 1


class EncoderConfig(TrainingConfig):
    """Options of sentence encoders. A loss takes its own from here, where they are not in `train.loss_options`."""

    margin: NonNegativeFloat  # δ of the margin loss (acl2017 §3.2, Eq. 2), which alone reads it
    temperature: PositiveFloat | None = None  # τ of the loss `infonce`; null for its default


class PairModelConfig(TrainingConfig):
    """Options of pair models that are trained on paraphrases."""

    # mismatched partners of each sentence; `negatives` says which. Not read on supervised tasks.
    negatives_per_sentence: PositiveInt


class WordEmbeddingsConfig(BaseModel):
    """Options of models whose embedding table holds words.

    Attributes:
        vectors: file of initial word vectors in GloVe or word2vec text format (iclr2016 §4.2.1); null for none. Its
            word `UUUNKKK` has the initial vector of unknown words; without it, that vector is zero.
        freeze_embeddings: keep the embedding table at its initial values, also on supervised tasks (iclr2016, notes 9
            and 16): the vectors of the file, and the random ones of words that it lacks. `lambda_w` then has no effect.
        lambda_w: weight of ½‖Ww − Ww_initial‖², Ww being the embedding table; not read by encoders on supervised tasks.
    """

    vectors: Annotated[str, Field(min_length=1)] | None
    freeze_embeddings: bool
    lambda_w: NonNegativeFloat


class WordEncoderConfig(WordEmbeddingsConfig, EncoderConfig):
    """Options of encoders that read words."""

    # enclose every sentence in `<s>` and `</s>`: `none`, `start`, `end` or `both` (acl2017 §4.1.2, note 4)
    boundary_tokens: BoundaryTokens
    # probability that an element of a word embedding is set to zero in training (acl2017 §4.2)
    dropout: DropoutProbability
    # probability that a whole word embedding is set to zero in training (acl2017 §4.2)
    word_dropout: DropoutProbability


class PrecisionConfig(BaseModel):
    """Option of models that spend most of their time on matrix products."""

    matmul_dtype: MatmulDtype  # data type of the operands of matrix products in training


class RecurrentConfig(WordEncoderConfig, PrecisionConfig):
    """Options of encoders whose vectors depend on the order of words.

    Attributes:
        scramble: probability that the words of both sentences of a pair, or of a single labelled sentence, are shuffled
            in training (acl2017 §4.2).
    """

    scramble: Probability


class LstmConfig(RecurrentConfig):
    """Options of encoders with an LSTM over words."""

    output_gate: bool  # whether h = o ⊙ tanh(c); otherwise h = tanh(c)


def freezes_embeddings(config: ArchitectureConfig) -> bool:
    """Return whether a model with these options keeps its embedding table at its initial values."""
    return isinstance(config, WordEmbeddingsConfig) and config.freeze_embeddings
