"""Mini-batches of pairs, and the order of words in scrambled sentences."""

import numpy as np
import pytest

from paraphrastic.training.batches import epoch_batches, scrambled_order, shuffled_batches
from paraphrastic.vocabulary.words import boundary_widths
from tests.helpers.encoder_variants import ragged_of


@pytest.mark.parametrize("sampling", ["mixed", "source"])
def test_batches_of_one_epoch(sampling):
    sources = np.repeat([0, 1, 2], [25, 7, 1])
    batches, other_seed = (epoch_batches(sources, 4, sampling, np.random.default_rng(seed)) for seed in (5, 9))
    assert sorted(np.concatenate(batches).tolist()) == list(range(33))
    assert max(map(len, batches)) == 4
    one_source = all(len(set(sources[batch])) == 1 for batch in batches)
    assert one_source == (sampling == "source")
    assert [batch.tolist() for batch in batches] != [batch.tolist() for batch in other_seed]


@pytest.mark.parametrize("sampling", ["mixed", "source"])
def test_batches_in_order(sampling):
    batches = epoch_batches(np.repeat([0, 1], 25), 10, sampling, np.random.default_rng(0), in_order=True)
    assert np.concatenate(batches).tolist() == list(range(50))


def test_shuffled_batches_of_one_epoch():
    batches = shuffled_batches(10, 4, np.random.default_rng(0))
    assert [len(batch) for batch in batches] == [4, 4, 2]
    assert sorted(np.concatenate(batches).tolist()) == list(range(10))
    mixed = epoch_batches(np.zeros(10, int), 4, "mixed", np.random.default_rng(0))
    assert [batch.tolist() for batch in batches] == [batch.tolist() for batch in mixed]


@pytest.mark.parametrize("boundary_tokens", ["none", "start", "end", "both"])
def test_words_and_boundary_tokens_of_scrambled_sentences(boundary_tokens):
    start, end = boundary_widths(boundary_tokens)
    sentences = [[8] * start + words + [9] * end for words in ([1, 2, 3, 4, 5, 6, 7], [1, 2, 3], [], [4])]
    ragged = ragged_of(sentences, counted=False)
    scramble = np.array([True, False, True, True])
    order = scrambled_order(ragged.offsets, scramble, (start, end), np.random.default_rng(0))
    scrambled = [row.tolist() for row in np.split(ragged.ids[order], ragged.offsets[1:-1])]
    assert [sorted(row) for row in scrambled] == [sorted(sentence) for sentence in sentences]
    assert scrambled[1] == sentences[1]
    assert scrambled[0] != sentences[0]
    assert [row[:start] for row in scrambled] == [[8] * start] * 4
    assert [row[len(row) - end :] for row in scrambled] == [[9] * end] * 4


def test_distribution_of_orders_of_three_words():
    ragged = ragged_of([[1, 2, 3]] * 6000, counted=False)
    order = scrambled_order(ragged.offsets, np.ones(6000, bool), (0, 0), np.random.default_rng(0))
    _, counts = np.unique(ragged.ids[order].reshape(-1, 3), axis=0, return_counts=True)
    assert len(counts) == 6
    assert counts.min() > 850
