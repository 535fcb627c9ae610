"""Weighted sums of embedding rows against a dense matrix product, on the CPU and on a GPU."""

import numpy as np
import pytest
import torch

from paraphrastic.nn.kernels.bag_sum import bag_sum
from paraphrastic.nn.kernels.sum_rows import sum_rows
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


def test_sum_rows_with_repeated_and_missing_rows():
    table = np.array([[1.0, 2], [3, 4], [5, 6]], np.float32)
    sums = sum_rows(table, np.array([1, 1, 2]), np.array([0, 2, 2, 3]), np.array([1, 2, 0.5], np.float32))
    assert sums.tolist() == [[9, 12], [0, 0], [2.5, 3]]
    assert sums.dtype == np.float32
