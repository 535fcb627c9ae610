"""Training of the pair model on tasks with two labels."""

from pathlib import Path
from typing import Any

import pytest
import torch

from paraphrastic.finetuning.initial_state import untrained_model
from paraphrastic.finetuning.task_trainers import Outcome, finetune_pair_model
from paraphrastic.finetuning.tasks import Task
from paraphrastic.models.ldc import Config, Ldc
from paraphrastic.scoring.neural import TrainedPairModel
from paraphrastic.training.checkpoint import Checkpoint
from tests.helpers.ldc import LDC
from tests.helpers.toy_tasks import random_task, with_training_rows_in_all_splits


def train_pair_model(
    task: Task, folder: Path, pretrained: bool = False, **changes: Any
) -> tuple[TrainedPairModel, Outcome, Any]:
    """Train an untrained pair model on a task; return it, the outcome, and the initial `similarity.W`."""
    config, generator = Config(**LDC | {"batch_size": 10} | changes), torch.Generator().manual_seed(1)
    model = untrained_model(Ldc, config, task.sentences, [2], generator)
    start = model.module.similarity.W.detach().clone()
    checkpoint = Checkpoint(folder)
    outcome = finetune_pair_model(model, config, task, 1, pretrained, checkpoint, 1e9, lambda step, steps: None)
    return model, outcome, start


@pytest.mark.parametrize("kind", [pytest.param("ranking", marks=pytest.mark.slow), "labelled_pairs"])
def test_training_accuracy_on_50_pairs(kind, tmp_path):
    task = with_training_rows_in_all_splits(random_task(kind))
    _, outcome, _ = train_pair_model(task, tmp_path, epochs=30, learning_rate=0.01)
    assert outcome.test[task.metric] >= 99
    assert 1 <= outcome.epoch <= 30


@pytest.mark.parametrize("pretrained", [True, False])
def test_weights_with_strong_penalty(pretrained, tmp_path):
    task = with_training_rows_in_all_splits(random_task("labelled_pairs"))
    model, _, start = train_pair_model(task, tmp_path, pretrained, lambda_c=1e9)
    target = start if pretrained else torch.zeros_like(start)
    torch.testing.assert_close(model.module.similarity.W.detach(), target, atol=1e-5, rtol=0)
