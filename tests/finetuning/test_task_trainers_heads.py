"""Training of a head and the encoder below it, and of the pair model on tasks with two labels."""

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import torch

from paraphrastic.base.errors import ModelError
from paraphrastic.finetuning.initial_state import untrained_model
from paraphrastic.finetuning.task_trainers import Outcome, TaskRun, finetune_pair_model
from paraphrastic.finetuning.tasks import Task
from paraphrastic.models.ldc import Config, Ldc
from paraphrastic.scoring.neural import TrainedPairModel
from paraphrastic.training.trainer import NOISE, Callback, Checkpoint
from tests.helpers.ldc import LDC
from tests.helpers.toy_tasks import (
    head_trainer,
    random_task,
    train_head,
    untrained_encoder,
    with_training_rows_in_all_splits,
)


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param("similarity", marks=pytest.mark.slow),
        pytest.param("ranking", marks=pytest.mark.slow),
        "labelled_pairs",
        "labelled_sentences",
    ],
)
def test_training_accuracy_on_50_rows(kind, tmp_path):
    task = with_training_rows_in_all_splits(random_task(kind))
    assert train_head(head_trainer(task, epochs=120), tmp_path).test[task.metric] >= 99


@pytest.mark.parametrize("name", ["lstmavg", "charagram", pytest.param("charcnn", marks=pytest.mark.slow)])
def test_training_accuracy_of_other_encoders(name, tmp_path):
    task = with_training_rows_in_all_splits(random_task("labelled_pairs"))
    assert train_head(head_trainer(task, name), tmp_path).test["accuracy"] >= 99


@pytest.mark.parametrize("kind", [pytest.param("labelled_pairs", marks=pytest.mark.slow), "labelled_sentences"])
def test_accuracy_with_and_without_shuffled_labels(kind, tmp_path):
    task, shuffled = random_task(kind, 200), random_task(kind, 200, is_shuffled=True)
    assert train_head(head_trainer(task, epochs=15), tmp_path / "task").test["accuracy"] > 80
    assert train_head(head_trainer(shuffled, epochs=15), tmp_path / "shuffled").test["accuracy"] < 62


def test_outcome_of_best_epoch(tmp_path):
    task = random_task("labelled_pairs", 200)
    trainer = head_trainer(task, epochs=8)
    outcome = train_head(trainer, tmp_path)
    assert 1 <= outcome.epoch <= 8
    predicted = {split: trainer.predict(split) for split in ("dev", "test")}
    assert outcome.dev == task.metrics("dev", predicted["dev"])
    assert outcome.test == task.metrics("test", predicted["test"])
    assert outcome.predictions == pa.concat_tables(task.predictions(*each) for each in predicted.items())
    assert outcome.dev.keys() == outcome.test.keys() == {"accuracy", "f1"}


@pytest.mark.parametrize("kind", ["labelled_sentences", "labelled_pairs"])
def test_run_that_diverges_in_its_last_step(kind, tmp_path):
    changes = {"learning_rate": 1e38, "max_grad_norm": None, "epochs": 1, "batch_size": 200}
    with pytest.raises(ModelError, match=r"^a prediction is not finite; lower `learning_rate`"):
        train_head(head_trainer(random_task(kind, 200), **changes), tmp_path)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"fixed": "frozen"},
        {"fixed": "projected"},
        {"name": "lstmavg", "encoder": {"scramble": 0.5, "dropout": 0.2}},
    ],
    ids=str,
)
def test_outcome_after_interruption(options, tmp_path):
    def interrupt(step, steps):
        if step == 17:
            raise KeyboardInterrupt

    task = random_task("similarity")
    uninterrupted = head_trainer(task, epochs=10, **options)
    outcome = train_head(uninterrupted, tmp_path / "a")
    assert max(dict(outcome.curves.selection).values()) == task.score(uninterrupted.predict("dev"))  # not rounded
    with pytest.raises(KeyboardInterrupt):
        train_head(head_trainer(task, epochs=10, **options), tmp_path / "b", seconds=0, on_step=interrupt)
    resumed, steps = head_trainer(task, epochs=10, **options), []
    assert train_head(resumed, tmp_path / "b", on_step=lambda step, _: steps.append(step)) == outcome
    assert steps[0] == 17
    for expected, parameter in zip(uninterrupted.modules.parameters(), resumed.modules.parameters(), strict=True):
        assert torch.equal(expected, parameter)


def encoded_sentences(trainer, rows):
    """Return the ids of each sentence that the encoder reads in one training step on the rows `rows`."""
    batches = []
    handle = trainer.modules[0].register_forward_pre_hook(lambda module, arguments: batches.append(arguments))
    trainer.noise = trainer.random(NOISE, 0)
    trainer.loss(rows)
    handle.remove()
    ((leaf, batch),) = batches
    words = [tuple(vector.tolist()) for vector in leaf[batch.ids]]  # the ids number rows of the leaf
    return [words[start:end] for start, end in itertools.pairwise(batch.host_offsets)]


def labelled_copies(kind, text="a b c d e f g h"):
    """Return a task with 50 training rows that all hold the sentence `text`."""
    task = random_task(kind)
    sentences = pa.array([text] * len(task.sentences))
    return Task(task.name, task.kind, sentences, task.splits, task.classes)


@pytest.mark.parametrize(("kind", "sentences_per_row"), [("labelled_pairs", 2), ("labelled_sentences", 1)])
@pytest.mark.parametrize("probability", [0.0, 0.5, 1.0])
def test_scrambled_rows(kind, sentences_per_row, probability):
    trainer = head_trainer(labelled_copies(kind), "lstmavg", encoder={"scramble": probability})
    found = encoded_sentences(trainer, np.arange(50))
    assert len(found) == 50 * sentences_per_row
    (original,) = encoded_sentences(head_trainer(labelled_copies("labelled_sentences"), "lstmavg"), np.arange(1))
    assert {tuple(sorted(sentence)) for sentence in found} == {tuple(sorted(original))}
    changed = np.array([sentence != original for sentence in found]).reshape(sentences_per_row, 50)
    assert (changed == changed[0]).all()  # both sentences of a pair, or none
    assert changed.mean() == pytest.approx(probability, abs=0.2)
    assert len({tuple(sentence) for sentence in found}) >= changed.sum()  # copies in a mini-batch differ


def test_dropout_of_copies_in_a_mini_batch():
    trainer, vectors = head_trainer(labelled_copies("labelled_pairs"), encoder={"dropout": 0.5}), []
    trainer.modules[0].register_forward_hook(lambda module, arguments, result: vectors.append(result))
    trainer.noise = trainer.random(NOISE, 0)
    trainer.loss(np.arange(10))
    assert len(vectors[0].unique(dim=0)) == 20


@pytest.mark.parametrize("strength", [0.0, 1e9])
def test_pretrained_weights_with_and_without_penalty(tmp_path, strength):
    task = random_task("similarity")
    model = untrained_encoder("lstmavg", task.sentences, seed=3)
    before = [tensor.clone() for tensor in (model.embeddings, *model.module.parameters())]
    train_head(head_trainer(task, "lstmavg", model=model, lambda_c=strength, lambda_w=strength, epochs=2), tmp_path)
    for after, start in zip((model.embeddings, *model.module.parameters()), before, strict=True):
        moved = (after.detach() - start).abs().max()
        assert moved <= 1e-6 if strength else moved > 1e-3


@pytest.mark.parametrize(("fixed", "dim"), [("frozen", 8), ("projected", 24)])
def test_fixed_vectors_after_training(fixed, dim, tmp_path):
    task = with_training_rows_in_all_splits(random_task("labelled_sentences"))
    trainer = head_trainer(task, fixed=fixed, epochs=100)
    vectors, before = trainer.embedding_optimizer.weights, [p.detach().clone() for p in trainer.modules[0].parameters()]
    expected = vectors.clone()
    assert train_head(trainer, tmp_path).test["accuracy"] > 90
    assert torch.equal(vectors, expected)
    assert trainer.modules[0].out_dim == dim
    assert len(before) == (2 if fixed == "projected" else 0)
    assert not any(map(torch.equal, trainer.modules[0].parameters(), before))


def train_pair_model(
    task: Task, folder: Path, pretrained: bool = False, **changes: Any
) -> tuple[TrainedPairModel, Outcome, Any]:
    """Train an untrained pair model on a task; return it, the outcome, and the initial `similarity.W`."""
    config, generator = Config(**LDC | {"batch_size": 10} | changes), torch.Generator().manual_seed(1)
    model = untrained_model(Ldc, config, task.sentences, [2], generator)
    start = model.module.similarity.W.detach().clone()
    run = TaskRun(1, Checkpoint(folder), 1e9, Callback())
    return model, finetune_pair_model(model, config, task, pretrained, run), start


@pytest.mark.parametrize("kind", [pytest.param("ranking", marks=pytest.mark.slow), "labelled_pairs"])
def test_training_accuracy_on_50_pairs(kind, tmp_path):
    task = with_training_rows_in_all_splits(random_task(kind))
    _, outcome, _ = train_pair_model(task, tmp_path, epochs=30, learning_rate=0.01)
    assert outcome.test[task.metric] >= 99
    assert 1 <= outcome.epoch <= 30


@pytest.mark.parametrize("kind", ["ranking", "labelled_pairs"])
def test_pair_model_that_diverges_in_its_last_step(kind, tmp_path):
    changes = {"learning_rate": 1e38, "max_grad_norm": None, "epochs": 1, "batch_size": 200}
    with pytest.raises(ModelError, match=r"^a prediction is not finite; lower `learning_rate`"):
        train_pair_model(random_task(kind), tmp_path, **changes)


@pytest.mark.parametrize("pretrained", [True, False])
def test_weights_with_strong_penalty(pretrained, tmp_path):
    task = with_training_rows_in_all_splits(random_task("labelled_pairs"))
    model, _, start = train_pair_model(task, tmp_path, pretrained, lambda_c=1e9)
    target = start if pretrained else torch.zeros_like(start)
    torch.testing.assert_close(model.module.similarity.W.detach(), target, atol=1e-5, rtol=0)
