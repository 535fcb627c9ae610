"""Training of every sentence encoder: it learns, repeats itself, and continues after a kill."""

import pytest
import torch

from tests.helpers.encoder_variants import REPRESENTATIVE, VARIANTS, variant_parameters
from tests.helpers.toy_training import fickle_score, kill_at, paraphrases_found, prepare, saved_bytes, train

NOISE = {"curriculum": True, "boundary_tokens": "both", "scramble": 0.5, "dropout": 0.2, "word_dropout": 0.1}
FAST_LEARNERS = ("avg", "charagram-words=True", "charlstm-output_gate=True")


@pytest.mark.parametrize(("name", "block"), variant_parameters(*FAST_LEARNERS))
def test_share_of_paraphrases_found_before_and_after_training(name, block, tmp_path):
    options = {"epochs": 80, "dim": 32, "learning_rate": 0.005, "max_grad_norm": 1.0}
    if name == "charcnn":
        options["filters"] = {2: 50, 3: 50}
    if name == "charlstm":  # with `max`, all vectors may become the same one, as params.yaml says
        options["negatives"] = "mix"
    untrained, _, _ = prepare(name, block)
    trained, _ = train(name, block, tmp_path, **options)
    assert paraphrases_found(untrained) < 0.5
    assert paraphrases_found(trained) > 0.6


@pytest.mark.parametrize(("name", "block"), variant_parameters(*REPRESENTATIVE))
@pytest.mark.parametrize("optimizer", ["adam", "adagrad"])
def test_bytes_of_killed_and_unbroken_run(name, block, optimizer, tmp_path):
    noise = {key: value for key, value in NOISE.items() if key in block}
    options = {"optimizer": optimizer, "negatives": "mix", "select": fickle_score} | noise
    options["lambda_w" if name == "avg" else "lambda_c"] = 1e-4
    unbroken, curves = train(name, block, tmp_path / "1", **options)
    for limit in (9, 23):
        with pytest.raises(KeyboardInterrupt):
            train(name, block, tmp_path / "2", every=0, on_step=kill_at(limit), **options)
    steps = []
    resumed, resumed_curves = train(name, block, tmp_path / "2", on_step=steps.append, **options)
    assert steps[0] > 20
    assert resumed_curves == curves
    assert saved_bytes(unbroken, name, tmp_path / "a") == saved_bytes(resumed, name, tmp_path / "b")


FROZEN = {name: block for name, block in VARIANTS if "freeze_embeddings" in block and name != "avg"}


@pytest.mark.parametrize(("name", "block"), FROZEN.items(), ids=FROZEN)
def test_frozen_embeddings(name, block, tmp_path):
    untrained, _, _ = prepare(name, block)
    options = {"freeze_embeddings": True, "select": fickle_score, "max_grad_norm": 1.0, "dropout": 0.2}
    trained, curves = train(name, block, tmp_path / "1", **options)
    assert torch.equal(trained.embeddings, untrained.embeddings)
    assert all(
        (after != before).any()
        for after, before in zip(trained.module.parameters(), untrained.module.parameters(), strict=True)
    )
    penalised, same_curves = train(name, block, tmp_path / "2", **options, lambda_w=0.1)
    assert same_curves == curves  # λw has no effect
    assert all(map(torch.equal, trained.module.parameters(), penalised.module.parameters()))
