"""Scrambled sentences: the order of their words, and which of them are scrambled."""

import numpy as np
import pytest
import torch

from paraphrastic.models import config_class
from paraphrastic.nn.batch import Batch
from paraphrastic.training.batches import Scrambling, scrambled_order
from paraphrastic.vocabulary.kinds import boundary_widths
from tests.helpers.encoder_variants import LSTM, TRAINED, ragged_of

CHARLSTM = TRAINED | {"output_gate": True, "matmul_dtype": "float32"}
SENTENCE = [3, 1, 4, 5, 9, 2, 6, 8, 7]


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


@pytest.mark.parametrize("widths", [(2, 0), (0, 2), (2, 3)])
def test_words_at_both_ends_keep_their_positions(widths):
    sentences = [list(range(length)) for length in range(13)] * 20
    ragged = ragged_of(sentences, counted=False)
    order = scrambled_order(ragged.offsets, np.ones(len(sentences), bool), widths, np.random.default_rng(0))
    for sentence, row in zip(sentences, np.split(ragged.ids[order], ragged.offsets[1:-1]), strict=True):
        inside = slice(widths[0], max(len(sentence) - widths[1], widths[0]))
        kept = np.delete(np.arange(len(sentence)), inside)
        assert row[kept].tolist() == kept.tolist()
        assert sorted(row[inside]) == sentence[inside]


def test_distribution_of_orders_of_three_words():
    ragged = ragged_of([[1, 2, 3]] * 6000, counted=False)
    order = scrambled_order(ragged.offsets, np.ones(6000, bool), (0, 0), np.random.default_rng(0))
    _, counts = np.unique(ragged.ids[order].reshape(-1, 3), axis=0, return_counts=True)
    assert len(counts) == 6
    assert counts.min() > 850


def scrambled(sentences, rows, probability):
    """Return the sentences of a mini-batch of `rows` rows after scrambling."""
    batch = Batch.of(ragged_of(sentences, counted=False), torch.device("cpu"))
    batch = Scrambling(probability).apply(batch, rows, np.random.default_rng(0))
    return [part.tolist() for part in batch.ids.split(batch.lengths.tolist())]


@pytest.mark.parametrize("sentences_per_row", [1, 2])
def test_share_of_scrambled_rows(sentences_per_row):
    found = scrambled([SENTENCE] * 1000 * sentences_per_row, 1000, 0.3)
    changed = np.array([sentence != SENTENCE for sentence in found]).reshape(sentences_per_row, 1000)
    assert changed[0].mean() == pytest.approx(0.3, abs=0.05)
    assert (changed == changed[0]).all()  # both sentences of a pair, or none
    assert len({tuple(sentence) for sentence in found}) > 0.9 * changed.sum()  # each has an order of its own


def test_probabilities_of_zero_and_one():
    assert scrambled([SENTENCE] * 20, 10, 0.0) == [SENTENCE] * 20
    assert SENTENCE not in scrambled([SENTENCE] * 20, 10, 1.0)


def test_scrambling_of_options():
    config = config_class("lstmavg")(**LSTM | {"scramble": 0.5, "boundary_tokens": "start"})
    assert Scrambling.of(config) == Scrambling(0.5, (1, 0))
    assert Scrambling.of(config_class("charlstm")(**CHARLSTM)) == Scrambling(0.0)
