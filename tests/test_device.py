"""Training on a GPU is training on the CPU: the same code, and the same numbers but for rounding."""

import numpy as np
import pytest
import torch

from paraphrastic.training.checkpoint import Checkpoint
from paraphrastic.training.loop import Training
from tests import pretended
from tests.test_encoders import NAMES, VARIANTS
from tests.test_training import SENTENCES, killed_at, prepare

DEVICE = torch.device("cuda") if torch.cuda.is_available() else pretended.DEVICE

EXACT = {"products": "float32", "scramble": 0.5, "negatives": "mix", "clip": 1.0, "lambda_c": 1e-4, "lambda_w": 1e-5}


@pytest.fixture(autouse=True)
def watch():
    with pretended.Watch() as watch:
        yield watch


def train(name, block, device, folder, every=1e9, on_step=lambda step: None, select=None, **changes):
    """The trained model and its curves."""
    changes = {key: value for key, value in (EXACT | changes).items() if key in block}
    model, pairs, config = prepare(name, block, **changes)
    model.encoder.to(device)
    model.table = model.table.to(device)
    curves = Training(model, pairs, config, 11, select).run(Checkpoint(folder), every, on_step)
    return model, curves


@pytest.mark.parametrize(("name", "block"), VARIANTS, ids=NAMES)
class TestEveryEncoder:
    def test_vectors_are_those_of_the_cpu(self, name, block):
        model, *_ = prepare(name, block)
        on_cpu = model.encode(SENTENCES)
        model.encoder.to(DEVICE)
        model.table = model.table.to(DEVICE)
        np.testing.assert_allclose(model.encode(SENTENCES), on_cpu, rtol=1e-4, atol=1e-5)

    @pytest.mark.parametrize("optimizer", ["adam", "adagrad"])
    def test_losses_are_those_of_the_cpu(self, name, block, optimizer, tmp_path):
        options = {"optimizer": optimizer, "epochs": 2}
        both = [train(name, block, device, tmp_path, **options)[1].loss for device in ("cpu", DEVICE)]
        np.testing.assert_allclose(both[1], both[0], rtol=5e-3, atol=1e-3)

    def test_noise_and_reduced_products_give_numbers(self, name, block, tmp_path):
        noise = {"dropout": 0.3, "word_dropout": 0.1, "products": "bfloat16"}
        model, curves = train(name, block, DEVICE, tmp_path, **noise)
        assert np.isfinite(model.encode(SENTENCES)).all()
        assert np.isfinite(curves.loss).all()

    def test_killed_and_resumed_goes_on(self, name, block, tmp_path):
        _, unbroken = train(name, block, DEVICE, tmp_path / "1", epochs=90)  # three steps to a point of the curve
        with pytest.raises(KeyboardInterrupt):
            train(name, block, DEVICE, tmp_path / "2", every=0, on_step=killed_at(9), epochs=90)
        steps = []
        _, resumed = train(name, block, DEVICE, tmp_path / "2", on_step=steps.append, epochs=90)
        assert steps[0] == 9  # the step that was killed was not yet saved
        np.testing.assert_allclose(resumed.loss[:9], unbroken.loss[:9], rtol=5e-3, atol=1e-3)
