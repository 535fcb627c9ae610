"""Weighted sums of rows and their gradients: against dense products, and by finite differences."""

import numpy as np
import pytest
import torch

from paraphrastic.nn.kernels.row_sums import bag_sum, reference_mixture, row_mixture
from tests.helpers.encoder_variants import DIM, ROWS, SENTENCES, ragged_of
from tests.helpers.pretended_device import DEVICE, gpu


def random_bags():
    """Return an embedding table, the ids and offsets of `SENTENCES`, weights, and the same weights as (B, rows)."""
    generator = torch.Generator().manual_seed(1)
    table = torch.randn(ROWS, DIM, dtype=torch.float64, generator=generator)
    ragged = ragged_of(SENTENCES, counted=True)
    weights = torch.rand(len(ragged.ids), dtype=torch.float64, generator=generator)
    dense = torch.zeros(len(ragged), ROWS, dtype=torch.float64)
    for sentence in range(len(ragged)):
        for n in range(ragged.offsets[sentence], ragged.offsets[sentence + 1]):
            dense[sentence, ragged.ids[n]] += weights[n]
    return table, torch.from_numpy(ragged.ids.astype(np.int64)), torch.from_numpy(ragged.offsets), weights, dense


@pytest.mark.parametrize("device", ["cpu", DEVICE], ids=["cpu", "gpu"])
def test_bag_sum_and_gradient_against_dense_product(device):
    *tensors, dense = random_bags()
    upstream = torch.linspace(-1, 1, len(dense) * DIM, dtype=dense.dtype).view(-1, DIM)
    with gpu():
        table, *matrix = (tensor.to(device) for tensor in tensors)
        table.requires_grad_()
        out = bag_sum(table, *matrix)
        (gradient,) = torch.autograd.grad(out, table, upstream.to(device))
        out, gradient = out.detach().cpu(), gradient.cpu()
    torch.testing.assert_close(out, dense @ tensors[0])
    torch.testing.assert_close(gradient, dense.T @ upstream)


@pytest.mark.parametrize("formulation", [row_mixture, reference_mixture], ids=["kernel", "reference"])
def test_mixture_and_gradient_of_repeated_rows_and_nan(formulation):
    generator = torch.Generator().manual_seed(1)
    base, parts = (torch.randn(5, 6, generator=generator, dtype=torch.float64, requires_grad=True) for _ in range(2))
    ids, rows = torch.tensor([4, 0, 4]), torch.tensor([[1, 1], [3, 0], [2, 2]])
    weights = torch.tensor([[0.3, -2.0], [0.0, 1.0], [0.5, 0.5]], dtype=torch.float64, requires_grad=True)
    expected = base[ids] + (weights.unsqueeze(2) * parts[rows]).sum(1)
    torch.testing.assert_close(formulation(base, parts, ids, rows, weights), expected)

    def forward(base, parts, weights):
        return formulation(base, parts, ids, rows, weights)

    assert torch.autograd.gradcheck(forward, (base, parts, weights))

    base, parts = (torch.ones(2, 3, requires_grad=True) for _ in range(2))
    weights = torch.ones(1, 1, requires_grad=True)
    mixture = formulation(base, parts, torch.tensor([0]), torch.tensor([[1]]), weights)
    mixture.backward(torch.tensor([[0.0, torch.nan, 2.0]]))
    assert base.grad[0].isnan().tolist() == [False, True, False]
    assert parts.grad[1].isnan().tolist() == [False, True, False]
    assert weights.grad.isnan().all()
