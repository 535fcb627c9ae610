"""Pooled filters against their equation, in both formulations, and what the character CNN does with them."""

import json
from itertools import accumulate

import numpy as np
import pytest
import torch
from pydantic import ValidationError

from paraphrastic import models
from paraphrastic.nn.batch import Batch
from paraphrastic.nn.kernels import conv_max_pool as filters
from paraphrastic.nn.kernels.conv_max_pool import conv_max_pool, filter_reach
from tests.character_equations import by_width, greatest_responses
from tests.test_encoders import TRAINED

DIM, ROWS = 4, 9
SETS = [{2: 7, 3: 5}, {1: 2, 2: 17, 5: 40}, {3: 1}, {6: 3, 1: 2}]
SENTENCES = [[3, 1, 3, 8, 8, 1, 3, 1, 0], [], [7], [2, 2, 2, 5, 0, 8, 4], [6, 8], [], [1, 1, 1, 1, 1, 1]]
FORMULATIONS = [conv_max_pool, filters._gathered]

sets = pytest.mark.parametrize("chosen", SETS, ids=str)
formulations = pytest.mark.parametrize("conv_max_pool", FORMULATIONS, ids=["loops", "gathers"])


def flat(sentences):
    ids = torch.tensor([character for s in sentences for character in s], dtype=torch.int64)
    return ids, torch.tensor([0, *accumulate(map(len, sentences))])


def drawn(chosen, dtype=torch.float64):
    """A table of characters and the weights of filters: no two windows respond alike."""
    generator = torch.Generator().manual_seed(1)
    table = torch.randn(ROWS, DIM, generator=generator, dtype=dtype)
    return table, torch.randn(DIM, sum(filter_reach(chosen)), generator=generator, dtype=dtype)


def test_reach_counts_the_filters_wider_than_each_offset():
    assert filter_reach({2: 175, 3: 175, 4: 175}) == [525, 525, 350, 175, 0]
    assert filter_reach({4: 1, 1: 3}) == [4, 1, 1, 1, 0]


@sets
@formulations
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_maxima_are_those_of_the_equation(chosen, conv_max_pool, dtype):
    table, weights = drawn(chosen, dtype)
    found = conv_max_pool(table @ weights, *flat(SENTENCES), filter_reach(chosen))
    assert found.dtype == dtype
    numbers = table.double().numpy(), weights.double().numpy(), chosen
    expected = [greatest_responses(s, *numbers) if s else np.zeros(found.shape[1]) for s in SENTENCES]
    np.testing.assert_allclose(found.numpy(), expected, atol=1e-5 if dtype == torch.float32 else 1e-12)


@sets
@formulations
def test_gradient_is_that_of_finite_differences(chosen, conv_max_pool):
    table, weights = drawn(chosen)
    projected = (table @ weights).requires_grad_()
    assert torch.autograd.gradcheck(lambda p: conv_max_pool(p, *flat(SENTENCES), filter_reach(chosen)), projected)


@sets
def test_both_formulations_have_the_same_values_and_gradients(chosen):
    chance = np.random.default_rng(0)
    sentences = [chance.integers(0, ROWS, n).tolist() for n in chance.integers(0, 30, 50)]
    table, weights = drawn(chosen)
    both = []
    for formulation in FORMULATIONS:
        projected = (table @ weights).requires_grad_()
        found = formulation(projected, *flat(sentences), filter_reach(chosen))
        (found * torch.linspace(-1, 1, found.numel()).view_as(found)).sum().backward()
        both.append((found, projected.grad))
    torch.testing.assert_close(*both)


@formulations
def test_a_maximum_of_exactly_zero_has_its_whole_gradient(conv_max_pool):
    projected = torch.zeros(1, 1, requires_grad=True)
    conv_max_pool(projected, *flat([[0]]), [1, 0]).sum().backward()
    assert projected.grad.item() == 1


@formulations
def test_no_sentences_and_empty_sentences(conv_max_pool):
    table, weights = drawn(SETS[0])
    for sentences in ([], [[], []]):
        projected = (table @ weights).requires_grad_()
        found = conv_max_pool(projected, *flat(sentences), filter_reach(SETS[0]))
        assert found.tolist() == [[0] * 12 for _ in sentences]
        found.sum().backward()
        assert not projected.grad.any()


@formulations
def test_what_is_not_a_number_stays_so(conv_max_pool):
    projected = torch.full((ROWS, 12 + 12 + 5), torch.nan)
    assert conv_max_pool(projected, *flat([[1, 2, 3, 4], [5]]), filter_reach(SETS[0])).isnan().all()


OWN = {"filters": {2: 7, 3: 5}, "filter_activation": "tanh", "activation": "tanh", "dropout": 0.0}
BLOCK = TRAINED | {"dim": DIM} | OWN


def config(**changed):
    return models.options("charcnn")(**BLOCK | changed)


def cnn(**changed):
    chosen = config(**changed)
    return models.implementation("charcnn")(chosen, torch.Generator().manual_seed(2)).double()


def batch(sentences):
    ids, offsets = flat(sentences)
    return Batch(ids, offsets, torch.ones(len(ids)), offsets.numpy())


def test_vector_depends_on_nothing_but_the_sentence():
    encoder, (table, _) = cnn(), drawn(SETS[0])
    for bias in (encoder.bias, encoder.dense.b):
        bias.data.fill_(0.5)
    together = encoder(table, batch(SENTENCES))
    torch.testing.assert_close(together, torch.cat([encoder(table, batch([s])) for s in SENTENCES]))
    assert together.any(1).tolist() == [bool(s) for s in SENTENCES]


def test_characters_that_the_batch_lacks_change_nothing():
    encoder, (table, _) = cnn(), drawn(SETS[0])
    larger = torch.cat([torch.full((3, DIM), torch.nan), table])
    shifted = batch([[character + 3 for character in s] for s in SENTENCES])
    assert torch.equal(encoder(larger, shifted), encoder(table, batch(SENTENCES)))


def test_filters_start_within_the_bound_of_their_width():
    filters = {1: 300, 8: 200}
    weights = by_width(cnn(filters=filters).filters.detach().numpy(), filters)
    for w, many in filters.items():
        bound = (6 / (w * DIM + many)) ** 0.5
        assert 0.95 * bound < np.abs(weights[w]).max() <= bound


def test_dropout_is_of_training_only():
    encoder, (table, _) = cnn(dropout=0.5), drawn(SETS[0])
    assert not torch.equal(encoder(table, batch(SENTENCES)), encoder(table, batch(SENTENCES)))
    assert torch.equal(encoder.eval()(table, batch(SENTENCES)), cnn()(table, batch(SENTENCES)))


def test_widths_come_back_from_json_as_numbers():
    written = json.loads(json.dumps(config().model_dump()))
    assert models.options("charcnn")(**written) == config()


@pytest.mark.parametrize("refused", [{}, {0: 5}, {11: 5}, {2: 0}, {2.0: 5}, {"two": 5}, {2: "5"}, {True: 5}, [2], None])
def test_only_widths_to_ten_with_some_filters_each_are_taken(refused):
    with pytest.raises(ValidationError, match="filters"):
        config(filters=refused)
