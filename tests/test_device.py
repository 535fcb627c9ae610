"""Training on a GPU is training on the CPU: the same code, and the same numbers but for rounding.

Where there is no GPU, all but its kernels runs on a pretended one.
"""

import numpy as np
import pyarrow as pa
import pytest
import torch
from paraphrastic.training.pair_trainer import Training

from paraphrastic.nn.batch import to_device
from paraphrastic.training import trainer as run
from paraphrastic.training.checkpoint import Checkpoint
from pipeline.params import load_params
from pipeline.train import _checkpoint
from tests import pretended, test_ldc
from tests.test_encoders import NAMES, VARIANTS
from tests.test_training import SENTENCES, killed_at, prepare

REAL = torch.cuda.is_available()
DEVICE = torch.device("cuda") if REAL else pretended.DEVICE
EXACT = {"products": "float32", "scramble": 0.5, "negatives": "mix", "clip": 1.0, "lambda_c": 1e-4, "lambda_w": 1e-5}

PAIRS = 4  # in a batch


@pytest.fixture(autouse=True)
def watch():
    with pretended.Watch() as watch:
        yield watch


def train(name, block, device, folder, every=1e9, on_step=lambda step: None, **changes):
    """The trained model and its curves."""
    changes = {key: value for key, value in (EXACT | {"epochs": 1} | changes).items() if key in block}
    model, pairs, config = prepare(name, block, **changes)
    curves = Training(model.to(device), pairs, config, 11, None).run(Checkpoint(folder), every, on_step)
    return model, curves


def same(one, other):
    np.testing.assert_allclose(one, other, rtol=5e-3, atol=1e-3)


@pytest.mark.parametrize(("name", "block"), VARIANTS, ids=NAMES)
class TestEveryEncoder:
    def test_vectors_are_those_of_the_cpu(self, name, block):
        model, *_ = prepare(name, block)
        on_cpu = model.encode(SENTENCES)
        np.testing.assert_allclose(model.to(DEVICE).encode(SENTENCES), on_cpu, rtol=1e-4, atol=1e-5)

    @pytest.mark.parametrize("optimizer", ["adam", "adagrad"])
    def test_losses_are_those_of_the_cpu(self, name, block, optimizer, tmp_path):
        options = {"optimizer": optimizer, "epochs": 2}
        same(*(train(name, block, device, tmp_path, **options)[1].loss for device in (DEVICE, "cpu")))

    def test_noise_and_reduced_products_give_numbers(self, name, block, tmp_path):
        noise = {"dropout": 0.3, "word_dropout": 0.1, "products": "bfloat16", "epochs": 6}
        model, curves = train(name, block, DEVICE, tmp_path, **noise)
        assert np.isfinite(model.encode(SENTENCES)).all()
        assert np.isfinite(curves.loss).all()

    def test_killed_and_resumed_goes_on(self, name, block, tmp_path):
        _, unbroken = train(name, block, DEVICE, tmp_path / "1")
        with pytest.raises(KeyboardInterrupt):
            train(name, block, DEVICE, tmp_path / "2", every=0, on_step=killed_at(4))
        steps = []
        _, resumed = train(name, block, DEVICE, tmp_path / "2", on_step=steps.append)
        assert steps[0] == 4  # the step that was killed was not yet saved
        same(resumed.loss, unbroken.loss)

    @pytest.mark.skipif(REAL, reason="the pretended device counts")
    def test_a_step_brings_where_its_sentences_stand_and_waits_for_nothing(
        self, name, block, tmp_path, watch, monkeypatch
    ):
        monkeypatch.setattr(run, "_POINTS", 1)  # the losses are read at the end
        brought, waits = [], []

        def on_step(_):
            brought.append(sum(watch.brought))
            waits.append(len(watch.waits))

        model, _ = train(name, block, DEVICE, tmp_path, on_step=on_step, scramble=0.0, negatives="max")
        assert max(np.diff(brought)) <= 8 * PAIRS + model.units.lookup(SENTENCES).lengths.max()
        assert waits[0] == waits[-2]  # after the last step its losses are read


def test_losses_between_two_points_of_the_curve_survive_a_kill(tmp_path, monkeypatch):
    monkeypatch.setattr(run, "_POINTS", 3)  # of ten steps
    block = dict(VARIANTS)["avg"]
    _, unbroken = train("avg", block, DEVICE, tmp_path / "1", epochs=2)
    with pytest.raises(KeyboardInterrupt):
        train("avg", block, DEVICE, tmp_path / "2", every=0, on_step=killed_at(7), epochs=2)
    _, resumed = train("avg", block, DEVICE, tmp_path / "2", epochs=2)
    assert [step for step, _ in resumed.loss] == [4, 8, 10]
    same(resumed.loss, unbroken.loss)


def train_ldc(device, folder, pairs=test_ldc.paraphrases, every=1e9, on_step=lambda step: None, **changes):
    options = {"dim": 8, "filters": 8, "epochs": 2, "batch_size": 6, "rate": 0.01, "lambda_c": 1e-4} | changes
    model = test_ldc.start(test_ldc.LDC, **options).to(device)
    config = test_ldc.Config(**test_ldc.LDC | options)
    curves = Training(model, pairs(model), config, 11, None).run(Checkpoint(folder), every, on_step)
    return model, curves


class TestPairModel:
    @pytest.mark.parametrize("pairs", [test_ldc.paraphrases, test_ldc.labelled])
    @pytest.mark.parametrize(("match", "decompose"), test_ldc.ALLOWED)
    def test_losses_and_scores_are_those_of_the_cpu(self, match, decompose, pairs, tmp_path):
        # not Adam, whose idle rows the CPU catches up with to first order: a wrong partner may then be another
        options = {"pairs": pairs, "match": match, "decompose": decompose, "optimizer": "adagrad"}
        both = [train_ldc(device, tmp_path, **options) for device in (DEVICE, "cpu")]
        same(*(curves.loss for _, curves in both))
        given = test_ldc.labelled(both[0][0])
        same(*(model.score_bags(given.bags, given.left, given.right) for model, _ in both))

    def test_reduced_products_and_random_mismatches_give_numbers(self, tmp_path):
        _, curves = train_ldc(DEVICE, tmp_path, products="bfloat16", dropout=0.2, negatives="mix")
        assert np.isfinite(curves.loss).all()

    def test_killed_and_resumed_goes_on(self, tmp_path):
        _, unbroken = train_ldc(DEVICE, tmp_path / "1")
        with pytest.raises(KeyboardInterrupt):
            train_ldc(DEVICE, tmp_path / "2", every=0, on_step=killed_at(4))
        steps = []
        _, resumed = train_ldc(DEVICE, tmp_path / "2", on_step=steps.append)
        assert steps[0] == 4
        same(resumed.loss, unbroken.loss)


def test_what_arrow_holds_is_carried_without_a_warning(recwarn):
    torch.set_warn_always(True)
    array = pa.array([3, 1, 2]).to_numpy()
    try:
        assert to_device(array, torch.device("cpu")).tolist() == [3, 1, 2]
    finally:
        torch.set_warn_always(False)
    assert not recwarn.list


def test_a_run_on_one_device_does_not_go_on_on_another():
    params = load_params()
    folders = [_checkpoint(params, torch.device(name)).folder for name in ("cpu", "cuda", "cuda:1")]
    assert folders[0] != folders[1] == folders[2]


class TestPretended:
    def test_tensors_of_both_devices_do_not_meet(self, watch):
        there = torch.ones(3).to(pretended.DEVICE)
        assert (there + torch.tensor(1.0)).cpu().tolist() == [2, 2, 2]
        with pytest.raises(RuntimeError, match="a tensor of the CPU beside tensors of the device"):
            there + torch.ones(3)

    def test_copies_and_waits_are_recorded(self, watch):
        there = torch.arange(3).to(pretended.DEVICE, non_blocking=True)
        assert (watch.brought, watch.waits) == ([3], [])
        for wait in (there.sum().item, there.unique, there.nonzero, there.cpu, lambda: there[there > 0]):
            wait()
        torch.arange(5).to(pretended.DEVICE)
        assert watch.brought == [3, 5]
        assert len(watch.waits) == 6
