"""Fitting a head and what is below it to a task; the epoch with the best development score counts."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict
from torch import Tensor, nn

from paraphrastic.encoding.batch import Resident
from paraphrastic.encoding.encoder import Positive, Rate, Weight
from paraphrastic.encoding.trained import encoded
from paraphrastic.supervised.losses import divergence, expected, likelihood, target
from paraphrastic.supervised.starts import Start
from paraphrastic.supervised.tasks import Task
from paraphrastic.training.batches import epoch_batches
from paraphrastic.training.checkpoint import Checkpoint
from paraphrastic.training.run import ORDER, Pull, Run


class TuningConfig(BaseModel):
    """Options of learning a supervised task (iclr2016 §4.4).

    Attributes:
        hidden: size of a head's hidden layer.
        epochs: passes over the training rows.
        batch_size: rows per mini-batch.
        optimizer: `adam` or `adagrad`.
        rate: learning rate at the first step.
        schedule: it stays `constant`, or falls as `linear` to 0 at the last step.
        clip: largest norm of the whole gradient; null for no clipping.
        lambda_s: weight of ½‖Ws‖², Ws being the head.
        lambda_c: weight of ½‖Wc − Wc_initial‖² from a trained start, of ½‖Wc‖² else.
        lambda_w: weight of ½‖Ww − Ww_initial‖².
    """

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    hidden: Positive
    epochs: Positive
    batch_size: Positive
    optimizer: Literal["adam", "adagrad"]
    rate: Rate
    schedule: Literal["constant", "linear"]
    clip: Rate | None
    lambda_s: Weight
    lambda_c: Weight
    lambda_w: Weight


@dataclass(frozen=True)
class Outcome:
    """What came out.

    Attributes:
        epoch: the first with the best development score, from 1.
        dev: figures on the development set after it.
        test: figures on the test set after it.
    """

    epoch: int
    dev: dict[str, float]
    test: dict[str, float]


class Tuning(Run):
    """A run on the training rows of a task.

    Args:
        start: vectors of the task's sentences.
        head: `PairHead` or `SentenceHead`.
        task: what is to be learned.
        config: its options.
        seed: of the order of the rows and of noise.
    """

    def __init__(self, start: Start, head: nn.Module, task: Task, config: TuningConfig, seed: int) -> None:
        self._start, self._head, self._task, self._config = start, head, task, config
        self._sentences = Resident(start.bags, start.table.device)
        parts = [(start.encoder, start.pull), (head, Pull(config.lambda_s))]
        super().__init__(parts, start.table, start.table_pull, config, seed, lambda: self.figures("dev")[task.metric])

    def learn(self, checkpoint: Checkpoint, every: float, on_step: Callable[[int, int], None]) -> Outcome:
        """Run to the end and measure the best weights; arguments as for `run`, but `on_step` takes all steps too."""
        curves = self.run(checkpoint, every, lambda step: on_step(step, self.steps))
        return Outcome(int(curves.best or 0), self.figures("dev"), self.figures("test"))

    def figures(self, split: str) -> dict[str, float]:
        """Metrics × 100 of the model as it stands."""
        return self._task.figures(split, self._answer(split))

    def batches(self, epoch: int) -> list[NDArray[np.int64]]:
        """The training rows of each step."""
        one_source = np.zeros(len(self._task.splits["train"]), np.int8)
        return epoch_batches(one_source, self._config.batch_size, "mixed", self.random(ORDER, epoch))

    def loss(self, rows: NDArray[np.int64]) -> tuple[Tensor, Tensor]:
        """How far the head is from the labels of the training rows `rows`."""
        self.noise()
        chosen = self._task.splits["train"].take(rows)
        sentences, at = np.unique(np.concatenate([chosen.left, chosen.right]), return_inverse=True)
        batch = self._sentences.take(sentences)
        leaf, places = self.table.gather(batch.ids, self.step)
        vectors = self._start.encoder(leaf, batch.at(places))
        log_p = self._said(vectors, at[: len(rows)], at[len(rows) :])
        gold = torch.from_numpy(chosen.gold).to(log_p.device)
        if self._task.kind == "similarity":
            return divergence(log_p, target(gold.to(log_p.dtype), self._task.classes)), leaf
        return likelihood(log_p, gold), leaf

    def _said(self, vectors: Tensor, left: NDArray[np.int64], right: NDArray[np.int64]) -> Tensor:
        """What the head says of rows whose sentences are numbers of `vectors`."""
        return self._head(*(vectors[torch.from_numpy(side)] for side in (left, right) if len(side)))

    @torch.no_grad()
    def _answer(self, split: str) -> NDArray[np.float32]:
        """ŷ (n,) of scores, otherwise probabilities (n, classes)."""
        start, rows = self._start, self._task.splits[split]
        sides = np.unique(np.concatenate([rows.left, rows.right]), return_inverse=True)
        vectors = torch.from_numpy(encoded(start.encoder, start.table, start.bags.take(sides[0]))).to(
            start.table.device
        )
        log_p = self._said(vectors, sides[1][: len(rows)], sides[1][len(rows) :])
        return (expected(log_p) if self._task.kind == "similarity" else log_p.exp()).cpu().numpy()
