"""Fitting a pair model to labelled pairs (ldc2016 §3.5, §4.1)."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from paraphrastic.encoding.encoder import TrainingConfig
from paraphrastic.encoding.trained import TrainedPairs
from paraphrastic.supervised.tasks import Task
from paraphrastic.supervised.tuning import Outcome
from paraphrastic.training.checkpoint import Checkpoint
from paraphrastic.training.labelled import LabelledPairs
from paraphrastic.training.loop import Training


def learn_pairs(
    model: TrainedPairs,
    config: TrainingConfig,
    task: Task,
    seed: int,
    universal: bool,
    checkpoint: Checkpoint,
    every: float,
    on_step: Callable[[int, int], None],
) -> Outcome:
    """Train `model` on the pairs of a task with two labels, and keep the epoch with the best development score.

    Args:
        model: where it starts; holds the result.
        config: its options.
        task: of kind `ranking` or `labelled_pairs`.
        seed: of everything random.
        universal: whether `model` was trained before and is pulled back to that.
        checkpoint: where an interrupted run goes on; the caller removes it.
        every: seconds between two checkpoints.
        on_step: called with the number of each finished step and that of all steps.

    Raises:
        ModelError: the loss is no longer a number.
    """
    bags, rows = model.units.bags(task.sentences), task.splits["train"]

    def figures(split: str) -> dict[str, float]:
        there = task.splits[split]
        return task.figures(split, _both(model.score_bags(bags, there.left, there.right)))

    pairs = LabelledPairs(bags, rows.left, rows.right, rows.gold.astype(np.float32))
    run = Training(model, pairs, config, seed, lambda _: figures("dev")[task.metric], universal=universal)
    curves = run.run(checkpoint, every, lambda step: on_step(step, run.steps))
    return Outcome(int(curves.best or 0), figures("dev"), figures("test"))


def _both(match: NDArray[np.float32]) -> NDArray[np.float32]:
    """Probabilities of no match and of a match, (n, 2)."""
    return np.stack([1 - match, match], 1)
