"""Max-pooled convolution filters against their equation: the loops for the CPU and the formulation in plain torch."""

from itertools import accumulate

import numpy as np
import pytest
import torch

from paraphrastic.nn.kernels import conv_max_pool as kernel
from paraphrastic.nn.kernels.conv_max_pool import conv_max_pool, filter_reach, init_filters
from tests.helpers.equations import filters_by_width, max_responses

DIM, ROWS = 4, 9
FILTERS = [{2: 7, 3: 5}, {1: 2, 2: 17, 5: 40}, {3: 1}, {6: 3, 1: 2}]  # number of filters by width
SENTENCES = [[3, 1, 3, 8, 8, 1, 3, 1, 0], [], [7], [2, 2, 2, 5, 0, 8, 4], [6, 8], [], [1, 1, 1, 1, 1, 1]]
FORMULATIONS = [conv_max_pool, kernel.reference]

all_filters = pytest.mark.parametrize("filters", FILTERS, ids=str)
formulations = pytest.mark.parametrize("formulation", FORMULATIONS, ids=["kernel", "reference"])


def ids_and_offsets(sentences):
    ids = torch.tensor([character for sentence in sentences for character in sentence], dtype=torch.int64)
    return ids, torch.tensor([0, *accumulate(map(len, sentences))])


def random_filters(filters, dtype=torch.float64):
    """Return character embeddings (ROWS, DIM) and filter weights (DIM, Σ reach); no two responses are equal."""
    generator = torch.Generator().manual_seed(1)
    embeddings = torch.randn(ROWS, DIM, generator=generator, dtype=dtype)
    return embeddings, torch.randn(DIM, sum(filter_reach(filters)), generator=generator, dtype=dtype)


@pytest.mark.parametrize(
    ("filters", "reach"), [({2: 175, 3: 175, 4: 175}, [525, 525, 350, 175, 0]), ({4: 1, 1: 3}, [4, 1, 1, 1, 0])]
)
def test_filter_reach(filters, reach):
    assert filter_reach(filters) == reach


@all_filters
@formulations
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_maxima_against_equation(filters, formulation, dtype):
    embeddings, weights = random_filters(filters, dtype)
    sentences = SENTENCES + [np.random.default_rng(n).integers(0, ROWS, n).tolist() for n in range(30)]
    maxima = formulation(embeddings @ weights, *ids_and_offsets(sentences), filter_reach(filters))
    assert maxima.dtype == dtype
    arrays = embeddings.double().numpy(), weights.double().numpy()
    expected = [max_responses(s, *arrays, filters) if s else np.zeros(maxima.shape[1]) for s in sentences]
    np.testing.assert_allclose(maxima.numpy(), expected, atol=1e-5 if dtype == torch.float32 else 1e-12)


@pytest.mark.parametrize("filters", [{2: 7, 3: 5}, {1: 2, 2: 3, 5: 4}, {3: 1}, {6: 3, 1: 2}], ids=str)
@formulations
def test_gradient_against_finite_differences(filters, formulation):
    embeddings, weights = random_filters(filters)
    arguments = *ids_and_offsets(SENTENCES), filter_reach(filters)
    projected = (embeddings @ weights).requires_grad_()
    assert torch.autograd.gradcheck(lambda projected: formulation(projected, *arguments), projected)


@all_filters
def test_kernel_against_reference(filters):
    random = np.random.default_rng(0)
    sentences = [random.integers(0, ROWS, length).tolist() for length in random.integers(0, 30, 50)]
    embeddings, weights = random_filters(filters)
    results = []
    for formulation in FORMULATIONS:
        projected = (embeddings @ weights).requires_grad_()
        maxima = formulation(projected, *ids_and_offsets(sentences), filter_reach(filters))
        (maxima * torch.linspace(-1, 1, maxima.numel()).view_as(maxima)).sum().backward()
        results.append((maxima, projected.grad))
    torch.testing.assert_close(*results)


@formulations
@pytest.mark.parametrize("sentences", [[], [[], []]], ids=["no sentence", "two empty sentences"])
def test_maxima_without_characters_and_of_zero(formulation, sentences):
    zero = torch.zeros(1, 1, requires_grad=True)
    formulation(zero, *ids_and_offsets([[0]]), [1, 0]).sum().backward()
    assert zero.grad.item() == 1
    embeddings, weights = random_filters(FILTERS[0])
    projected = (embeddings @ weights).requires_grad_()
    maxima = formulation(projected, *ids_and_offsets(sentences), filter_reach(FILTERS[0]))
    assert maxima.tolist() == [[0] * 12 for _ in sentences]
    maxima.sum().backward()
    assert not projected.grad.any()


@formulations
def test_maxima_with_one_nan_after_the_first_window(formulation):
    embeddings, weights = random_filters(FILTERS[0])
    projected = embeddings @ weights
    projected[8] = torch.nan  # of character 8
    maxima = formulation(projected, *ids_and_offsets([[1, 2, 3, 8, 4, 5, 1, 2], [5, 6]]), filter_reach(FILTERS[0]))
    assert maxima[0].isnan().all()
    assert not maxima[1].isnan().any()


def test_initial_filters_within_the_bound_of_their_width():
    filters = {1: 300, 8: 200}
    weights = filters_by_width(init_filters(filters, DIM, torch.Generator().manual_seed(2)).numpy(), filters)
    for width, count in filters.items():
        bound = (6 / (width * DIM + count)) ** 0.5
        assert 0.95 * bound < np.abs(weights[width]).max() <= bound
