"""The dense optimizers: the L2 penalty in the limit, and momentum."""

import pytest
import torch

from paraphrastic.training.optimizers import EPSILON, DenseOptimizer, L2Penalty, compiled_shrink, shrink
from tests.helpers.repository import run_python


@pytest.mark.parametrize("optimizer", ["adam", "adagrad", "sgd"])
@pytest.mark.parametrize(("to_start", "limit"), [(True, 1.0), (False, 0.0)], ids=["to start", "to zero"])
def test_weights_with_infinite_penalty(optimizer, to_start, limit):
    weight = torch.ones(3, requires_grad=True)
    dense = DenseOptimizer([weight], optimizer, L2Penalty(1e9, to_start))
    for step in range(1, 5):
        (weight * torch.tensor([1.0, -2.0, 3.0])).sum().backward()
        dense.update(step, 0.1)
    torch.testing.assert_close(weight.detach(), torch.full((3,), limit), atol=1e-5, rtol=0)


@pytest.mark.parametrize("to_start", [True, False])
@pytest.mark.parametrize(
    ("optimizer", "moved", "root"),
    [("adam", 0.1, 0.001**0.5 * 2), ("adagrad", 0.1, 2.0), ("sgd", 0.1 * 2, 1.0)],  # by Adam c m / √v, g = 2
)
def test_first_step_with_a_penalty(optimizer, moved, root, to_start):
    weight, strength, start = torch.full((1,), 3.0, requires_grad=True), 0.7, 3.0 if to_start else 0.0
    dense = DenseOptimizer([weight], optimizer, L2Penalty(strength, to_start))
    (2 * weight).sum().backward()
    dense.update(1, 0.1)
    c = 0.1 * 0.001**0.5 / 0.1 if optimizer == "adam" else 0.1  # corrected for moments that start at zero
    assert weight.item() == pytest.approx(start + (3 - moved - start) / (1 + strength * c / root), rel=1e-6)


@pytest.mark.parametrize("to_start", [True, False])
@pytest.mark.parametrize("optimizer", ["adam", "adagrad"])
def test_penalty_moves_no_element_that_never_had_a_gradient(optimizer, to_start):
    weight = torch.full((2, 3), 3.0, requires_grad=True)
    dense = DenseOptimizer([weight], optimizer, L2Penalty(0.7, to_start))
    (2 * weight[0]).sum().backward()
    dense.update(1, 0.1)
    assert weight[0].detach().lt(3).all()
    assert weight[1].detach().eq(3).all()


@pytest.mark.parametrize("elements", [0, 1000], ids=["to zero", "to start"])
def test_compiled_penalty_is_the_plain_one(elements):
    generator = torch.Generator().manual_seed(5)
    weights, squares, start = (torch.randn(1000, generator=generator, dtype=torch.float64) for _ in range(3))
    squares, start, compiled = (
        squares.clamp(min=0),
        start[:elements],
        weights.clone(),
    )  # half of them never had a gradient
    shrink(weights, squares, start, 0.3)
    compiled_shrink(compiled.numpy(), squares.numpy(), start.numpy(), 0.3, EPSILON)
    torch.testing.assert_close(compiled, weights, atol=1e-14, rtol=0)


def test_sgd_with_the_momentum_of_charagram2016():
    weight = torch.ones(1, requires_grad=True)
    dense, values = DenseOptimizer([weight], "sgd", L2Penalty()), []
    for step in range(1, 4):
        (2 * weight).sum().backward()
        dense.update(step, 0.1)
        values.append(weight.item())
    assert values == pytest.approx([1 - 0.2, 0.8 - 0.2 * 1.95, 0.41 - 0.2 * (1 + 0.95 * 1.95)])


STEPS = """
import sys
import torch
from paraphrastic.training.optimizers import DenseOptimizer, L2Penalty

for name in ("adam", "adagrad", "sgd"):
    weights = torch.ones(3, requires_grad=True)
    optimizer = DenseOptimizer([weights], name, L2Penalty())
    weights.sum().backward()
    optimizer.update(1, 0.1)
    optimizer.restore(optimizer.state())
    assert weights.detach().lt(1).all()
print("torch._dynamo" in sys.modules)
"""


def test_optimizers_do_not_import_the_compiler():
    assert run_python("-c", STEPS).stdout == "False\n"
