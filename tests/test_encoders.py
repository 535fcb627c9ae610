"""Every encoder against its paper's equation, written naively."""

import numpy as np
import pytest
import torch

from paraphrastic import models
from paraphrastic.nn.batch import Batch
from paraphrastic.nn.kernels.bag_sum import bag_sum
from paraphrastic.vocabulary.ragged import Ragged
from tests import character_equations, equations

DIM, ROWS = 5, 11
TRAINED = {
    "dim": DIM,
    "init": "random",
    "epochs": 1,
    "batch_size": 4,
    "batches": "mixed",
    "curriculum": False,
    "margin": 0.4,
    "negatives": "max",
    "optimizer": "adam",
    "rate": 0.01,
    "schedule": "constant",
    "clip": None,
    "lambda_c": 0.0,
    "threads": 1,
}
NOISE = {"tags": "none", "scramble": 0.0, "dropout": 0.0, "word_dropout": 0.0}
WORD = TRAINED | NOISE | {"vectors": None, "lambda_w": 0.0}
RECURRENT = WORD | {"products": "float32"}
LSTM = RECURRENT | {"output_gate": True}
BOTH = [LSTM | {"combine": how} for how in ("sum", "dense")]
VARIANTS = [
    ("avg", WORD),
    ("lstmavg", LSTM),
    ("lstmavg", LSTM | {"output_gate": False}),
    ("lstm", LSTM),
    ("lstm", LSTM | {"output_gate": False}),
    ("proj", WORD),
    ("dan", WORD | {"layers": 1, "activation": "tanh"}),
    ("dan", WORD | {"layers": 2, "activation": "relu"}),
    ("rnn", RECURRENT | {"activation": "tanh"}),
    ("rnn", RECURRENT | {"activation": "relu"}),
    ("irnn", RECURRENT),
    *(("bilstmavg", block) for block in BOTH),
    *(("gran", LSTM | {"variant": variant}) for variant in (1, 2, 3, 4, 5)),
    *(("bigran", BOTH[0] | {"variant": variant}) for variant in (1, 4)),
    *(("bigran", BOTH[1] | {"variant": variant}) for variant in (3, 5)),
    ("charagram", TRAINED | {"words": False, "counts": "linear", "layers": 1, "activation": "tanh"}),
    ("charagram", TRAINED | {"words": False, "counts": "sqrt", "layers": 2, "activation": "tanh"}),
    ("charagram", TRAINED | {"words": True, "counts": "sqrt", "layers": 1, "activation": "linear"}),
]
VARIANTS += [(name, TRAINED | block) for name, block in character_equations.VARIANTS]
EQUATIONS = equations.EQUATIONS | character_equations.EQUATIONS
NAMES = [f"{name}-{[v for k, v in block.items() if k not in RECURRENT]}" for name, block in VARIANTS]

SENTENCES = [[3, 1, 3, 10], [], [7], [2, 2, 2, 5, 0, 9, 4], [6, 8], [1]]
MORE = [np.random.default_rng(n).integers(ROWS, size=1 + n % 3).tolist() for n in range(99)]  # a ReLU is often off


def build(name, block, dtype=torch.float64):
    generator = torch.Generator().manual_seed(4)
    encoder = models.implementation(name)(models.options(name)(**block), generator)
    for parameter in encoder.parameters():  # biases and peepholes start at zero: give every term a say
        parameter.data.normal_(0, 0.7, generator=generator)
    return encoder.to(dtype), torch.randn(ROWS, DIM, generator=generator).to(dtype)


def bags_of(sentences, counted):
    counts = [np.unique(s, return_counts=True) for s in sentences]
    ids = [c[0] for c in counts] if counted else sentences
    flat = np.array([unit for i in ids for unit in i], np.int32)
    offsets = np.concatenate([[0], np.cumsum([len(i) for i in ids])]).astype(np.int64)
    return Ragged(flat, offsets, np.array([n for c in counts for n in c[1]], np.uint16) if counted else None)


def batch_of(sentences, encoder, dtype=torch.float64):
    return Batch.of(bags_of(sentences, "ngrams" in encoder.units), torch.device("cpu"), dtype)


@pytest.mark.parametrize(("name", "block"), VARIANTS, ids=NAMES)
class TestEncoder:
    def test_is_the_equation_of_its_paper(self, name, block):
        encoder, table = build(name, block, torch.float32)
        ours = encoder(table, batch_of(SENTENCES, encoder, torch.float32)).detach().numpy()
        weights = {key: value.double().numpy() for key, value in encoder.state_dict().items()}
        naive = [EQUATIONS[name](s, table.double().numpy(), weights, block) for s in SENTENCES]
        np.testing.assert_allclose(ours, naive, atol=1e-5)

    def test_gradient_is_that_of_finite_differences(self, name, block):
        encoder, table = build(name, block)
        batch = batch_of(SENTENCES, encoder)
        inputs = [table.requires_grad_(), *encoder.parameters()]

        def forward(leaf, *own):
            names = [key for key, _ in encoder.named_parameters()]
            return torch.func.functional_call(encoder, dict(zip(names, own, strict=True)), (leaf, batch))

        assert torch.autograd.gradcheck(forward, inputs, fast_mode=False)

    def test_reaches_every_parameter(self, name, block):
        encoder, table = build(name, block)
        (encoder(table.requires_grad_(), batch_of(SENTENCES + MORE, encoder)) ** 2).sum().backward()
        assert all(p.grad.abs().sum(-1).min() > 0 for p in encoder.parameters())
        assert table.grad.abs().sum(1).min() > 0

    def test_vector_does_not_depend_on_the_batch(self, name, block):
        encoder, table = build(name, block)
        together = encoder(table, batch_of(SENTENCES, encoder))
        backwards = encoder(table, batch_of(SENTENCES[::-1], encoder)).flip(0)
        alone = torch.cat([encoder(table, batch_of([s], encoder)) for s in SENTENCES])
        torch.testing.assert_close(together, backwards)
        torch.testing.assert_close(together, alone)

    def test_empty_batch_gives_no_vectors(self, name, block):
        encoder, table = build(name, block)
        assert encoder(table, batch_of([], encoder)).shape == (0, DIM)


@pytest.mark.parametrize(("name", "block"), [variant for variant in VARIANTS if "products" in variant[1]])
def test_reduced_products_are_close_in_training_and_exact_after_it(name, block):
    encoder, table = build(name, block, torch.float32)
    reduced, _ = build(name, block | {"products": "bfloat16"}, torch.float32)
    exact, near = (e(table, batch_of(SENTENCES, e, torch.float32)) for e in (encoder, reduced))
    assert 1e-5 < (near - exact).norm() / exact.norm() < 0.02
    gradients = [
        torch.cat([g.flatten() for g in torch.autograd.grad(v.sum(), list(e.parameters()))])
        for v, e in ((exact, encoder), (near, reduced))
    ]
    assert (gradients[1] - gradients[0]).norm() / gradients[0].norm() < 0.05
    reduced.eval()
    assert torch.equal(reduced(table, batch_of(SENTENCES, reduced, torch.float32)), exact)


def test_bag_sum_is_a_sparse_product_with_its_transpose_as_gradient():
    table = torch.randn(ROWS, DIM, dtype=torch.float64, requires_grad=True)
    bags = bags_of(SENTENCES, counted=True)
    weights = torch.rand(len(bags.ids), dtype=torch.float64)
    dense = torch.zeros(len(bags), ROWS, dtype=torch.float64)
    for i in range(len(bags)):
        for n in range(bags.offsets[i], bags.offsets[i + 1]):
            dense[i, bags.ids[n]] += weights[n]
    ids = torch.from_numpy(bags.ids.astype(np.int64))
    out = bag_sum(table, ids, torch.from_numpy(bags.offsets), weights)
    torch.testing.assert_close(out, dense @ table)
    upstream = torch.randn_like(out)
    (gradient,) = torch.autograd.grad(out, table, upstream)
    torch.testing.assert_close(gradient, dense.T @ upstream)


def test_taking_rows_of_bags_keeps_their_units():
    bags = bags_of(SENTENCES, counted=True)
    taken = bags.take(np.array([3, 1, 0, 3]))
    assert taken.lengths.tolist() == [5, 0, 3, 5]
    assert taken.ids.tolist() == [0, 2, 4, 5, 9, 1, 3, 10, 0, 2, 4, 5, 9]
    assert taken.counts.tolist() == [1, 3, 1, 1, 1, 1, 2, 1, 1, 3, 1, 1, 1]
