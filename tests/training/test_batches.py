"""Mini-batches of pairs, of sentences whose words are scrambled, and of sentences that are not yet looked up."""

import dataclasses

import numpy as np
import pyarrow as pa
import pytest
import torch

from paraphrastic.base.errors import ParameterError
from paraphrastic.base.tables import PAIRS
from paraphrastic.models import config_class
from paraphrastic.nn.batch import Batch, SentenceFile
from paraphrastic.training import batches as batching
from paraphrastic.training.batches import (
    Paraphrases,
    Scrambling,
    Unread,
    epoch_batches,
    scrambled_order,
    shuffled_batches,
    weighted_rows,
)
from paraphrastic.training.trainer import Checkpoint
from paraphrastic.vocabulary.kinds import boundary_widths
from tests.helpers.encoder_variants import LSTM, TRAINED, VARIANTS, ragged_of
from tests.helpers.toy_training import SENTENCES, encoder_trainer, prepare, saved_bytes


@pytest.mark.parametrize("sampling", ["mixed", "source", "blocks"])
def test_batches_of_one_epoch(sampling):
    sources = np.repeat([0, 1, 2], [25, 7, 1])
    batches, other_seed = (epoch_batches(sources, 4, sampling, np.random.default_rng(seed)) for seed in (5, 9))
    assert sorted(np.concatenate(batches).tolist()) == list(range(33))
    assert max(map(len, batches)) == 4
    one_source = all(len(set(sources[batch])) == 1 for batch in batches)
    assert one_source == (sampling == "source")
    assert [batch.tolist() for batch in batches] != [batch.tolist() for batch in other_seed]


def test_batches_of_all_sources_take_turns():
    sources = np.repeat([0, 1, 2], 400)
    order = [sources[batch[0]] for batch in epoch_batches(sources, 4, "source", np.random.default_rng(5))]
    changes = np.count_nonzero(np.diff(order))
    assert changes == pytest.approx(2 / 3 * 299, abs=30)  # two of three neighbours have another source


@pytest.mark.parametrize("count", [0, 1, 5, 100, 1003])
def test_adjacent_batches_from_few_blocks(count, monkeypatch):
    monkeypatch.setattr(batching, "_BLOCK", 10)
    monkeypatch.setattr(batching, "_TOGETHER", 4)
    batches = epoch_batches(np.zeros(count, int), 5, "blocks", np.random.default_rng(3))
    order = np.concatenate([np.zeros(0, int), *batches])
    assert sorted(order.tolist()) == list(range(count))
    if count == 100:
        parts = [order[:40], order[40:80], order[80:]]
        assert [len(np.unique(part // 10)) for part in parts] == [4, 4, 2]
        assert all(np.any(np.diff(part // 10, n=2)) for part in parts)  # the rows of several blocks are mixed
        assert (
            order.tolist() != epoch_batches(np.zeros(count, int), 100, "blocks", np.random.default_rng(4))[0].tolist()
        )


@pytest.mark.parametrize("sampling", ["mixed", "source", "blocks"])
def test_batches_in_order(sampling):
    for sources, by_source in (([0] * 25 + [1] * 25, range(50)), ([0, 1] * 25, [*range(0, 50, 2), *range(1, 50, 2)])):
        batches = epoch_batches(np.array(sources), 10, sampling, np.random.default_rng(0), in_order=True)
        assert np.concatenate(batches).tolist() == list(by_source if sampling == "source" else range(50))
    assert epoch_batches(np.zeros(0, int), 4, sampling, np.random.default_rng(0)) == []


def test_rows_by_weights_of_their_sources():
    sources = np.repeat([0, 1, 2, 3], [10, 5, 4, 3])
    rows, other_epoch = (weighted_rows(sources, np.array([0.5, 2, 0, 1.7]), np.random.default_rng(n)) for n in (1, 2))
    counts = np.bincount(rows, minlength=22)
    assert sorted(counts[:10]) == [0] * 5 + [1] * 5
    assert counts[10:19].tolist() == [2] * 5 + [0] * 4
    assert sorted(counts[19:]) == [1, 2, 2]
    assert (np.diff(rows[:13]) > 0).all()  # of those that occur, in the order of the file
    assert len(rows) == len(other_epoch)
    assert rows.tolist() != other_epoch.tolist()


def test_shuffled_batches_of_one_epoch():
    batches = shuffled_batches(10, 4, np.random.default_rng(0))
    assert [len(batch) for batch in batches] == [4, 4, 2]
    mixed = epoch_batches(np.zeros(10, int), 4, "mixed", np.random.default_rng(0))
    assert [batch.tolist() for batch in batches] == [batch.tolist() for batch in mixed]


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


def test_probabilities():
    assert scrambled([SENTENCE] * 20, 10, 0.0) == [SENTENCE] * 20
    assert SENTENCE not in scrambled([SENTENCE] * 20, 10, 1.0)
    config = config_class("lstmavg")(**LSTM | {"scramble": 0.5, "boundary_tokens": "start"})
    assert Scrambling.of(config) == Scrambling(0.5, (1, 0))
    assert Scrambling.of(config_class("charlstm")(**CHARLSTM)) == Scrambling(0.0)


UNREAD = [(name, block) for name, block in VARIANTS if name in ("charagram", "charcnn", "charlstm", "avg", "lstmavg")]
ROWS = np.arange(20)
TABLE = pa.table([2 * ROWS, 2 * ROWS + 1, ["toy"] * 20, ROWS], PAIRS.names).cast(PAIRS)


@pytest.mark.parametrize(("name", "block"), UNREAD)
def test_same_model_whether_ids_are_in_memory_or_not(name, block, monkeypatch, tmp_path):
    found = []
    for limit in (1 << 26, 0):
        for constant in ("READ_AT_ONCE", "WORDS_AT_ONCE"):
            monkeypatch.setattr(batching, constant, limit)
        model, _, config = prepare(name, block)
        pairs = Paraphrases.of(TABLE, SENTENCES, model.vocabulary)
        assert isinstance(pairs.sentences, Unread) == (limit == 0)
        encoder_trainer(model, pairs, config, 11, None).run(Checkpoint(tmp_path / "c"), 1e9)
        found.append(saved_bytes(model, name, tmp_path / str(limit)))
    assert found[0] == found[1]


def test_epoch_has_the_pairs_of_a_source_as_often_as_its_weight_says(tmp_path):
    table = TABLE.set_column(2, "source", pa.array(["a", "b"] * 10)).cast(PAIRS)
    model, _, config = prepare("avg", dict(VARIANTS)["avg"], batches="source")

    def trainer(**weights):
        pairs = Paraphrases.of(table, SENTENCES, model.vocabulary, weights)
        return encoder_trainer(model, pairs, config, 11, None)

    batches = [trainer(a=1.5).batches(epoch) for epoch in (0, 1)]
    for epoch in batches:
        assert all(len({row % 2 for row in batch}) == 1 for batch in epoch)
        counts = np.bincount(np.concatenate(epoch))
        assert sorted(counts[::2]) == [1] * 5 + [2] * 5
        assert counts[1::2].tolist() == [1] * 10
    assert [len(epoch) for epoch in batches] == [trainer(a=1.5).steps_per_epoch] * 2
    same, alone = trainer(a=1.0, b=1.0).batches(0), trainer().batches(0)
    assert [batch.tolist() for batch in same] == [batch.tolist() for batch in alone]
    with pytest.raises(
        ParameterError, match=r"^params\.yaml: train\.source_weights: no pair is left; give a source a larger weight$"
    ):
        trainer(a=0.0, b=0.01)


def test_batch_of_unread_sentences_of_words(monkeypatch):
    model, pairs, _ = prepare(*UNREAD[0])
    monkeypatch.setattr(batching, "READ_AT_ONCE", 0)  # ids of words are in memory up to more text
    assert SENTENCES.nbytes < batching.WORDS_AT_ONCE
    assert not isinstance(Paraphrases.of(TABLE, SENTENCES, model.vocabulary).sentences, Unread)
    rows, cpu = np.array([3, 0, 3]), torch.device("cpu")
    pairs = dataclasses.replace(pairs, sentences=Unread(SentenceFile(SENTENCES), model.vocabulary))
    unread = pairs.on_device(cpu)(rows)
    read = batching.DeviceSentences(model.vocabulary.lookup(SENTENCES), cpu).take(rows)
    for name in ("ids", "offsets", "counts"):
        assert torch.equal(getattr(unread, name), getattr(read, name))
    assert np.array_equal(unread.host_offsets, read.host_offsets)
