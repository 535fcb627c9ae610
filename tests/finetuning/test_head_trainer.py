"""Training of a head and the encoder below it."""

import pytest
import torch

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
    assert outcome.dev == trainer.metrics("dev")
    assert outcome.test == trainer.metrics("test")
    assert outcome.dev.keys() == outcome.test.keys() == {"accuracy", "f1"}


@pytest.mark.parametrize("is_frozen", [False, True])
def test_outcome_after_interruption(is_frozen, tmp_path):
    def interrupt(step, steps):
        if step == 17:
            raise KeyboardInterrupt

    task = random_task("similarity")
    uninterrupted = head_trainer(task, is_frozen=is_frozen)
    outcome = train_head(uninterrupted, tmp_path / "a")
    with pytest.raises(KeyboardInterrupt):
        train_head(head_trainer(task, is_frozen=is_frozen), tmp_path / "b", seconds=0, on_step=interrupt)
    resumed, steps = head_trainer(task, is_frozen=is_frozen), []
    assert train_head(resumed, tmp_path / "b", on_step=lambda step, _: steps.append(step)) == outcome
    assert steps[0] == 17
    for expected, parameter in zip(uninterrupted.modules.parameters(), resumed.modules.parameters(), strict=True):
        assert torch.equal(expected, parameter)


def test_pretrained_weights_with_strong_penalty(tmp_path):
    task = random_task("similarity")
    model = untrained_encoder("lstmavg", task.sentences, seed=3)
    before = [tensor.clone() for tensor in (model.embeddings, *model.module.parameters())]
    train_head(head_trainer(task, "lstmavg", model=model, lambda_c=1e9, lambda_w=1e9, epochs=2), tmp_path)
    for after, start in zip((model.embeddings, *model.module.parameters()), before, strict=True):
        torch.testing.assert_close(after.detach(), start, atol=1e-6, rtol=0)


def test_pretrained_weights_without_penalty(tmp_path):
    task = random_task("similarity")
    model = untrained_encoder("lstmavg", task.sentences, seed=3)
    before = [tensor.clone() for tensor in (model.embeddings, *model.module.parameters())]
    train_head(head_trainer(task, "lstmavg", model=model, epochs=2), tmp_path)
    for after, start in zip((model.embeddings, *model.module.parameters()), before, strict=True):
        assert (after.detach() - start).abs().max() > 1e-3


def test_frozen_vectors_with_trained_projection(tmp_path):
    task = with_training_rows_in_all_splits(random_task("labelled_sentences"))
    trainer = head_trainer(task, is_frozen=True)
    before = trainer.embedding_optimizer.weights.clone()
    assert train_head(trainer, tmp_path).test["accuracy"] > 90
    assert torch.equal(trainer.embedding_optimizer.weights, before)
    assert trainer.modules[0].out_dim == 24
