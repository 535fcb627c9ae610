"""Fitting a head and what is below it to a task; the epoch with the best development score counts."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict
from torch import Tensor, nn

from paraphrastic.encoding.encoder import Positive, Rate, Weight
from paraphrastic.errors import ModelError
from paraphrastic.supervised.losses import divergence, expected, likelihood, target
from paraphrastic.supervised.tasks import Rows, Task
from paraphrastic.supervised.vectors import Vectors
from paraphrastic.training.checkpoint import Checkpoint
from paraphrastic.training.dense import DenseSteps

_ROWS = 1 << 14  # per batch where nothing is learned


class TuningConfig(BaseModel):
    """Options of learning a supervised task (iclr2016 §4.4).

    Attributes:
        hidden: size of a head's hidden layer.
        epochs: passes over the training rows.
        batch_size: rows per mini-batch.
        optimizer: `adam` or `adagrad`.
        rate: learning rate at the first step.
        schedule: it stays `constant`, or falls as `linear` to 0 at the last step.
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


class Tuning:
    """One run: everything that a checkpoint must hold and how it moves on.

    Args:
        vectors: of the task's sentences.
        head: `PairHead` or `SentenceHead`.
        task: what is to be learned.
        config: its options.
        seed: of the order of the rows and of noise.
    """

    def __init__(self, vectors: Vectors, head: nn.Module, task: Task, config: TuningConfig, seed: int) -> None:
        self.vectors, self.head, self.task, self.config, self.seed = vectors, head, task, config, seed
        self.steps = steps(config, task)
        self.rates = rates(config, task)
        self.optimizer = DenseSteps(list(head.parameters()), config.optimizer, config.lambda_s, to_start=False)
        self.step, self.best = 0, None

    def run(self, checkpoint: Checkpoint, every: float, on_step: Callable[[int], None]) -> Outcome:
        """Learn to the end, from `checkpoint` where it holds a state.

        Args:
            checkpoint: saved to when the run goes on for long, removed by the caller.
            every: seconds between two checkpoints.
            on_step: called with the number of each finished step.

        Raises:
            ModelError: the loss is no longer a number.
        """
        state, saved = checkpoint.load(), time.monotonic()
        if state is not None:
            self.restore(state)
        batches = self.steps // self.config.epochs
        while self.step < self.steps:
            epoch, first = divmod(self.step, batches)
            for number, rows in enumerate(self._batches(epoch)[first:], first + 1):
                self._learn(rows)
                on_step(self.step)
                if number == batches:
                    self._judge(epoch + 1)
                if time.monotonic() - saved > every:
                    checkpoint.save(self.state())
                    saved = time.monotonic()
        return Outcome(**self.best)

    def _batches(self, epoch: int) -> list[NDArray[np.int64]]:
        train = len(self.task.splits["train"])
        order = np.random.default_rng([self.seed, epoch]).permutation(train)
        return np.split(order, range(self.config.batch_size, train, self.config.batch_size))

    def _learn(self, rows: NDArray[np.int64]) -> None:
        """One step on the training rows `rows`."""
        self.step += 1
        torch.manual_seed(int(np.random.default_rng([self.seed, self.step, 1]).integers(2**63)))
        chosen = self.task.splits["train"].take(rows)
        sentences, at = np.unique(np.concatenate([chosen.left, chosen.right]), return_inverse=True)
        log_p = self._said(self.vectors.learning(sentences, self.step), at[: len(rows)], at[len(rows) :])
        loss = self._loss(log_p, torch.from_numpy(chosen.gold).to(log_p.device))
        if not math.isfinite(loss.item()):
            raise ModelError(f"{self.task.name}: the loss is {loss.item()} at step {self.step}: lower `finetune.rate`")
        loss.backward()
        self.vectors.update(self.step, self.rates[self.step - 1])
        self.optimizer.update(self.step, self.rates[self.step - 1])

    def _said(self, vectors: Tensor, left: NDArray[np.int64], right: NDArray[np.int64]) -> Tensor:
        """What the head says of rows whose sentences are numbers of `vectors`."""
        return self.head(*(vectors[torch.from_numpy(side)] for side in (left, right) if len(side)))

    def _loss(self, log_p: Tensor, gold: Tensor) -> Tensor:
        if self.task.kind == "similarity":
            return divergence(log_p, target(gold.to(log_p.dtype), self.task.classes))
        return likelihood(log_p, gold)

    def _judge(self, epoch: int) -> None:
        """Score the splits after so many epochs, and keep the best."""
        vectors = self.vectors.all(self.step)
        figures = {split: self.task.figures(split, self._answer(vectors, split)) for split in ("dev", "test")}
        if self.best is None or figures["dev"][self.task.metric] > self.best["dev"][self.task.metric]:
            self.best = {"epoch": epoch, **figures}

    @torch.no_grad()
    def _answer(self, vectors: Tensor, split: str) -> NDArray[np.float32]:
        """ŷ (n,) of scores, otherwise probabilities (n, classes)."""
        rows = self.task.splits[split]
        parts = [
            self._part(vectors, rows.take(part))
            for part in np.split(np.arange(len(rows)), range(_ROWS, len(rows), _ROWS))
        ]
        return torch.cat(parts).cpu().numpy()

    def _part(self, vectors: Tensor, rows: Rows) -> Tensor:
        log_p = self._said(vectors, rows.left, rows.right)
        return expected(log_p) if self.task.kind == "similarity" else log_p.exp()

    def state(self) -> dict[str, Any]:
        """All that determines what comes after this step."""
        learned = {"vectors": self.vectors.state(), "head": self.head.state_dict(), "steps": self.optimizer.state()}
        return {"step": self.step, "best": self.best, **learned}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from what `state` returned."""
        self.step, self.best = state["step"], state["best"]
        self.vectors.restore(state["vectors"])
        self.head.load_state_dict(state["head"])
        self.optimizer.restore(state["steps"])


def steps(config: TuningConfig, task: Task) -> int:
    """How many steps a run takes."""
    return config.epochs * -(-len(task.splits["train"]) // config.batch_size)


def rates(config: TuningConfig, task: Task) -> NDArray[np.float64]:
    """The learning rate of each step; `linear` reaches 0 one step after the last."""
    all_steps = steps(config, task)
    falling = 1 - np.arange(all_steps) / all_steps
    return config.rate * (falling if config.schedule == "linear" else np.ones(all_steps))
