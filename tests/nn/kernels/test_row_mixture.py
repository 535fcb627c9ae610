"""Mixtures of rows and their gradients: the loops for the CPU and the formulation in plain torch."""

import pytest
import torch

from paraphrastic.nn.kernels import row_mixture as kernel
from paraphrastic.nn.kernels.row_mixture import row_mixture


@pytest.mark.parametrize("formulation", [row_mixture, kernel.reference], ids=["kernel", "reference"])
def test_mixture_and_gradient_of_repeated_rows(formulation):
    generator = torch.Generator().manual_seed(1)
    base, parts = (torch.randn(5, 6, generator=generator, dtype=torch.float64, requires_grad=True) for _ in range(2))
    ids, rows = torch.tensor([4, 0, 4]), torch.tensor([[1, 1], [3, 0], [2, 2]])
    weights = torch.tensor([[0.3, -2.0], [0.0, 1.0], [0.5, 0.5]], dtype=torch.float64, requires_grad=True)
    expected = base[ids] + (weights.unsqueeze(2) * parts[rows]).sum(1)
    torch.testing.assert_close(formulation(base, parts, ids, rows, weights), expected)

    def forward(base, parts, weights):
        return formulation(base, parts, ids, rows, weights)

    assert torch.autograd.gradcheck(forward, (base, parts, weights))


@pytest.mark.parametrize("formulation", [row_mixture, kernel.reference], ids=["kernel", "reference"])
def test_nan_in_the_gradient_of_a_mixture(formulation):
    base, parts = (torch.ones(2, 3, requires_grad=True) for _ in range(2))
    weights = torch.ones(1, 1, requires_grad=True)
    mixture = formulation(base, parts, torch.tensor([0]), torch.tensor([[1]]), weights)
    mixture.backward(torch.tensor([[0.0, torch.nan, 2.0]]))
    assert base.grad[0].isnan().tolist() == [False, True, False]
    assert parts.grad[1].isnan().tolist() == [False, True, False]
    assert weights.grad.isnan().all()
