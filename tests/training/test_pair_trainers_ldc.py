"""Training of the pair model, with labels and with mismatched pairs."""

from dataclasses import replace
from functools import partial

import numpy as np
import pyarrow as pa
import pytest
import torch

from paraphrastic.models.ldc import Config
from paraphrastic.training.batches import Paraphrases
from paraphrastic.training.pair_trainers import MatchTrainer
from paraphrastic.training.trainer import Checkpoint
from tests.helpers.ldc import LDC, labelled, paraphrases, start, train
from tests.helpers.toy_training import SENTENCES, fickle_score, kill_at, saved_bytes


def paraphrases_found(model):
    """Return the share of first sentences whose best partner of all others is their paraphrase."""
    scores = model.score(SENTENCES, np.repeat(np.arange(40), 40), np.tile(np.arange(40), 40)).reshape(40, 40)
    np.fill_diagonal(scores, -1)
    return np.mean(scores[::2].argmax(1) == np.arange(1, 40, 2))


def area_under_curve(labels, scores):
    """Return the probability that a matching pair scores above another one."""
    matching, other = scores[labels > 0.5], scores[labels < 0.5]
    return float(np.mean((matching[:, None] > other) + 0.5 * (matching[:, None] == other)))


def area_on_new_pairs(model):
    pairs = labelled(model, seed=9, n=1000)
    return area_under_curve(pairs.labels, model.score_ids(pairs.sentences, pairs.left, pairs.right))


def four_hundred(model, shuffled=False):
    pairs = labelled(model, n=400)
    labels = pairs.labels[np.random.default_rng(5).permutation(400)] if shuffled else pairs.labels
    return replace(pairs, labels=labels)


def test_seed_of_random_negatives(tmp_path):
    rows = np.arange(20)
    pairs = pa.table({"left": 2 * rows, "right": 2 * rows + 1, "source": ["a"] * 20, "group": rows})
    config = Config(**LDC | {"epochs": 1, "batch_size": 6})

    def losses(name: str, seed: int) -> list[tuple[int, float]]:
        model = start(LDC)
        trainer = MatchTrainer(model, Paraphrases.of(pairs, SENTENCES, model.vocabulary), config, seed, None)
        return trainer.run(Checkpoint(tmp_path / name), 1e9).loss

    assert losses("first", 5) == losses("second", 5) != losses("third", 6)


@pytest.mark.parametrize("shuffled", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_scores_of_new_pairs_after_training_on_true_or_shuffled_labels(tmp_path, shuffled):
    model, _ = train(tmp_path, partial(four_hundred, shuffled=shuffled), epochs=5, dim=32)
    area = area_on_new_pairs(model)
    assert area == pytest.approx(0.5, abs=0.1) if shuffled else area > 0.9


@pytest.mark.slow
def test_share_of_paraphrases_found_before_and_after_training(tmp_path):
    assert paraphrases_found(start(LDC, dim=32, filters_per_width=8)) < 0.3
    assert paraphrases_found(train(tmp_path, epochs=60, dim=32, negatives="mix")[0]) > 0.6


@pytest.mark.parametrize("pairs", [paraphrases, labelled])
def test_frozen_embeddings(pairs, tmp_path):
    before = start(LDC, dim=8, filters_per_width=8)
    trained, _ = train(tmp_path, pairs, freeze_embeddings=True, lambda_w=0.1)
    assert torch.equal(trained.embeddings, before.embeddings)
    assert not torch.equal(trained.module.similarity.W, before.module.similarity.W)


@pytest.mark.parametrize("pairs", [paraphrases, labelled])
def test_bytes_of_killed_and_unbroken_run(pairs, tmp_path):
    options = {"pairs": pairs, "dropout": 0.2, "negatives": "mix", "lambda_c": 1e-4, "select": fickle_score}
    unbroken, curves = train(tmp_path / "1", **options)
    for limit in (5, 17):
        with pytest.raises(KeyboardInterrupt):
            train(tmp_path / "2", every=0, on_step=kill_at(limit), **options)
    steps = []
    resumed, resumed_curves = train(tmp_path / "2", on_step=steps.append, **options)
    assert steps[0] == 17
    assert resumed_curves == curves
    first, second = (
        saved_bytes(model, "ldc", tmp_path / n, Config(**LDC)) for n, model in (("a", unbroken), ("b", resumed))
    )
    assert first == second
