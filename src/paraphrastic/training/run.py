"""What all training has in common: epochs of mini-batches, selection, and going on where it was interrupted."""

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.utils import clip_grad_norm_

from paraphrastic.encoding.batch import carried
from paraphrastic.errors import ModelError
from paraphrastic.training.checkpoint import Checkpoint
from paraphrastic.training.dense import DenseSteps
from paraphrastic.training.tables import trained_table

_POINTS = 200  # of the loss curve, whatever the length of the run
ORDER, NEGATIVES, NOISE = 0, 1, 2  # streams of random numbers, apart from each other


class Options(Protocol):
    """The options of its training that every trained model has; `EncoderConfig` says what they are."""

    epochs: int
    optimizer: str
    rate: float
    schedule: str
    clip: float | None


class Pull(NamedTuple):
    """½λ‖W − W0‖² on weights W.

    Attributes:
        strength: λ; infinite for weights that stay as they are.
        to_start: W0 is where they started; else zero.
    """

    strength: float = 0.0
    to_start: bool = False


@dataclass
class Curves:
    """What training has to show.

    Attributes:
        loss: (step, mean loss since the point before).
        selection: (epochs so far, score) on the selection sets.
    """

    loss: list[tuple[int, float]] = field(default_factory=list)
    selection: list[tuple[float, float]] = field(default_factory=list)

    @property
    def best(self) -> float | None:
        """The first point with the highest score, in epochs; None without selection."""
        return max(self.selection, key=lambda point: point[1])[0] if self.selection else None


class Run(ABC):
    """One training: everything that a checkpoint must hold and how it moves on.

    Args:
        parts: what is learned beside the table, with its pull; they hold the result when `run` returns.
        weights: the table, (rows, dim); likewise.
        pull: of the table.
        options: of the training.
        seed: of everything random.
        select: scores the model as it stands; the best weights are kept. None keeps the last.
        per_epoch: how many times in each epoch `select` is asked.
    """

    def __init__(
        self,
        parts: Sequence[tuple[nn.Module, Pull]],
        weights: Tensor,
        pull: Pull,
        options: Options,
        seed: int,
        select: Callable[[], float] | None,
        per_epoch: int = 1,
    ) -> None:
        self.network, self.options, self.seed, self._select = nn.ModuleList(), options, seed, select
        self.per_epoch = len(self.batches(0))
        self.steps = options.epochs * self.per_epoch
        self.stops = {-(-self.per_epoch * part // per_epoch): part / per_epoch for part in range(1, per_epoch + 1)}
        self.rates = _rates(options, self.steps)
        self.table = trained_table(weights, self.rates, options.optimizer, *pull)
        self.optimizers = []
        for part, own in parts:
            self.network.append(part)
            if parameters := list(part.parameters()):
                self.optimizers.append(DenseSteps(parameters, options.optimizer, *own))
        self.step, self.curves, self.best = 0, Curves(), None
        self.losses: list[Tensor] = []  # left on the device: to read one would wait for the step

    @abstractmethod
    def batches(self, epoch: int) -> list[NDArray[np.int64]]:
        """The examples of each step of an epoch, as rows; as many batches in every epoch."""

    @abstractmethod
    def loss(self, rows: NDArray[np.int64]) -> tuple[Tensor, Tensor]:
        """The loss of a step on the examples `rows`, and the leaf of the table that it was made from."""

    def run(self, checkpoint: Checkpoint, every: float, on_step: Callable[[int], None]) -> Curves:
        """Train to the end, from `checkpoint` where it holds a state.

        Args:
            checkpoint: saved to when the run goes on for long, removed by the caller.
            every: seconds between two checkpoints.
            on_step: called with the number of each finished step.

        Raises:
            ModelError: the loss is no longer a number.
        """
        state = checkpoint.load()
        if state is not None:
            self.restore(state)
        saved = time.monotonic()
        while self.step < self.steps:
            epoch, first = divmod(self.step, self.per_epoch)
            for number, rows in enumerate(self.batches(epoch)[first:], first + 1):
                self._train(rows)
                on_step(self.step)
                if number in self.stops:
                    self._stop(epoch + self.stops[number])
                if time.monotonic() - saved > every:
                    checkpoint.save(self.state())
                    saved = time.monotonic()
        self._keep_best()
        return self.curves

    def random(self, *stream: int) -> np.random.Generator:
        """Numbers that depend on nothing but the seed and the stream."""
        return np.random.Generator(np.random.PCG64([self.seed, *stream]))

    def noise(self) -> np.random.Generator:
        """Numbers of this step; what torch drops in it is seeded too."""
        noise = self.random(NOISE, self.step)
        torch.manual_seed(int(noise.integers(2**63)))
        return noise

    def _train(self, rows: NDArray[np.int64]) -> None:
        """One step on the examples `rows`."""
        self.step += 1
        self.network.train()
        loss, leaf = self.loss(rows)
        loss.backward()
        self._update(leaf)
        self._record(loss.detach())

    def _update(self, leaf: Tensor) -> None:
        if self.options.clip is not None:
            clip_grad_norm_([leaf, *self.network.parameters()], self.options.clip)
        self.table.update(self.step)
        for optimizer in self.optimizers:
            optimizer.update(self.step, self.rates[self.step - 1])

    def _record(self, loss: Tensor) -> None:
        self.losses.append(loss)
        if len(self.losses) >= self.steps / _POINTS or self.step == self.steps:
            self.curves.loss.append((self.step, float(np.mean(self._recent()))))
            self.losses = []

    def _recent(self) -> list[float]:
        """The losses since the last point of the curve."""
        losses = torch.stack(self.losses).tolist() if self.losses else []
        for step, loss in enumerate(losses, self.step + 1 - len(losses)):
            if not math.isfinite(loss):
                raise ModelError(f"the loss is {loss} at step {step}: lower `rate`, or bound the gradient with `clip`")
        return losses

    def _stop(self, epoch: float) -> None:
        """Score the model after so many epochs."""
        self._recent()  # no score of what is not a number
        self.table.settle(self.step)
        if self._select is None:
            return
        self.curves.selection.append((epoch, self._select()))
        if self.curves.best == epoch:
            self.best = {name: tensor.clone() for name, tensor in self._weights().items()}

    def _weights(self) -> dict[str, Tensor]:
        return {"table": self.table.weights.detach()} | self.network.state_dict()

    def _keep_best(self) -> None:
        if self.best is not None:
            for name, tensor in self._weights().items():
                tensor.copy_(self.best[name])

    def state(self) -> dict[str, Any]:
        """All that determines what comes after this step."""
        return {
            "step": self.step,
            "table": self.table.state(),
            "network": self.network.state_dict(),
            "optimizers": [optimizer.state() for optimizer in self.optimizers],
            "loss": self.curves.loss,
            "losses": self._recent(),
            "selection": self.curves.selection,
            "best": self.best,
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from what `state` returned."""
        self.step, self.best = state["step"], state["best"]
        self.losses = list(carried(np.array(state["losses"], np.float32), self.table.weights.device))
        self.curves = Curves([tuple(p) for p in state["loss"]], [tuple(p) for p in state["selection"]])
        self.table.restore(state["table"])
        self.network.load_state_dict(state["network"])
        for optimizer, saved in zip(self.optimizers, state["optimizers"], strict=True):
            optimizer.restore(saved)


def _rates(options: Options, steps: int) -> NDArray[np.float64]:
    """The learning rate of each step; `linear` reaches 0 one step after the last."""
    if options.schedule == "constant":
        return np.full(steps, options.rate)
    return options.rate * (1 - np.arange(steps) / steps)
