"""Pooling over the tokens of packed sentences, sentence by sentence in NumPy."""

import numpy as np
import pytest
import torch

from paraphrastic.nn.batch import Batch
from paraphrastic.nn.recurrent import Packing
from tests.helpers.encoder_variants import SENTENCES, ragged_of

SENTENCES_OF = {"several, one empty": SENTENCES, "empty ones alone": [[], []], "none": []}
POOLING = {"sum": np.sum, "mean": np.mean, "max": np.max, "final": lambda part, axis: part[-1]}


def packed(sentences, dim=3, scale=1.0):
    """Return the packing of sentences, states of their tokens at packed positions, and the same by sentence."""
    packing = Packing.of(Batch.of(ragged_of(sentences, counted=False), torch.device("cpu"), torch.float64))
    states = scale * torch.randn(sum(map(len, sentences)), dim, dtype=torch.float64, generator=torch.manual_seed(4))
    in_order = torch.empty_like(states)
    in_order[packing.order] = states
    parts = np.split(in_order.numpy(), np.cumsum([len(sentence) for sentence in sentences])[:-1]) if sentences else []
    return packing, states, parts


@pytest.mark.parametrize("sentences", SENTENCES_OF.values(), ids=SENTENCES_OF)
@pytest.mark.parametrize("pooling", POOLING)
def test_pooling_of_each_sentence(pooling, sentences):
    packing, states, parts = packed(sentences)
    expected = [POOLING[pooling](part, axis=0) if len(part) else np.zeros(3) for part in parts]
    pooled = getattr(packing, pooling)(states)
    np.testing.assert_allclose(pooled, np.reshape(expected, (len(sentences), 3)), atol=1e-12)


@pytest.mark.parametrize("sentences", SENTENCES_OF.values(), ids=SENTENCES_OF)
@pytest.mark.parametrize("scale", [1.0, 1e4])  # exp of the larger ones overflows
def test_softmax_over_each_sentence(sentences, scale):
    packing, scores, parts = packed(sentences, scale=scale)
    weights = torch.empty_like(scores)
    weights[packing.order] = packing.softmax(scores)
    for start, part in zip(np.cumsum([0, *map(len, parts)]), parts, strict=False):
        exponentials = np.exp(part - part.max(0)) if len(part) else part
        expected = exponentials / exponentials.sum(0)
        np.testing.assert_allclose(weights[start : start + len(part)], expected, atol=1e-12)


@pytest.mark.parametrize("pooling", ["max", "softmax"])
def test_gradient_against_finite_differences(pooling):
    packing, states, _ = packed(SENTENCES)
    assert torch.autograd.gradcheck(getattr(packing, pooling), [states.requires_grad_()])
