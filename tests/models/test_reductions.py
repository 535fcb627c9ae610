"""Encoders that become a simpler one in the limit, as their papers say; and the gates of GRAN, which analyses read."""

import numpy as np
import pytest
import torch

from paraphrastic.models.irnn import Config, Irnn
from tests.helpers.encoder_variants import DIM, LSTM, RECURRENT, ROWS, SENTENCES, batch_of, build
from tests.helpers.equations import avg, gran_states, lstmavg, submodule_weights


def vectors(encoder, embeddings):
    return encoder(embeddings, batch_of(SENTENCES, encoder)).detach().numpy()


def averages(embeddings):
    return [avg(sentence, embeddings.numpy(), {}, {}) for sentence in SENTENCES]


def set_gates(encoder, *gates):
    """Give each gate of a GRAN one value, 0 or 1, for every input."""
    for weights in (encoder.gates.Wx, encoder.gates.Wh):
        weights.data.zero_()
    encoder.gates.b.data = torch.tensor([50.0 if gate else -50.0 for gate in gates]).repeat_interleave(DIM).double()


@pytest.mark.parametrize(("variant", "gates"), [(1, [1]), (3, [1, 1]), (5, [1, 0]), (5, [0, 1])])
def test_gran_with_open_gates_of_words_or_states(variant, gates):
    encoder, embeddings = build("gran", LSTM | {"variant": variant})
    set_gates(encoder, *gates)
    weights = {name: weight.numpy() for name, weight in encoder.state_dict().items()}
    states = [lstmavg(sentence, embeddings.numpy(), weights, LSTM) for sentence in SENTENCES]
    expected = averages(embeddings) if gates[0] else states
    np.testing.assert_allclose(vectors(encoder, embeddings), expected, atol=1e-9)


def test_irnn_before_training():
    encoder = Irnn(Config(**RECURRENT), torch.Generator().manual_seed(0)).double()
    embeddings = torch.randn(ROWS, DIM, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    np.testing.assert_allclose(vectors(encoder, embeddings), averages(embeddings), atol=1e-9)


@pytest.mark.parametrize("variant", [1, 2, 3, 4, 5])
def test_gated_words_against_naive_equation(variant):
    block = LSTM | {"variant": variant}
    encoder, embeddings = build("gran", block)
    *parts, packing = encoder.gated_words(embeddings, batch_of(SENTENCES, encoder))
    packed = [part.detach().numpy() for part in parts]
    weights = {key: value.numpy() for key, value in encoder.state_dict().items()}
    parts = [submodule_weights(weights, prefix) for prefix in ("lstm.", "gates.")]
    naive = [gran_states(embeddings.numpy()[sentence], *parts, block) for sentence in SENTENCES if sentence]
    for actual, expected in zip(packed, zip(*naive, strict=True), strict=True):
        np.testing.assert_allclose(actual, np.concatenate(expected)[packing.order.numpy()])
    gated, gates, _ = encoder.gated_words(embeddings, batch_of([[], []], encoder))
    assert (len(gated), len(gates)) == (0, 0)
