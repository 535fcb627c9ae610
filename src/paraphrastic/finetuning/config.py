"""Options of the stage `finetune`."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, PositiveInt

from paraphrastic.nn.options import DropoutProbability, NonNegativeFloat, PositiveFloat, Probability, Schedule


class HeadConfig(BaseModel):
    """Options of training a head, and the encoder below it, on a task (iclr2016 §4.4).

    Pair models and taggers read the options of their own blocks in place of these.

    Attributes:
        hidden_dim: size of the head's hidden layer.
        epochs: passes over the training rows.
        batch_size: rows per mini-batch.
        optimizer: `adam` or `adagrad`.
        learning_rate: learning rate at the first step.
        schedule: the learning rate stays `constant`, or decreases to 0 after the last step (`linear`).
        max_grad_norm: the gradient is scaled down to this norm if it is larger; null for no limit.
        lambda_s: weight of ½‖Ws‖², Ws being the head.
        lambda_c: weight of ½‖Wc − Wc_initial‖² with `init: universal`, and for `irnn` always; of ½‖Wc‖² otherwise. Wc
            is all parameters of the encoder except the embedding table; with `init: projected`, the projection. Without
            effect with `init: frozen`.
        lambda_w: weight of ½‖Ww − Ww_initial‖², Ww being the embedding table, of n-grams and characters too; without
            effect with `init: frozen` and `projected`, and if the model's `freeze_embeddings` is true.
    """

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    hidden_dim: PositiveInt
    epochs: PositiveInt
    batch_size: PositiveInt
    optimizer: Literal["adam", "adagrad"]
    learning_rate: PositiveFloat
    schedule: Schedule
    max_grad_norm: PositiveFloat | None
    lambda_s: NonNegativeFloat
    lambda_c: NonNegativeFloat
    lambda_w: NonNegativeFloat


class FinetuneConfig(HeadConfig):
    """Content of finetune/params.yaml.

    Attributes:
        tasks: names of the tasks; each is an instance of the stage.
        init: the encoder starts from random weights (`scratch`), or from the trained model with a penalty toward it
            (`universal`, iclr2016 §4.4.1). Or the vectors of the trained model are fixed: the head reads them as they
            are (`frozen`, iclr2016 §4.4.2), or after a random projection that is trained on the task (`projected`,
            which is not in the papers).
        projection_dim: size that vectors are projected to; read with `init: projected` only.
        scramble: in place of `scramble` in the model's block; null for the value there. acl2017 §4.3 tunes the noise on
            each task, and starts from averages that were trained without (Table 8). `scramble`, `dropout` and
            `word_dropout` are not read with `init: frozen` and `projected`.
        dropout: likewise.
        word_dropout: likewise.
        tagger: the entry of finetune/taggers.yaml for tasks of part-of-speech tags.
        num_threads: threads of the CPU.
    """

    tasks: Annotated[list[str], Field(min_length=1)]
    init: Literal["scratch", "universal", "frozen", "projected"]
    projection_dim: PositiveInt
    scramble: Probability | None
    dropout: DropoutProbability | None
    word_dropout: DropoutProbability | None
    tagger: str
    num_threads: PositiveInt

    @property
    def noise(self) -> dict[str, float]:
        """Options of the model's block that have another value on tasks."""
        values = {"scramble": self.scramble, "dropout": self.dropout, "word_dropout": self.word_dropout}
        return {name: value for name, value in values.items() if value is not None}
