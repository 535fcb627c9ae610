"""Supervised tasks on random sentences of two words, and short training runs of heads on them."""

from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import torch

from paraphrastic.finetuning.heads import PairHead, SentenceHead
from paraphrastic.finetuning.initial_state import frozen_state, projected_state, trainable_state, untrained_model
from paraphrastic.finetuning.options import HeadConfig
from paraphrastic.finetuning.task_trainers import HeadTrainer, Outcome, TaskRun
from paraphrastic.finetuning.tasks import SPLITS, LabelledRows, Task
from paraphrastic.models import config_class, model_class
from paraphrastic.scoring.neural import TrainedEncoder
from paraphrastic.training.trainer import Checkpoint
from tests.helpers.encoder_variants import VARIANTS
from tests.helpers.task_tables import WORDS
from tests.helpers.toy_training import watch

HEAD: dict[str, Any] = {"hidden_dim": 20, "epochs": 40, "batch_size": 10, "lambda_s": 0.0, "lambda_c": 0.0}
HEAD |= {"optimizer": "adam", "learning_rate": 0.02, "schedule": "constant", "max_grad_norm": None, "lambda_w": 0.0}


def random_task(kind: Any, rows: int = 50, is_shuffled: bool = False) -> Task:
    """Return a task with `rows` rows per split, whose labels depend on the first words of the sentences.

    A sentence belongs to the class of its first word. A single sentence is labelled with its class, a pair with
    whether both have the same class; labels that are shuffled depend on nothing.
    """
    rng = np.random.default_rng(5)
    sentences = pa.array([f"{rng.choice(WORDS[:8])} {rng.choice(WORDS[20:])}" for _ in range(160)])
    classes = np.array([int(text[len("word")]) % 2 for text in sentences.to_pylist()])
    left, right = rng.integers(0, 160, (2, 3 * rows))
    same = (classes[left] == classes[right]).astype(np.int64)
    gold = {"similarity": 1.0 + 4 * same, "labelled_sentences": classes[left]}.get(kind, same)
    if is_shuffled:
        gold = rng.permutation(gold)
    labelled = LabelledRows(left, left[:0] if kind == "labelled_sentences" else right, gold, left % 5)
    splits = {name: labelled.take(np.arange(n * rows, (n + 1) * rows)) for n, name in enumerate(SPLITS)}
    return Task(kind, kind, sentences, splits, 5 if kind == "similarity" else 2)


def with_training_rows_in_all_splits(task: Task) -> Task:
    return Task(task.name, task.kind, task.sentences, dict.fromkeys(SPLITS, task.splits["train"]), task.classes)


def block_of(name: str) -> dict[str, Any]:
    """Return the options of the first variant of an encoder."""
    return next(block for variant, block in VARIANTS if variant == name)


def toy_config(name: str, **changes: Any) -> Any:
    """Return the options of an encoder of dimension 16."""
    return config_class(name)(**block_of(name) | {"dim": 16} | changes)


def untrained_encoder(name: str, sentences: pa.StringArray, seed: int = 1, **changes: Any) -> TrainedEncoder:
    """Return an encoder with the options of `toy_config`, random weights and the vocabulary of `sentences`."""
    generator = torch.Generator().manual_seed(seed)
    return untrained_model(model_class(name), toy_config(name, **changes), sentences, [2, 3], generator)


def head_trainer(
    task: Task,
    name: str = "avg",
    seed: int = 1,
    model: TrainedEncoder | None = None,
    fixed: Literal["frozen", "projected"] | None = None,
    encoder: Mapping[str, Any] = MappingProxyType({}),
    **changes: Any,
) -> HeadTrainer:
    """Return a trainer of a head, with `changes` of HEAD, on an encoder `name`, with those of `toy_config`.

    The encoder starts from a pretrained `model`, or from random weights. With `fixed`, random sentence vectors of size
    8 replace it, as they are or projected to size 24.
    """
    config, generator = HeadConfig(**HEAD | changes), torch.Generator().manual_seed(seed)
    if fixed:
        vectors = torch.randn(len(task.sentences), 8, generator=generator)
        state = frozen_state(vectors) if fixed == "frozen" else projected_state(vectors, 24, 0.0, generator)
    else:
        start, options = model or untrained_encoder(name, task.sentences, seed, **encoder), toy_config(name, **encoder)
        state = trainable_state(start, options, task.sentences, config.lambda_c, config.lambda_w, model is not None)
    head_class = PairHead if task.splits["train"].is_pairs else SentenceHead
    head = head_class(state.encoder.out_dim, config.hidden_dim, task.classes, generator)
    return HeadTrainer(state, head, task, config, seed)


def train_head(
    trainer: HeadTrainer,
    folder: Path,
    seconds: float = 1e9,
    on_step: Callable[[int, int], None] = lambda step, steps: None,
) -> Outcome:
    """Run a trainer to the end, with a checkpoint in `folder` every `seconds` seconds."""
    return trainer.train_and_evaluate(
        TaskRun(0, Checkpoint(folder), seconds, watch(lambda trainer: on_step(trainer.step, trainer.steps)))
    )
