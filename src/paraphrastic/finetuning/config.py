"""Options of the stage `finetune`."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, PositiveInt

from paraphrastic.nn.options import NonNegativeFloat, PositiveFloat, Schedule


class HeadConfig(BaseModel):
    """Options of training a head, and the encoder below it, on a task (iclr2016 §4.4).

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
            is all parameters of the encoder except the embedding table; with `init: frozen`, the projection.
        lambda_w: weight of ½‖Ww − Ww_initial‖², Ww being the embedding table, of n-grams and characters too.
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
    """The block `finetune` of params.yaml.

    Attributes:
        tasks: names of the tasks; each is an instance of the stage.
        init: the encoder starts from random weights (`scratch`), from the trained model with a penalty toward it
            (`universal`), or is the trained model and is not trained further (`frozen`).
        projection_dim: size that frozen vectors are projected to.
        tagger: the entry of `taggers` for tasks of part-of-speech tags.
        num_threads: threads of the CPU.
    """

    tasks: Annotated[list[str], Field(min_length=1)]
    init: Literal["scratch", "universal", "frozen"]
    projection_dim: PositiveInt
    tagger: str
    num_threads: PositiveInt
