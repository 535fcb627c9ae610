"""Optimizers of the embedding table against PyTorch's own optimizers on the whole table."""

import copy
import math
from itertools import product

import numpy as np
import pytest
import torch

from paraphrastic.training.embedding_optimizers import (
    DenseEmbeddingOptimizer,
    EmbeddingOptimizer,
    SparseRowOptimizer,
    embedding_optimizer,
)
from paraphrastic.training.optimizers import L2Penalty

ROWS, DIM, STEPS = 200, 8, 300

CLASSES, OPTIMIZERS = [SparseRowOptimizer, DenseEmbeddingOptimizer], ["adam", "adagrad"]
all_optimizers = pytest.mark.parametrize(("optimizer_class", "optimizer"), [*product(CLASSES, OPTIMIZERS)])


class TorchOptimizer:
    """PyTorch's optimizer on the whole table, with the gradient of the penalty added to that of the loss."""

    def __init__(self, weights, learning_rates, optimizer, penalty):
        self.weights, self.learning_rates = weights.requires_grad_(), learning_rates
        self.strength, self.start = penalty.strength, weights.detach().clone() * penalty.to_start
        self.optimizer = {"adam": torch.optim.Adam, "adagrad": torch.optim.Adagrad}[optimizer]([weights], eps=1e-8)

    def gather(self, ids, step):
        return self.weights, ids

    def update(self, step):
        self.weights.grad += self.strength * (self.weights.detach() - self.start)
        self.optimizer.param_groups[0]["lr"] = self.learning_rates[step - 1]
        self.optimizer.step()
        self.optimizer.zero_grad()

    def flush(self, step):
        pass


def initial_weights():
    return torch.randn(ROWS, DIM, generator=torch.Generator().manual_seed(0))


def train(optimizer_class, optimizer, penalty, touched=ROWS):
    """Return the weights after random quadratic losses on a few of the first `touched` rows in each step."""
    generator = torch.Generator().manual_seed(0)
    weights = torch.randn(ROWS, DIM, generator=generator)
    target = torch.randn(ROWS, DIM, generator=generator)
    learning_rates = np.linspace(0.01, 0, STEPS, endpoint=False)
    embeddings = optimizer_class(weights, learning_rates, optimizer, penalty)
    for step in range(1, STEPS + 1):
        ids = (torch.rand(5 + step % 3, generator=generator) ** 3 * touched).long()  # some rows are rare
        leaf, positions = embeddings.gather(ids, step)
        ((leaf[positions] - target[ids]) ** 2).sum().backward()
        embeddings.update(step)
    embeddings.flush(STEPS)
    return embeddings.weights.detach()


@all_optimizers
def test_weights_and_first_order_effect_of_a_penalty_toward_the_start(optimizer_class, optimizer):
    ours, torchs = (train(kind, optimizer, L2Penalty()) for kind in (optimizer_class, TorchOptimizer))
    torch.testing.assert_close(ours, torchs, atol=1e-5, rtol=0)
    actual = train(optimizer_class, optimizer, L2Penalty(1e-4, to_start=True)) - ours
    expected = train(TorchOptimizer, optimizer, L2Penalty(1e-4, to_start=True)) - torchs
    assert expected.norm() > 1e-4
    assert (actual - expected).norm() < 0.2 * expected.norm()
    weights = train(optimizer_class, optimizer, L2Penalty(1e9, to_start=True))
    torch.testing.assert_close(weights, initial_weights(), atol=1e-5, rtol=0)


@all_optimizers
def test_penalty_toward_zero_on_touched_and_untouched_rows(optimizer_class, optimizer):
    weights = train(optimizer_class, optimizer, L2Penalty(1.0, to_start=False), touched=100)
    unpenalized = train(optimizer_class, optimizer, L2Penalty(), touched=100)
    assert weights[:100].norm() < {"adam": 0.5, "adagrad": 0.8}[optimizer] * unpenalized[:100].norm()
    torch.testing.assert_close(weights[100:], initial_weights()[100:])


@all_optimizers
def test_elements_without_a_gradient_are_not_penalized(optimizer_class, optimizer):
    embeddings = optimizer_class(torch.ones(3, 2), np.full(4, 0.01), optimizer, L2Penalty(1.0))
    for step, row in enumerate([0, 1, 0], 1):
        leaf, positions = embeddings.gather(torch.tensor([row]), step)
        leaf[positions, 0].sum().backward()
        embeddings.update(step)
    embeddings.flush(4)
    weights = embeddings.weights.detach()
    assert weights[:2, 0].max() < 1
    assert weights[:2, 1].tolist() == [1, 1]
    assert weights[2].tolist() == [1, 1]


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_idle_steps_at_a_learning_rate_of_zero(optimizer):
    tables = []
    for optimizer_class in CLASSES:
        rates = np.array([0.1, 0, 0, 0.1, 0.1, 0.1])
        embeddings = optimizer_class(torch.full((1, 1), 2.0), rates, optimizer, L2Penalty(0.0, to_start=False))
        for step in (1, 4):
            leaf, ids = embeddings.gather(torch.tensor([0]), step)
            (step * leaf[ids]).sum().backward()
            embeddings.update(step)
            embeddings.flush(step + 2)  # steps 2 and 3 have the rate 0
            if optimizer_class is DenseEmbeddingOptimizer:
                for idle in (step + 1, step + 2):
                    leaf, ids = embeddings.gather(torch.tensor([0]), idle)
                    (0 * leaf[ids]).sum().backward()
                    embeddings.update(idle)
        tables.append(embeddings.weights.item())
    assert tables[0] == pytest.approx(tables[1], rel=1e-6)


@pytest.mark.parametrize("start", [0.0, 2.0], ids=["to zero", "to start"])
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_five_idle_steps_of_one_element(optimizer, start):
    rates, steps, strength, gradient = np.linspace(0.02, 0.01, 6), np.arange(1, 7), 0.3, 0.5
    m, v, beta1, beta2 = gradient, gradient**2, 0.0, 1.0
    c = rates
    if optimizer == "adam":
        m, v, beta1, beta2 = 0.1 * m, 0.001 * v, 0.9, 0.999
        c = rates * np.sqrt(1 - beta2**steps) / (1 - beta1**steps)
    w = start + (2 - c[0] * m / np.sqrt(v) - start) / (1 + strength * c[0] / np.sqrt(v))
    w -= sum(c[k] * beta1**k * m / np.sqrt(beta2**k * v) for k in range(1, 6))
    total = sum(c[k] * beta2 ** ((5 - k) / 2) for k in range(1, 6))
    w = start + (w - start) / (1 + strength * total / np.sqrt(beta2**5 * v))

    embeddings = SparseRowOptimizer(torch.full((2, 1), 2.0), rates, optimizer, L2Penalty(strength, start > 0))
    leaf, _ = embeddings.gather(torch.tensor([1, 1]), 1)
    (gradient * leaf).sum().backward()
    embeddings.update(1)
    embeddings.flush(6)
    assert embeddings.weights.ravel().tolist() == pytest.approx([2, w], rel=1e-6)


@pytest.mark.parametrize("strength", [0.0, 1e-3])
def test_bytes_are_those_of_numpy_on_every_processor(strength):
    """NumPy rounds each operation to the nearest number; flags of fast mathematics take another way on AVX-512."""
    w, first, second = np.random.default_rng(0).normal(size=(3, 40, 300)).astype(np.float32)
    rates, epsilon = np.array([0.02, 0.01]), np.float32(1e-8)
    adam = SparseRowOptimizer(torch.from_numpy(w.copy()), rates, "adam", L2Penalty(strength))
    m, v = np.zeros_like(w), np.zeros_like(w)
    for step, gradient in enumerate((first, second), start=1):
        leaf, _ = adam.gather(torch.arange(40), step)
        leaf.grad = torch.from_numpy(gradient)
        adam.update(step)
        m = np.float32(0.9) * m + np.float32(1 - 0.9) * gradient
        v = np.float32(0.999) * v + np.float32(1 - 0.999) * gradient * gradient
        rate = rates[step - 1] * (1 - 0.999**step) ** 0.5 / (1 - 0.9**step)
        root = np.sqrt(v) + epsilon
        w = w - np.float32(rate) * m / root
        if strength:
            w = (w / (1 + (np.float32(strength * rate) / root).astype(float))).astype(np.float32)
    assert np.array_equal(adam.weights.numpy(), w)


def run_steps(embeddings, generator, steps):
    for step in steps:
        ids = torch.randint(ROWS, (6,), generator=generator)
        leaf, positions = embeddings.gather(ids, step)
        (leaf[positions] ** 2).sum().backward()
        embeddings.update(step)


@all_optimizers
def test_restored_state_continues_with_the_same_bits(optimizer_class, optimizer):
    learning_rates, penalty = np.full(40, 0.01), L2Penalty(1e-4, to_start=True)
    uninterrupted = optimizer_class(torch.ones(ROWS, DIM), learning_rates, optimizer, penalty)
    generator = torch.Generator().manual_seed(1)
    run_steps(uninterrupted, generator, range(1, 21))
    state = copy.deepcopy(uninterrupted.state())
    generator_state = generator.get_state()
    run_steps(uninterrupted, generator, range(21, 41))
    resumed = optimizer_class(torch.ones(ROWS, DIM), learning_rates, optimizer, penalty)
    resumed.restore(state)
    run_steps(resumed, generator.set_state(generator_state), range(21, 41))
    assert torch.equal(uninterrupted.weights, resumed.weights)


@all_optimizers
def test_rows_of_several_calls_in_a_step(optimizer_class, optimizer):
    generator = torch.Generator().manual_seed(1)
    tables = [torch.ones(ROWS, DIM), torch.ones(ROWS, DIM)]
    at_once, apart = (
        optimizer_class(table, np.full(40, 0.01), optimizer, L2Penalty(1e-2, to_start=False)) for table in tables
    )
    for step in range(1, 41):
        parts = torch.randint(ROWS // 4, (3, 6), generator=generator)  # some rows are in several parts
        for embeddings, calls in ((at_once, [parts.flatten()]), (apart, parts)):
            for ids in calls:
                leaf, positions = embeddings.gather(ids, step)
                (leaf[positions] ** 2).sum().backward()
            embeddings.update(step)
    for embeddings in (at_once, apart):
        embeddings.flush(40)
    assert (tables[0][: ROWS // 4] < 0.99).all()
    torch.testing.assert_close(tables[1], tables[0], atol=1e-6, rtol=0)


@pytest.mark.parametrize("optimizer_class", CLASSES)
def test_gradient_of_all_rows_of_a_step_is_reduced(optimizer_class):
    weights = torch.ones(ROWS, DIM)
    embeddings = optimizer_class(weights, np.full(2, 0.01), "adagrad", L2Penalty())
    for ids in ([5, 3], [3, 8]):
        leaf, positions = embeddings.gather(torch.tensor(ids), 1)
        leaf[positions].sum().backward()
    reduced = []
    embeddings.reduce_gradient(lambda gradient: reduced.append(gradient.clone()) or gradient.zero_())
    embeddings.update(1)
    assert reduced[0].tolist() == [[2.0] * DIM, [1.0] * DIM, [1.0] * DIM]  # of rows 3, 5 and 8
    assert torch.equal(embeddings.weights.detach(), torch.ones(ROWS, DIM))


@pytest.mark.parametrize(
    ("optimizer", "strength", "expected"),
    [
        ("adam", 0.0, SparseRowOptimizer),
        ("adagrad", 1.0, SparseRowOptimizer),
        ("sgd", 0.0, DenseEmbeddingOptimizer),
        ("adam", math.inf, EmbeddingOptimizer),
    ],
)
def test_optimizer_of_a_table_in_main_memory(optimizer, strength, expected):
    chosen = embedding_optimizer(initial_weights(), np.full(3, 0.01), optimizer, L2Penalty(strength, to_start=True))
    assert type(chosen) is expected


def test_frozen_embeddings_do_not_change():
    embeddings = EmbeddingOptimizer(initial_weights())
    leaf, positions = embeddings.gather(torch.tensor([3, 1]), 1)
    torch.testing.assert_close(leaf[positions], initial_weights()[[3, 1]])
    assert not leaf.requires_grad
    embeddings.update(1)
    embeddings.flush(1)
    assert torch.equal(embeddings.weights, initial_weights())
    assert embeddings.state() == {}
