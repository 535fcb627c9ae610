"""The losses on numbers worked by hand and sentence by sentence, and their options."""

import numpy as np
import pytest
import torch

import paraphrastic.losses
from paraphrastic.base.errors import ParameterError
from paraphrastic.base.parameters import Train, load_params
from paraphrastic.losses import infonce, margin
from paraphrastic.models import check_student, config_class
from paraphrastic.nn.negatives import ALL, negative_mask
from paraphrastic.training import losses
from tests.helpers.pair_equations import naive_mask
from tests.helpers.repository import ROOT


def random_generator():
    return np.random.Generator(np.random.PCG64(5))


def unit_vectors(*degrees):
    angles = np.deg2rad(degrees)
    return torch.tensor(np.stack([np.cos(angles), np.sin(angles)], 1))


@pytest.mark.parametrize("delta", [0.4, 0.9])
def test_margin_loss_of_two_pairs(delta):
    # First sentences at 0° and 90°, second sentences at 60° and 120°; their lengths must not matter.
    vectors = unit_vectors(0, 90, 60, 120) * torch.tensor([[1.0], [2.0], [3.0], [4.0]])
    mask = negative_mask(torch.tensor([0, 1, 2, 3]), torch.tensor([0, 1]))
    loss = margin.loss(vectors, mask, ALL, random_generator(), margin.Config(margin=delta))
    cos = {degrees: np.cos(np.deg2rad(degrees)) for degrees in (0, 30, 60, 90, 120)}
    # Pair 1: the negative of s1 = 0° is 90°, because 60° is its own partner; the negative of s2 = 60° is 90°.
    first = max(0, delta - cos[60] + cos[90]) + max(0, delta - cos[60] + cos[30])
    # Pair 2: the negative of s1 = 90° is 60°; the negative of s2 = 120° is 60°.
    second = max(0, delta - cos[30] + cos[30]) + max(0, delta - cos[30] + cos[60])
    assert float(loss) == pytest.approx((first + second) / 2)


def value(name, vectors, mask, own=ALL, **given):
    """Return a loss with its defaults, or with these options."""
    config = losses.options(Train.model_construct(loss=name, loss_options=given), None)
    return losses.function(name)(vectors, mask, own, random_generator(), config)


@pytest.mark.parametrize(("ids", "groups"), [([0, 1], [0]), ([0, 1, 2, 3], [7, 7])], ids=["one pair", "one group"])
@pytest.mark.parametrize("name", losses.names())
def test_losses_without_allowed_negatives(name, ids, groups):
    vectors = torch.randn(len(ids), 3, requires_grad=True)
    loss = value(name, vectors, negative_mask(torch.tensor(ids), torch.tensor(groups)))
    assert float(loss.detach()) == 0
    loss.backward()
    assert not vectors.grad.any()


@pytest.mark.parametrize("temperature", [0.05, 1.0])
def test_infonce_sentence_by_sentence(temperature):
    random = np.random.default_rng(3)
    ids, groups = np.array([0, 1, 2, 3, 4, 5, 0, 7, 8, 9]), np.array([0, 1, 1, 2, 3])  # a copy, and pairs of one group
    vectors = random.normal(size=(10, 4))
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    mask, losses = naive_mask(ids, groups), []
    for k in range(10):
        partner = (k + 5) % 10
        scores = {t: unit[k] @ unit[t] / temperature for t in range(10) if t == partner or not mask[k, t]}
        losses.append(np.log(sum(map(np.exp, scores.values()))) - scores[partner])
    options = infonce.Config(temperature=temperature)
    loss = infonce.loss(torch.from_numpy(vectors), torch.from_numpy(mask), ALL, random_generator(), options)
    assert float(loss) == pytest.approx(np.mean(losses), rel=1e-9)


@pytest.mark.parametrize(
    ("name", "options"),
    [*((name, {}) for name in losses.names()), *(("margin", {"negatives": each}) for each in ("mix", "random"))],
)
def test_losses_of_parts_of_a_batch_add_up(name, options):
    ids, groups = torch.tensor([0, 1, 2, 3, 4, 5, 0, 7, 8, 9]), torch.tensor([0, 1, 1, 2, 3])
    vectors = torch.randn(10, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(3))
    slices = (slice(0, 3), slice(3, 4), slice(4, 4), slice(4, 10), ALL)
    *parts, whole = (value(name, vectors, negative_mask(ids, groups, own), own, **options) for own in slices)
    torch.testing.assert_close(sum(parts), whole)


@pytest.mark.parametrize("name", losses.names())
def test_gradient_of_a_zero_vector_is_not_above_that_of_short_ones(name):
    vectors = 0.1 * torch.randn(8, 3, generator=torch.Generator().manual_seed(0))
    vectors[0] = 0
    value(name, vectors.requires_grad_(), negative_mask(torch.arange(8), torch.arange(4))).backward()
    sizes = vectors.grad.norm(dim=1)
    assert 0 < sizes[0] < sizes[1:].max()


def test_gradient_of_margin_loss_against_finite_differences_and_of_zero_vectors():
    zeros, mask = torch.zeros(4, 3, requires_grad=True), negative_mask(torch.arange(4), torch.arange(2))
    loss = margin.loss(zeros, mask, ALL, random_generator(), margin.Config())
    loss.backward()
    assert float(loss.detach()) == pytest.approx(0.8)
    assert torch.isfinite(zeros.grad).all()
    vectors = torch.randn(8, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0), requires_grad=True)
    mask = negative_mask(torch.arange(8), torch.arange(4))
    options = margin.Config(margin=0.9)
    assert torch.autograd.gradcheck(lambda v: margin.loss(v, mask, ALL, random_generator(), options), [vectors])


KNOWN = ", ".join(losses.names())


def options(name, block="avg", **given):
    """Return the options of a loss for a model of models.yaml."""
    params = load_params(ROOT / "params.yaml", {"model": block, "train.loss": name, "train.loss_options": given})
    return losses.options(params.train, config_class(block)(**params.models[block]))


def test_options_come_from_params_yaml_then_from_the_model_then_from_the_loss():
    assert {"infonce", "margin"} <= {*losses.names()}
    assert options("margin", "charlstm").model_dump() == {"margin": 0.4, "negatives": "mix"}  # of its block
    assert options("margin", "avg", margin=0.1).model_dump() == {"margin": 0.1, "negatives": "max"}
    assert options("margin", "overlap") == margin.Config()  # a baseline has none
    assert options("infonce") == infonce.Config(temperature=0.1)
    assert options("infonce", temperature=0.05) == infonce.Config(temperature=0.05)


@pytest.mark.parametrize(
    ("name", "given", "message"),
    [
        ("infonc", {}, f"train.loss: unknown loss 'infonc': did you mean 'infonce'? known are {KNOWN}"),
        ("infonce", {"temprature": 1}, "train.loss_options.temprature: unknown key; did you mean 'temperature'?"),
        ("infonce", {"temperature": 0}, "train.loss_options.temperature = 0: should be greater than 0"),
        ("margin", {"temperature": 1}, "train.loss_options.temperature: unknown key; known are margin, negatives"),
    ],
)
def test_loss_and_options_that_are_unknown(name, given, message):
    with pytest.raises(ParameterError) as caught:
        options(name, **given)
    assert str(caught.value) == f"params.yaml: {message}"


CONFIG = "class Config(Section):\n    pass\n"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            CONFIG + "def losss(vectors, mask, own, generator, options): pass",
            "should define a function loss and a class",
        ),
        ("def loss(vectors, mask, own, generator, options): pass", "should define a function loss and a class Config"),
        ("class Config: pass\ndef loss(vectors, mask, own, generator, options): pass", r"should .* Config\(Section\)$"),
        (
            CONFIG + "def loss(vectors, mask, own, generator): pass",
            r"loss: .* 'options'; its arguments are vectors, mask",
        ),
        (
            CONFIG + "def loss(vectors, mask, options): pass",
            "loss: .*; its arguments are vectors, mask, own, generator",
        ),
    ],
)
def test_file_that_defines_no_loss(tmp_path, monkeypatch, text, problem):
    name = f"mine{abs(hash(text))}"
    (tmp_path / f"{name}.py").write_text(f"from paraphrastic.base.parameters import Section\n\n{text}\n")
    monkeypatch.setattr(paraphrastic.losses, "__path__", [str(tmp_path), *paraphrastic.losses.__path__])
    with pytest.raises(ParameterError, match=rf"^{tmp_path}/{name}\.py: {problem}"):
        options(name)


def test_default_of_an_own_loss_that_is_wrong(tmp_path, monkeypatch):
    options_of_it = "class Config(Section):\n    scale: PositiveFloat = -1.0\n"
    imports = "from pydantic import PositiveFloat\nfrom paraphrastic.base.parameters import Section\n"
    text = imports + options_of_it + "def loss(vectors, mask, own, generator, options): pass\n"
    (tmp_path / "mine_default.py").write_text(text)
    monkeypatch.setattr(paraphrastic.losses, "__path__", [str(tmp_path), *paraphrastic.losses.__path__])
    with pytest.raises(ParameterError, match=r"train\.loss_options\.scale = -1\.0: should be greater than 0"):
        options("mine_default")
    assert options("mine_default", scale=2.0).scale == 2.0


def test_temperature_of_a_model_that_no_loss_reads():
    params = load_params(ROOT / "params.yaml")
    block = config_class("avg")(**params.models["avg"], temperature=0.2)
    with pytest.raises(ParameterError, match=r"^models\.yaml: temperature: margin has none; set train\.loss"):
        losses.options(params.train, block)
    infonce_loss = params.train.model_copy(update={"loss": "infonce"})
    assert losses.options(infonce_loss, block) == infonce.Config(temperature=0.2)


@pytest.mark.parametrize("model", ["ldc", "sif"])
def test_model_without_sentence_vectors_that_a_loss_could_train(model):
    check_student(load_params(ROOT / "params.yaml", {"model": model}))
    with pytest.raises(ParameterError, match=rf"train\.loss: {model} has no sentence vectors .* leave it at margin"):
        check_student(load_params(ROOT / "params.yaml", {"model": model, "train.loss": "infonce"}))
    with pytest.raises(ParameterError, match=r"train\.loss_options: .*; leave it empty, or choose an encoder"):
        check_student(load_params(ROOT / "params.yaml", {"model": model, "train.loss_options": {"margin": 0.9}}))
