"""Train a pair model on a task with two labels (ldc2016 §3.5, §4.1)."""

import numpy as np
from numpy.typing import NDArray

from paraphrastic.finetuning.head_trainer import OnStep, Outcome
from paraphrastic.finetuning.tasks import Task
from paraphrastic.nn.options import TrainingConfig
from paraphrastic.scoring.neural import TrainedPairModel
from paraphrastic.training.batches import LabelledPairs
from paraphrastic.training.checkpoint import Checkpoint
from paraphrastic.training.pair_trainers import LabelTrainer


def finetune_pair_model(
    model: TrainedPairModel,
    config: TrainingConfig,
    task: Task,
    seed: int,
    pretrained: bool,
    checkpoint: Checkpoint,
    seconds: float,
    on_step: OnStep,
) -> Outcome:
    """Train `model` on the pairs of a task, and keep the epoch with the best score on the development set.

    Args:
        model: the model at its start; holds the result.
        config: its options.
        task: of kind `ranking` or `labelled_pairs`.
        seed: seed of all random numbers.
        pretrained: the model was trained before, and λc penalises the distance of its module's parameters from that
            state.
        checkpoint: where the state is saved; the caller removes it after the run.
        seconds: time between two saves.
        on_step: called after each step.

    Raises:
        ModelError: the loss is not finite.
    """
    sentences, train = model.vocabulary.lookup(task.sentences), task.splits["train"]

    def metrics(split: str) -> dict[str, float]:
        rows = task.splits[split]
        return task.metrics(split, _both_classes(model.score_ids(sentences, rows.left, rows.right)))

    pairs = LabelledPairs.of(sentences, train.left, train.right, train.gold.astype(np.float32))
    trainer = LabelTrainer(model, pairs, config, seed, lambda _: metrics("dev")[task.metric], pretrained=pretrained)
    curves = trainer.run(checkpoint, seconds, lambda step: on_step(step, trainer.steps))
    return Outcome(curves, metrics("dev"), metrics("test"))


def _both_classes(match: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the probabilities of no match and of a match, (n, 2), from the latter, (n,)."""
    return np.stack([1 - match, match], 1)
