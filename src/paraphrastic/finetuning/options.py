"""Options of the stage `finetune`, and of taggers by the name of the model that composes words."""

from pathlib import Path
from typing import Annotated, ClassVar, Literal, NamedTuple, Self

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationInfo, field_validator

from paraphrastic.base.errors import ParameterError, unknown_name
from paraphrastic.base.parameters import FILES, Orders, checked, read_mapping
from paraphrastic.models.charagram import CharagramArchitecture
from paraphrastic.models.charcnn import CharCnnArchitecture
from paraphrastic.models.charlstm import CharLstmArchitecture
from paraphrastic.nn.options import (
    ArchitectureConfig,
    DropoutProbability,
    NonNegativeFloat,
    PositiveFloat,
    PositiveInt,
    PrecisionConfig,
    Probability,
    Schedule,
    Threads,
)


class HeadConfig(BaseModel):
    """Options of training a head, and the encoder below it, on a task (iclr2016 §4.4).

    Pair models and taggers read the options of their own blocks in place of these.
    """

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    hidden_dim: PositiveInt  # size of the head's hidden layer
    epochs: PositiveInt  # passes over the training rows
    batch_size: PositiveInt  # rows per mini-batch
    optimizer: Literal["adam", "adagrad"]  # `adam` or `adagrad`
    learning_rate: PositiveFloat  # learning rate at the first step
    schedule: Schedule  # the learning rate stays `constant`, or decreases to 0 after the last step (`linear`)
    max_grad_norm: PositiveFloat | None  # the gradient is scaled down to this norm if it is larger; null for no limit
    lambda_s: NonNegativeFloat  # weight of ½‖Ws‖², Ws being the head
    # weight of ½‖Wc − Wc_initial‖² with `init: universal`, and for `irnn` always; of ½‖Wc‖² otherwise. Wc is all
    # parameters of the encoder except the embedding table; with `init: projected`, the projection. Without effect with
    # `init: frozen`.
    lambda_c: NonNegativeFloat
    # weight of ½‖Ww − Ww_initial‖², Ww being the embedding table, of n-grams and characters too; without effect with
    # `init: frozen` and `projected`, and if the model's `freeze_embeddings` is true
    lambda_w: NonNegativeFloat


class FinetuneConfig(HeadConfig):
    """Content of finetune/params.yaml."""

    tasks: Annotated[list[str], Field(min_length=1)]  # names of the tasks; each is an instance of the stage
    # the encoder starts from random weights (`scratch`), or from the trained model with a penalty toward it
    # (`universal`, iclr2016 §4.4.1). Or the vectors of the trained model are fixed: the head reads them as they are
    # (`frozen`, iclr2016 §4.4.2), or after a random projection that is trained on the task (`projected`, which is not
    # in the papers).
    init: Literal["scratch", "universal", "frozen", "projected"]
    projection_dim: PositiveInt  # size that vectors are projected to; read with `init: projected` only
    # in place of `scramble` in the model's block; null for the value there. acl2017 §4.3 tunes the noise on each task,
    # and starts from averages that were trained without (Table 8). `scramble`, `dropout` and `word_dropout` have
    # no effect with `init: frozen` and `projected`.
    scramble: Probability | None
    dropout: DropoutProbability | None  # likewise
    word_dropout: DropoutProbability | None  # likewise
    # options of `HeadConfig` for single tasks in place of those for all, as {sst: {hidden_dim: 300}}
    by_task: dict[str, dict[str, JsonValue]]
    tagger: str  # the entry of finetune/taggers.yaml for tasks of part-of-speech tags
    num_threads: Threads  # threads of the CPU

    def of(self, task: str) -> Self:
        """Return the options of one task.

        Raises:
            ParameterError: `by_task` has an unknown key or a wrong value for it.
        """
        head = {name: getattr(self, name) for name in HeadConfig.model_fields}
        own = checked(HeadConfig, head | self.by_task.get(task, {}), "finetune", "by_task", task)
        return self.model_copy(update=dict(own))

    @property
    def noise(self) -> dict[str, float]:
        """Options of the model's block that have another value on tasks."""
        values = {"scramble": self.scramble, "dropout": self.dropout, "word_dropout": self.word_dropout}
        return {name: value for name, value in values.items() if value is not None}


class TaggerConfig(ArchitectureConfig, PrecisionConfig):
    """Options of all taggers. `dim` is the size of a word vector, 150 in the paper (charagram2016 §4.2)."""

    encoder: ClassVar[str]  # name of the model that composes a word from its characters

    # compose words in lower case, as for sentences (charagram2016 §4.1). The word LSTM reads in any case whether a word
    # has a capital letter (§4.2). The released code has both for Charagram; its other taggers read the characters as
    # they are, without the capital-letter feature.
    lowercase: bool
    hidden_dim: PositiveInt  # size of a state of the word LSTM in each direction; the paper does not state it
    # probability that an element of the word LSTM's inputs and outputs is set to zero in training
    lstm_dropout: DropoutProbability
    epochs: PositiveInt  # passes over the training sentences; 50 in the paper
    batch_size: PositiveInt  # sentences per mini-batch; 100 in the paper
    optimizer: Literal["adam", "sgd"]  # `sgd` with momentum 0.95 as in the paper, or `adam`
    learning_rate: PositiveFloat  # learning rate at the first step; 0.2 in the paper
    schedule: Schedule  # the learning rate stays `constant`, or decreases to 0 after the last step (`linear`)
    max_grad_norm: PositiveFloat | None  # the gradient is scaled down to this norm if it is larger; null for no limit
    num_threads: Threads  # threads of the CPU


class CharagramTagger(CharagramArchitecture, TaggerConfig):
    """A word is the sum of its n-grams."""

    encoder = "charagram"

    orders: Orders  # lengths of n-grams in characters, including a space at each end of the word
    min_count: PositiveInt  # occurrences in the training tokens that an n-gram (or word) needs; 1 or 2 in the paper
    # how many of the most frequent n-grams of each order are kept (Table 5); null keeps all
    ngrams_per_order: PositiveInt | None


class CharacterTagger(TaggerConfig):
    """A word is composed from its characters. Characters of the training tokens have embeddings."""

    character_dim: PositiveInt  # size of a character embedding; 50 in the paper

    @property
    def embedding_dim(self) -> int:
        """Size of a row of the embedding table."""
        return self.character_dim


class CharCnnTagger(CharCnnArchitecture, CharacterTagger):
    """A word is composed by convolution filters over its characters.

    Without the dense layer, `dim` has to be the number of filters.
    """

    encoder = "charcnn"

    @field_validator("dense")
    @classmethod
    def _dim_without_dense(cls, dense: bool, info: ValidationInfo) -> bool:
        filters, dim = info.data.get("filters"), info.data.get("dim")  # missing if they are themselves invalid
        if not dense and filters and dim and dim != sum(filters.values()):
            raise ValueError(f"needs dim: {sum(filters.values())}, the number of filters; dim is {dim}")
        return dense


class CharLstmTagger(CharLstmArchitecture, CharacterTagger):
    """A word is the last hidden state of an LSTM over its characters."""

    encoder = "charlstm"


TAGGERS: dict[str, type[TaggerConfig]] = {
    config.encoder: config for config in (CharagramTagger, CharCnnTagger, CharLstmTagger)
}


class Options(NamedTuple):
    """What finetune/params.yaml and finetune/taggers.yaml say."""

    task: FinetuneConfig
    tagger: TaggerConfig


def load_options() -> Options:
    """Read and check the two files: of the latter, the block that `tagger` names.

    Raises:
        ParameterError: a file is missing or not a YAML mapping, or a key is unknown, missing or has a wrong value.
    """
    task = checked(FinetuneConfig, read_mapping(Path(FILES["finetune"])), "finetune")
    blocks = read_mapping(Path(FILES["taggers"]))
    if task.tagger not in blocks:
        raise ParameterError(f"{FILES['finetune']}: tagger: {unknown_name('tagger', task.tagger, blocks)}")
    return Options(task, checked(tagger_config_class(task.tagger), blocks[task.tagger], "taggers", task.tagger))


def tagger_config_class(encoder: str) -> type[TaggerConfig]:
    """Return the class that checks and holds the options of a tagger with the word model `encoder`.

    Raises:
        ParameterError: there is no such tagger.
    """
    if encoder not in TAGGERS:
        raise ParameterError(f"{FILES['taggers']}: {unknown_name('tagger', encoder, TAGGERS)}")
    return TAGGERS[encoder]
