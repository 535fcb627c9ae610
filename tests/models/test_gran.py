"""The gated word vectors of GRAN and their gates, which analyses read."""

import numpy as np
import pytest

from tests.helpers.encoder_variants import LSTM, SENTENCES, batch_of, build
from tests.helpers.equations import gran_states, submodule_weights


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


@pytest.mark.parametrize("variant", [1, 3])
def test_gated_words_of_no_words(variant):
    encoder, embeddings = build("gran", LSTM | {"variant": variant})
    batch = batch_of([[], []], encoder)
    gated, gates, _ = encoder.gated_words(embeddings, batch)
    assert (len(gated), len(gates)) == (0, 0)
