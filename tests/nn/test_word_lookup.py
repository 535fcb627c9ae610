"""Dropout of embedding elements and of whole words, in training and in evaluation."""

import numpy as np
import pytest
import torch

from paraphrastic.nn.batch import Batch
from paraphrastic.nn.word_lookup import WordLookup
from paraphrastic.vocabulary.ragged import Ragged
from tests.helpers.encoder_variants import BOTH, DIM, SENTENCES, WORD, batch_of, build


def looked_up_ones(dropout, word_dropout):
    """Return the embeddings (4000, DIM) of one word whose embedding is all ones."""
    words = Batch.of(Ragged(np.zeros(4000, np.int32), np.array([0, 4000])), torch.device("cpu"))
    torch.manual_seed(0)
    return WordLookup(dropout, word_dropout)(torch.ones(1, DIM), words)


def test_word_dropout():
    vectors = looked_up_ones(0.0, 0.25)
    assert vectors.unique().tolist() == pytest.approx([0, 4 / 3])
    assert (vectors.min(1).values == vectors.max(1).values).all()
    assert (vectors[:, 0] == 0).double().mean() == pytest.approx(0.25, abs=0.03)


def test_dropout_of_elements():
    vectors = looked_up_ones(0.5, 0.0)
    assert vectors.unique().tolist() == pytest.approx([0, 2])
    assert (vectors == 0).double().mean() == pytest.approx(0.5, abs=0.03)
    assert (vectors.min(1).values != vectors.max(1).values).any()


@pytest.mark.parametrize(("name", "block"), [("avg", WORD), ("bigran", BOTH[0] | {"variant": 1})])
def test_dropout_in_training_and_evaluation(name, block):
    encoder, embeddings = build(name, block)
    noisy, _ = build(name, block | {"dropout": 0.5, "word_dropout": 0.5})
    batch = batch_of(SENTENCES, encoder)
    assert not torch.equal(noisy(embeddings, batch), noisy(embeddings, batch))
    exact, evaluated = (e.eval()(embeddings, batch).detach().numpy() for e in (encoder, noisy))
    np.testing.assert_array_equal(evaluated, exact)
