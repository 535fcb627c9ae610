"""Train a head, and the encoder below it, on a task."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from paraphrastic.finetuning.config import HeadConfig
from paraphrastic.finetuning.initial_state import InitialState
from paraphrastic.finetuning.objectives import (
    expected_score,
    kl_divergence,
    negative_log_likelihood,
    target_distribution,
)
from paraphrastic.finetuning.tasks import Task
from paraphrastic.nn.batch import DeviceSentences, to_device
from paraphrastic.scoring.neural import encode_ids
from paraphrastic.training.batches import shuffled_batches
from paraphrastic.training.checkpoint import Checkpoint, Curves
from paraphrastic.training.optimizers import L2Penalty
from paraphrastic.training.trainer import ORDER, Trainer

OnStep = Callable[[int, int], None]  # called with the number of the finished step and of all steps


@dataclass(frozen=True)
class Outcome:
    """The result on a task.

    Attributes:
        curves: the course of the training; `selection` is the main metric × 100 on the development set.
        dev: metrics × 100 on the development set after the best epoch.
        test: metrics × 100 on the test set after it.
    """

    curves: Curves
    dev: dict[str, float]
    test: dict[str, float]

    @property
    def epoch(self) -> int:
        """The first epoch with the best score on the development set, from 1."""
        return int(self.curves.best or 0)


class HeadTrainer(Trainer):
    """Trains on the training rows of a task.

    Args:
        state: the encoder at its start.
        head: `PairHead` or `SentenceHead`.
        task: the labelled rows.
        config: options of the training.
        seed: seed of the order of the rows and of noise.
    """

    def __init__(self, state: InitialState, head: nn.Module, task: Task, config: HeadConfig, seed: int) -> None:
        self._state, self._head, self._task, self._config = state, head, task, config
        self._sentences = DeviceSentences(state.sentences, state.embeddings.device)
        modules = [(state.encoder, state.penalty), (head, L2Penalty(config.lambda_s))]

        def select() -> float:
            return self.metrics("dev")[task.metric]

        super().__init__(modules, state.embeddings, state.embeddings_penalty, config, seed, select)

    def train_and_evaluate(self, checkpoint: Checkpoint, seconds: float, on_step: OnStep) -> Outcome:
        """Run to the end and evaluate the best weights; `checkpoint` and `seconds` are those of `run`."""
        curves = self.run(checkpoint, seconds, lambda step: on_step(step, self.steps))
        return Outcome(curves, self.metrics("dev"), self.metrics("test"))

    def metrics(self, split: str) -> dict[str, float]:
        """Return the metrics × 100 of the current model."""
        return self._task.metrics(split, self._predict(split))

    def batches(self, epoch: int) -> list[NDArray[np.int64]]:
        """Return the training rows of each step."""
        rows = len(self._task.splits["train"])
        return shuffled_batches(rows, self._config.batch_size, self.random(ORDER, epoch))

    def loss(self, rows: NDArray[np.int64]) -> tuple[Tensor, Tensor]:
        """Return the loss on the training rows `rows`, and the leaf of the embedding table."""
        chosen = self._task.splits["train"].take(rows)
        batch = self._sentences.take(np.concatenate([chosen.left, chosen.right]))
        batch = self._state.scrambling.apply(batch, len(rows), self.noise)
        leaf, ids = self.embedding_optimizer.gather(batch.ids, self.step)
        vectors = self._state.encoder(leaf, batch.with_ids(ids))  # (B, dim) or, of pairs, (2B, dim)
        log_p: Tensor = self._head(*vectors.split(len(rows)))  # (B, classes)
        gold = to_device(chosen.gold, log_p.device)
        if self._task.kind == "similarity":
            target = target_distribution(gold.to(log_p.dtype), self._task.classes)  # (B, classes)
            return kl_divergence(log_p, target), leaf
        return negative_log_likelihood(log_p, gold), leaf

    @torch.no_grad()
    def _predict(self, split: str) -> NDArray[np.float32]:
        """Return predicted scores (n,) or probabilities (n, classes)."""
        state, rows = self._state, self._task.splits[split]
        sentences, positions = np.unique(np.concatenate([rows.left, rows.right]), return_inverse=True)
        vectors = encode_ids(state.encoder, state.embeddings, state.sentences.take(sentences))
        sides = vectors[to_device(positions, vectors.device)].split(len(rows))  # (n, dim) for each sentence of a row
        log_p = self._head(*sides)  # (n, classes)
        predicted = expected_score(log_p) if self._task.kind == "similarity" else log_p.exp()
        return predicted.cpu().numpy()
