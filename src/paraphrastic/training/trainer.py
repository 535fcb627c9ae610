"""The training loop: epochs of mini-batches, model selection, and checkpoints."""

import json
import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing.reduction import ForkingPickler
from pathlib import Path
from shutil import rmtree
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.utils import clip_grad_norm_

from paraphrastic.base.errors import DivergenceError, ParameterError
from paraphrastic.base.files import atomic_write, sha256_of, unwritable
from paraphrastic.base.reading import read_json
from paraphrastic.nn.batch import to_device
from paraphrastic.nn.options import SCHEDULES, Schedule
from paraphrastic.training.embedding_optimizers import embedding_optimizer
from paraphrastic.training.optimizers import DenseOptimizer, L2Penalty
from paraphrastic.training.processes import Processes, State

CHECKPOINT_SECONDS = 60.0  # between two checkpoints of a run
_POINTS = 200  # of the loss curve, at most
ORDER, NEGATIVES, NOISE = 0, 1, 2  # independent streams of random numbers


@dataclass
class Curves:
    """The course of a run."""

    loss: list[tuple[int, float]] = field(default_factory=list)  # step, mean loss since the previous point
    selection: list[tuple[float, float]] = field(default_factory=list)  # epochs so far, score on the selection sets

    @property
    def best(self) -> float | None:
        """The first point with the highest selection score, in epochs; None without selection."""
        return max(self.selection, key=lambda point: point[1])[0] if self.selection else None


class Checkpoint:
    """The latest state of one run, in a folder of its own.

    A state is written next to the previous one and its hash is verified when it is loaded, so that neither a kill
    during saving nor a damaged file can make a run continue from a wrong state.

    Args:
        folder: its name must be derived from everything that determines the run.
        processes: those that train. The first one saves and removes the state; each may have a folder of its own.
    """

    def __init__(self, folder: Path, processes: Processes | None = None) -> None:
        self.folder, self._processes = folder, processes or Processes()
        self._head = folder / "head.json"

    def save(self, state: State) -> None:
        """Save `state`: tensors, numbers, strings, and lists and dicts of them; it must have a key `step`.

        Raises:
            OSError: the file cannot be written, for example because the disk is full.
        """
        if self._processes.rank > 0:
            return
        name = f"state-{state['step']}.pt"
        with atomic_write(self.folder / name) as part:
            try:
                torch.save(state, part)
            except RuntimeError as error:  # raised by torch for errors of the file system
                raise unwritable(self.folder / name) from error
        digest = sha256_of(self.folder / name)
        with atomic_write(self._head) as part:
            part.write_text(json.dumps({"file": name, "sha256": digest}), encoding="utf-8")
        for old in self.folder.glob("state-*.pt"):
            if old.name != name:
                old.unlink()

    def load(self) -> State | None:
        """Return the latest state of all processes, on the CPU; None if there is none or it is damaged."""
        return self._processes.newest(*self._read())

    def _read(self) -> tuple[State | None, str]:
        """Return the state in the folder and its hash."""
        try:
            head = read_json(self._head)
            path = self.folder / head["file"]
            if sha256_of(path) == head["sha256"]:
                state = torch.load(path, "cpu", weights_only=True)
                return (state, head["sha256"]) if isinstance(state, dict) and "step" in state else (None, "")
        except MemoryError:
            raise
        except Exception:
            pass
        return None, ""

    def remove(self) -> None:
        """Delete the folder."""
        if self._processes.rank == 0 and self.folder.is_dir():
            rmtree(self.folder)


class Callback:
    """Follows a training; a subclass defines the methods that it needs. The first of several processes calls them."""

    def on_step(self, trainer: "Trainer") -> None:
        """`trainer.step` of `trainer.steps` is done; `trainer.curves.loss[-1]` may be the point of this step."""

    def on_selection(self, trainer: "Trainer") -> None:
        """The model was scored on the selection sets: `trainer.curves.selection[-1]` is the epoch and the score."""

    def on_end(self, trainer: "Trainer") -> None:
        """All steps are done, and the model has the weights that are kept."""


def check_callbacks(callbacks: Any, pickled: bool = False) -> None:
    """Raise a ParameterError if these are no callbacks, or cannot be pickled where they are to be `pickled`."""
    for each in callbacks if isinstance(callbacks, Sequence) else [callbacks]:
        if isinstance(each, type):
            raise ParameterError(f"callbacks: {each.__name__} is a class; pass an object of it, {each.__name__}()")
        if each is callbacks or not isinstance(each, Callback):
            raise ParameterError(f"callbacks: {type(each).__name__}, where a list of objects of `Callback` is expected")
    if pickled:
        try:
            ForkingPickler.dumps(callbacks)
        except Exception as error:  # whatever a callback's class raises
            raise ParameterError(
                f"callbacks: {error}; set train.processes to 1, or make connections on_step"
            ) from error


@contextmanager
def naming_options(place: str) -> Iterator[None]:
    """Begin the message of a DivergenceError with the place of the options to change."""
    try:
        yield
    except DivergenceError as error:
        raise DivergenceError(f"{place}: {error}") from error


class _Options(Protocol):
    """The options that every trainer reads; `TrainingConfig` documents them."""

    @property
    def epochs(self) -> int: ...
    @property
    def optimizer(self) -> str: ...
    @property
    def learning_rate(self) -> float: ...
    @property
    def schedule(self) -> Schedule: ...
    @property
    def max_grad_norm(self) -> float | None: ...


class Trainer(ABC):
    """One training run: its state, how a step changes it, and how it is saved and restored.

    Subclasses define the mini-batches and the loss. Their constructors set the fields that `batches` reads before they
    call this one, which counts the steps of an epoch.

    Attributes:
        noise: random numbers of the mini-batch, for `loss`; torch's generator, for dropout, is seeded from them.

    Args:
        modules: the modules to train, each with its penalty; they hold the result when `run` returns.
        embeddings: the embedding table, (rows, dim); likewise.
        embeddings_penalty: penalty of the embedding table.
        options: options of the training.
        seed: seed of all random numbers.
        select: scores the current model; the weights with the best score are kept. None keeps the last weights.
        selections_per_epoch: how often per epoch `select` is called.
        accumulate: mini-batches whose gradients are added before a step. Each counts by its number of examples, so that
            the loss of a step is the mean over all of them.
    """

    def __init__(
        self,
        modules: Sequence[tuple[nn.Module, L2Penalty]],
        embeddings: Tensor,
        embeddings_penalty: L2Penalty,
        options: _Options,
        seed: int,
        select: Callable[[], float] | None,
        selections_per_epoch: int = 1,
        accumulate: int = 1,
    ) -> None:
        self.options, self.seed, self._select, self._accumulate = options, seed, select, accumulate
        self.steps_per_epoch = len(self._steps(0))
        self.steps = options.epochs * self.steps_per_epoch
        parts = range(1, selections_per_epoch + 1)  # step of an epoch → part of it after which the model is scored
        self.selection_steps = {-(-self.steps_per_epoch * k // len(parts)): k / len(parts) for k in parts}
        done = np.arange(self.steps) / self.steps
        self.learning_rates = options.learning_rate * SCHEDULES[options.schedule](done)
        self.embedding_optimizer = embedding_optimizer(
            embeddings, self.learning_rates, options.optimizer, embeddings_penalty
        )
        self.modules, self.optimizers = nn.ModuleList(), list[DenseOptimizer]()
        for module, penalty in modules:
            self.modules.append(module)
            if parameters := list(module.parameters()):
                self.optimizers.append(DenseOptimizer(parameters, options.optimizer, penalty))
        self.step, self.curves, self.noise = 0, Curves(), self.random(NOISE, 0)
        self.best_weights: dict[str, Tensor] | None = None
        self._losses: list[Tensor] = []  # since the last point of the curve; reading one would synchronise the device

    @abstractmethod
    def batches(self, epoch: int) -> list[NDArray[np.int64]]:
        """Return the examples of each mini-batch of an epoch as row numbers; every epoch has as many."""

    @abstractmethod
    def loss(self, rows: NDArray[np.int64]) -> tuple[Tensor, Tensor]:
        """Return the loss on the examples `rows`, and the leaf of the embedding table that it was computed from."""

    def run(self, checkpoint: Checkpoint, seconds: float, *callbacks: Callback) -> Curves:
        """Train to the end, from the state in `checkpoint` if it holds one, and save the state every `seconds` seconds.

        The caller removes it after the run.

        Raises:
            DivergenceError: the loss, or at the end a weight, is not finite.
        """
        state = checkpoint.load()
        if state is not None:
            self.restore(state)
        saved = time.monotonic()
        while self.step < self.steps:
            epoch, first = divmod(self.step, self.steps_per_epoch)
            for number, batches in enumerate(self._steps(epoch)[first:], first + 1):
                self._train(batches)
                for callback in callbacks:
                    callback.on_step(self)
                if number in self.selection_steps:
                    self._evaluate(epoch + self.selection_steps[number], callbacks)
                if time.monotonic() - saved > seconds:
                    checkpoint.save(self.state())
                    saved = time.monotonic()
        if self.best_weights is not None:
            for name, tensor in self._weights().items():
                tensor.copy_(self.best_weights[name])
        if not all(tensor.isfinite().all() for tensor in self._weights().values()):
            raise DivergenceError(f"a weight is not finite after {self.steps} steps: lower `learning_rate`")
        for callback in callbacks:
            callback.on_end(self)
        return self.curves

    def random(self, *stream: int) -> np.random.Generator:
        """Return a generator that depends only on the seed and the stream."""
        return np.random.Generator(np.random.PCG64([self.seed, *stream]))

    def _steps(self, epoch: int) -> list[list[NDArray[np.int64]]]:
        """Return the mini-batches of each step of an epoch; the last step may have fewer."""
        batches = self.batches(epoch)
        return [batches[start : start + self._accumulate] for start in range(0, len(batches), self._accumulate)]

    def _train(self, batches: list[NDArray[np.int64]]) -> None:
        """Take one step on the examples of some mini-batches."""
        self.step += 1
        self.modules.train()
        examples, losses = sum(map(len, batches)), list[Tensor]()
        for number, rows in enumerate(batches, (self.step - 1) * self._accumulate + 1):
            self.noise = self.random(NOISE, number)
            seed = int(self.noise.integers(2**63))
            torch.default_generator.manual_seed(seed)  # torch.manual_seed does this for all kinds of devices, in 0.4 ms
            if torch.cuda.is_initialized():
                torch.cuda.manual_seed_all(seed)
            loss, leaf = self.loss(rows)
            share = loss * (len(rows) / examples)
            share.backward()
            losses.append(share.detach())
        self._update(leaf)
        self._record(torch.stack(losses).sum())

    def _update(self, leaf: Tensor) -> None:
        if self.options.max_grad_norm is not None:
            clip_grad_norm_([leaf, *self.modules.parameters()], self.options.max_grad_norm)
        self.embedding_optimizer.update(self.step)
        for optimizer in self.optimizers:
            optimizer.update(self.step, self.learning_rates[self.step - 1])

    def _record(self, loss: Tensor) -> None:
        self._losses.append(loss)
        if len(self._losses) >= self.steps / _POINTS or self.step == self.steps:
            self.curves.loss.append((self.step, float(np.mean(self._read_losses()))))
            self._losses = []

    def _read_losses(self) -> list[float]:
        """Return the losses since the last point of the curve."""
        losses: list[float] = torch.stack(self._losses).tolist() if self._losses else []
        for step, loss in enumerate(losses, self.step + 1 - len(losses)):
            if not math.isfinite(loss):
                remedy = "lower `learning_rate`, or bound the gradient with `max_grad_norm`"
                if step == 1:
                    remedy = "an option of the loss, or an initial vector, has too large or too small numbers"
                raise DivergenceError(f"the loss is {loss} at step {step}: {remedy}")
        return losses

    def _evaluate(self, epoch: float, callbacks: Sequence[Callback]) -> None:
        """Score the model after `epoch` epochs and keep its weights if they are the best so far."""
        self._read_losses()  # raise if the loss is not finite
        self.embedding_optimizer.flush(self.step)
        if self._select is None:
            return
        self.curves.selection.append((epoch, self._select()))
        if self.curves.best == epoch:
            self.best_weights = {name: tensor.clone() for name, tensor in self._weights().items()}
        for callback in callbacks:
            callback.on_selection(self)

    def _weights(self) -> dict[str, Tensor]:
        return {"embeddings": self.embedding_optimizer.weights.detach()} | self.modules.state_dict()

    def state(self) -> dict[str, Any]:
        """Return everything that determines the rest of the run."""
        return {
            "step": self.step,
            "embeddings": self.embedding_optimizer.state(),
            "modules": self.modules.state_dict(),
            "optimizers": [optimizer.state() for optimizer in self.optimizers],
            "loss": self.curves.loss,
            "losses": self._read_losses(),
            "selection": self.curves.selection,
            "best_weights": self.best_weights,
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Continue from what `state` returned."""
        self.step, self.best_weights = state["step"], state["best_weights"]
        self._losses = list(to_device(np.array(state["losses"], np.float32), self.embedding_optimizer.weights.device))
        self.curves = Curves([tuple(p) for p in state["loss"]], [tuple(p) for p in state["selection"]])
        self.embedding_optimizer.restore(state["embeddings"])
        self.modules.load_state_dict(state["modules"])
        for optimizer, saved in zip(self.optimizers, state["optimizers"], strict=True):
            optimizer.restore(saved)
