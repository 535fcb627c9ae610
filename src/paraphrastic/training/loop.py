"""Training on pairs of sentences (acl2017 §3.2): one pass forward, one back, one step per mini-batch."""

import json
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.utils import clip_grad_norm_

from paraphrastic.encoding.encoder import (
    Batch,
    Composition,
    Encoder,
    EncoderConfig,
    TrainingConfig,
    VectorOptions,
    WordConfig,
)
from paraphrastic.encoding.trained import TrainedModel
from paraphrastic.errors import ModelError
from paraphrastic.text.bags import Bags
from paraphrastic.text.words import tag_counts
from paraphrastic.training.batches import epoch_batches, scramble
from paraphrastic.training.checkpoint import Checkpoint
from paraphrastic.training.dense import DenseSteps
from paraphrastic.training.losses import forbidden, margin_loss
from paraphrastic.training.tables import DenseTable, RowTable

_POINTS = 200  # of the loss curve, whatever the length of the run
_ORDER, _NEGATIVES, _NOISE = 0, 1, 2  # streams of random numbers, apart from each other


class Examples(Protocol):
    """What a model learns from: n pairs of sentences, and what they say of it.

    Attributes:
        bags: the units of all distinct sentences.
        left: (n,) row in `bags` of each pair's first sentence.
        right: (n,) of the second.
        sources: (n,) number of the source that the pair comes from.
    """

    bags: Bags
    left: NDArray[np.integer]
    right: NDArray[np.integer]
    sources: NDArray[np.integer]

    def loss(
        self,
        encoder: Composition,
        table: Tensor,
        batch: Batch,
        rows: NDArray[np.int64],
        config: TrainingConfig,
        generator: np.random.Generator,
    ) -> Tensor:
        """How far the model is from the pairs `rows`.

        Args:
            encoder: the model.
            table: vectors of the units of `batch`.
            batch: the first sentences of the pairs, then the second ones.
            rows: the pairs.
            config: the options of training.
            generator: source of random choices.
        """
        ...


@dataclass(frozen=True)
class Pairs:
    """Paraphrases as columns, what sentence encoders learn from.

    Attributes:
        bags: the units of all distinct sentences.
        left: (n,) row in `bags` of each pair's first sentence.
        right: (n,) of the second.
        sources: (n,) number of the source that the pair comes from.
        groups: (n,) what comes from one sentence or image has the same number.
    """

    bags: Bags
    left: NDArray[np.integer]
    right: NDArray[np.integer]
    sources: NDArray[np.integer]
    groups: NDArray[np.integer]

    def loss(
        self,
        encoder: Encoder,
        table: Tensor,
        batch: Batch,
        rows: NDArray[np.int64],
        config: EncoderConfig,
        generator: np.random.Generator,
    ) -> Tensor:
        """Eq. 2, see `Examples`."""
        banned = self.banned(rows).to(table.device)
        return margin_loss(encoder(table, batch), banned, config.margin, config.negatives, generator)

    def banned(self, rows: NDArray[np.int64]) -> Tensor:
        """Which of the 2B sentences of the pairs `rows` must not be negatives of which, (2B, 2B) bool."""
        sentences = np.concatenate([self.left[rows], self.right[rows]])
        return forbidden(*(torch.from_numpy(a.astype(np.int64)) for a in (sentences, self.groups[rows])))


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


class Training:
    """One run: everything that a checkpoint must hold and how it moves on.

    Args:
        model: what is learned and its starting table; holds the result when `run` returns.
        pairs: what it learns from.
        config: its options.
        seed: of the order of the pairs, of random negatives and of the noise.
        select: scores the model as it stands; the best weights are kept. None keeps the last.
        per_epoch: how many times in each epoch `select` is asked.
    """

    def __init__(
        self,
        model: TrainedModel[Any],
        pairs: Examples,
        config: TrainingConfig,
        seed: int,
        select: Callable[[Any], float] | None,
        per_epoch: int = 1,
    ) -> None:
        self.model, self.pairs, self.config, self.seed, self.select = model, pairs, config, seed, select
        self.batches = len(self._batches(0))
        self.steps = config.epochs * self.batches
        self.stops = {-(-self.batches * part // per_epoch): part / per_epoch for part in range(1, per_epoch + 1)}
        self.rates = _rates(config, self.steps)
        words = isinstance(config, VectorOptions)
        pull = config.lambda_w if words else config.lambda_c
        kind = RowTable if model.table.device.type == "cpu" else DenseTable
        self.table = kind(model.table, self.rates, config.optimizer, pull, to_start=words)
        self.own = list(model.encoder.parameters())
        to_start = model.encoder.pulled_to_start
        self.optimizer = DenseSteps(self.own, config.optimizer, config.lambda_c, to_start) if self.own else None
        self.negatives = self._random(_NEGATIVES)
        self.step, self.curves, self.best = 0, Curves(), None
        self.losses: list[float] = []

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
            epoch, first = divmod(self.step, self.batches)
            for number, rows in enumerate(self._batches(epoch)[first:], first + 1):
                self._train(rows)
                on_step(self.step)
                if number in self.stops:
                    self._stop(epoch + self.stops[number])
                if time.monotonic() - saved > every:
                    checkpoint.save(self.state())
                    saved = time.monotonic()
        self._keep_best()
        return self.curves

    def _batches(self, epoch: int) -> list[NDArray[np.int64]]:
        in_order = self.config.curriculum and epoch == 0
        options = self.config.batch_size, self.config.batches, self._random(_ORDER, epoch), in_order
        return epoch_batches(self.pairs.sources, *options)

    def _random(self, *stream: int) -> np.random.Generator:
        return np.random.Generator(np.random.PCG64([self.seed, *stream]))

    def _train(self, rows: NDArray[np.int64]) -> None:
        """One step on the pairs `rows`."""
        self.step += 1
        self.model.encoder.train()
        sentences = np.concatenate([self.pairs.left[rows], self.pairs.right[rows]])
        batch = Batch.of(self._noisy(self.pairs.bags.take(sentences)), self.model.table.device)
        leaf, places = self.table.gather(batch.ids, self.step)
        batch = Batch(places, batch.offsets, batch.counts)
        loss = self.pairs.loss(self.model.encoder, leaf, batch, rows, self.config, self.negatives)
        loss.backward()
        self._update(leaf)
        self._record(float(loss.detach()))

    def _noisy(self, bags: Bags) -> Bags:
        """The sentences of this step as they are read: scrambled or not; seeds what the encoder drops."""
        noise = self._random(_NOISE, self.step)
        torch.manual_seed(int(noise.integers(2**63)))
        if not (isinstance(self.config, WordConfig) and self.config.scramble):
            return bags
        chosen = np.tile(noise.random(len(bags) // 2) < self.config.scramble, 2)  # both sides of a pair
        return scramble(bags, chosen, tag_counts(self.config.tags), noise)

    def _update(self, leaf: Tensor) -> None:
        if self.config.clip is not None:
            clip_grad_norm_([leaf, *self.own], self.config.clip)
        self.table.update(self.step)
        if self.optimizer is not None:
            self.optimizer.update(self.step, self.rates[self.step - 1])

    def _record(self, loss: float) -> None:
        if not math.isfinite(loss):
            raise ModelError(f"the loss is {loss} at step {self.step}: lower `rate`, or bound the gradient with `clip`")
        self.losses.append(loss)
        if len(self.losses) >= self.steps / _POINTS or self.step == self.steps:
            self.curves.loss.append((self.step, float(np.mean(self.losses))))
            self.losses = []

    def _stop(self, epoch: float) -> None:
        """Score the model after so many epochs."""
        self.table.settle(self.step)
        if self.select is None:
            return
        self.curves.selection.append((epoch, self.select(self.model)))
        if self.curves.best == epoch:
            self.best = {name: tensor.clone() for name, tensor in self._weights().items()}

    def _weights(self) -> dict[str, Tensor]:
        return {"table": self.model.table.detach()} | self.model.encoder.state_dict()

    def _keep_best(self) -> None:
        if self.best is not None:
            for name, tensor in self._weights().items():
                tensor.copy_(self.best[name])

    def state(self) -> dict[str, Any]:
        """All that determines what comes after this step."""
        return {
            "step": self.step,
            "table": self.table.state(),
            "encoder": self.model.encoder.state_dict(),
            "optimizer": self.optimizer.state() if self.optimizer else {},
            "negatives": json.dumps(self.negatives.bit_generator.state),
            "loss": self.curves.loss,
            "losses": self.losses,
            "selection": self.curves.selection,
            "best": self.best,
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from what `state` returned."""
        self.step, self.losses, self.best = state["step"], state["losses"], state["best"]
        self.curves = Curves([tuple(p) for p in state["loss"]], [tuple(p) for p in state["selection"]])
        self.table.restore(state["table"])
        self.model.encoder.load_state_dict(state["encoder"])
        if self.optimizer:
            self.optimizer.restore(state["optimizer"])
        self.negatives.bit_generator.state = json.loads(state["negatives"])


def _rates(config: TrainingConfig, steps: int) -> NDArray[np.float64]:
    """The learning rate of each step; `linear` reaches 0 one step after the last."""
    if config.schedule == "constant":
        return np.full(steps, config.rate)
    return config.rate * (1 - np.arange(steps) / steps)
