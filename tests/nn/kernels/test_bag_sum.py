"""Weighted sums of embedding rows against a dense matrix product, and the kernel against plain torch."""

import numpy as np
import pytest
import torch

from paraphrastic.nn.kernels import bag_sum as kernel
from paraphrastic.nn.kernels.bag_sum import bag_sum
from paraphrastic.nn.kernels.sum_rows import sum_rows
from tests.helpers.encoder_variants import DIM, ROWS, SENTENCES, ragged_of

formulations = pytest.mark.parametrize("formulation", [bag_sum, kernel.reference], ids=["kernel", "reference"])


def random_bags():
    """Return an embedding table, the ids and offsets of `SENTENCES`, weights, and the same weights as (B, rows)."""
    generator = torch.Generator().manual_seed(1)
    table = torch.randn(ROWS, DIM, dtype=torch.float64, generator=generator, requires_grad=True)
    ragged = ragged_of(SENTENCES, counted=True)
    weights = torch.rand(len(ragged.ids), dtype=torch.float64, generator=generator)
    dense = torch.zeros(len(ragged), ROWS, dtype=torch.float64)
    for sentence in range(len(ragged)):
        for n in range(ragged.offsets[sentence], ragged.offsets[sentence + 1]):
            dense[sentence, ragged.ids[n]] += weights[n]
    return table, torch.from_numpy(ragged.ids.astype(np.int64)), torch.from_numpy(ragged.offsets), weights, dense


@formulations
def test_bag_sum_against_dense_product(formulation):
    table, ids, offsets, weights, dense = random_bags()
    torch.testing.assert_close(formulation(table, ids, offsets, weights), dense @ table)


@formulations
def test_gradient_of_bag_sum_against_transposed_product(formulation):
    table, ids, offsets, weights, dense = random_bags()
    out = formulation(table, ids, offsets, weights)
    upstream = torch.linspace(-1, 1, out.numel(), dtype=out.dtype).view_as(out)
    (gradient,) = torch.autograd.grad(out, table, upstream)
    torch.testing.assert_close(gradient, dense.T @ upstream)


def test_sum_rows_with_repeated_and_missing_rows():
    table = np.array([[1.0, 2], [3, 4], [5, 6]], np.float32)
    sums = sum_rows(table, np.array([1, 1, 2]), np.array([0, 2, 2, 3]), np.array([1, 2, 0.5], np.float32))
    assert sums.tolist() == [[9, 12], [0, 0], [2.5, 3]]
    assert sums.dtype == np.float32
