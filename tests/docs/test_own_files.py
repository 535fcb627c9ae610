"""The code of the how-tos of an own model, an own loss and a callback is trained as it stands there."""

import re
import sys
from functools import partial
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
import torch

from paraphrastic import models
from paraphrastic.base.parameters import Train
from paraphrastic.nn.negatives import negative_mask
from paraphrastic.training import losses
from paraphrastic.training.pair_trainers import EncoderTrainer
from paraphrastic.training.trainer import Callback, Checkpoint
from tests.helpers.encoder_variants import SENTENCES, WORD, batch_of, build
from tests.helpers.repository import ROOT
from tests.helpers.toy_training import encoder_trainer, fickle_score, paraphrases_found, prepare, train


@pytest.fixture
def add(monkeypatch):
    """Return a function that adds the file of a page to a registry, and returns it as a module."""

    def add_file(page, registry):
        text = (ROOT / "docs/how-to" / page).read_text(encoding="utf-8")
        command = r"^cat > src/(paraphrastic/\w+)/([\w-]+)\.py << 'END'\n(.*?)^END$"
        ((folder, name, code),) = re.findall(command, text, re.M | re.S)
        module = ModuleType(f"{folder.replace('/', '.')}.{name}")
        exec(compile(code, f"{name}.py", "exec", dont_inherit=True), vars(module))
        known = sorted([*registry.names(), name])
        monkeypatch.setitem(sys.modules, module.__name__, module)
        monkeypatch.setattr(registry, "names", lambda: known)
        return name, module

    return add_file


def naive_weighted(vectors, mask, margin, sharpness):
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    hinges = []
    for k, vector in enumerate(unit):
        cosines = {t: vector @ unit[t] for t in range(len(unit)) if not mask[k, t]}
        weights = {t: np.exp(sharpness * cosine) for t, cosine in cosines.items()}
        negative = sum(weights[t] * cosines[t] for t in cosines) / sum(weights.values())
        hinges.append(max(0, margin - vector @ unit[(k + len(unit) // 2) % len(unit)] + negative))
    return np.mean(hinges)


def test_own_loss(add, tmp_path):
    name, module = add("own-loss.md", losses)
    vectors, mask = np.random.default_rng(3).normal(size=(8, 5)), negative_mask(torch.arange(8), torch.arange(4))
    arguments = torch.from_numpy(vectors), mask, slice(None), None
    for sharpness in (0.0, 20.0):
        found = module.loss(*arguments, module.Config(margin=0.9, sharpness=sharpness))
        assert float(found) == pytest.approx(naive_weighted(vectors, mask, 0.9, sharpness))
    alone = torch.randn(2, 3, requires_grad=True)
    module.loss(alone, torch.ones(2, 2, dtype=torch.bool), slice(None), None, module.Config()).backward()
    assert not alone.grad.any()
    model, pairs, config = prepare("avg", WORD, epochs=12)
    options = losses.options(Train.model_construct(loss=name, loss_options={"sharpness": 10.0}), config)
    assert options.margin == WORD["margin"]
    trainer = EncoderTrainer(model, pairs, config, 1, None, loss=partial(losses.function(name), options=options))
    before = paraphrases_found(model)
    trainer.run(Checkpoint(tmp_path), 1e9)
    assert paraphrases_found(model) > 0.8 > before


def test_own_model(add, tmp_path):
    name, _ = add("own-model.md", models)
    block = WORD | {"heads": 3}
    encoder, embeddings = build(name, block)
    (equation,) = re.findall(r"^```py\n(.*?)^```$", (ROOT / "docs/how-to/own-model.md").read_text(), re.M | re.S)
    found = {"np": np}
    exec(equation, found)
    table, weights = embeddings.numpy(), {"queries": encoder.queries.detach().numpy()}
    expected = [found[name](sentence, table, weights, block) for sentence in SENTENCES]
    vectors = encoder(embeddings, batch_of(SENTENCES, encoder)).detach()
    np.testing.assert_allclose(vectors, expected, atol=1e-12)
    model, _ = train(name, block, tmp_path, epochs=30)
    before, after = paraphrases_found(prepare(name, block)[0]), paraphrases_found(model)
    assert after > 0.8 > before + 0.3


def logged_by(tool):
    """Return a stand-in for the module of a tool, and the list of its calls as (name, value, step)."""
    calls, module = [], ModuleType(tool)
    if tool == "dvclive":

        class Live:
            def __init__(self, folder, **options):
                self.step = 0

            def log_metric(self, name, value):
                calls.append((name, value, self.step))

            def end(self):
                calls.append(("end", None, None))

        module.Live = Live
    elif tool == "wandb":
        log = lambda values, step: calls.extend((name, value, step) for name, value in values.items())  # noqa: E731
        end = lambda: calls.append(("end", None, None))  # noqa: E731
        module.init = lambda project: SimpleNamespace(log=log, finish=end)
    else:
        module.log_metric = lambda name, value, step: calls.append((name, value, step))
        module.end_run = lambda: calls.append(("end", None, None))
    return module, calls


@pytest.mark.parametrize("tool", ["dvclive", "wandb", "mlflow"])
def test_callback(tool, tmp_path, monkeypatch):
    page = (ROOT / "docs/how-to/callbacks.md").read_text(encoding="utf-8")
    (code,) = [block for block in re.findall(r"^```py\n(.*?)^```$", page, re.M | re.S) if tool in block]
    module, calls = logged_by(tool)
    monkeypatch.setitem(sys.modules, tool, module)
    exec(code, defined := {})
    (callback,) = [each for each in defined.values() if isinstance(each, type) and each.__mro__[1:2] == (Callback,)]
    model, pairs, config = prepare("avg", WORD, epochs=2)
    trainer = encoder_trainer(model, pairs, config, 1, fickle_score)
    curves = trainer.run(Checkpoint(tmp_path), 1e9, callback())
    epoch = trainer.steps_per_epoch
    scores = [("score", score, round(each * epoch)) for each, score in curves.selection]
    points = [("loss", loss, step) for step, loss in curves.loss]
    expected = sorted([*points, *scores], key=lambda call: (call[2], call[0]))
    assert calls == [*expected, ("end", None, None)]
    assert len(scores) == 2
    assert len(points) == trainer.steps
