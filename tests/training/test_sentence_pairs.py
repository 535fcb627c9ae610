"""Training pairs: the ids of a large corpus are looked up for each mini-batch, with the same result."""

import numpy as np
import pyarrow as pa
import pytest
import torch

from paraphrastic.base.errors import ParameterError
from paraphrastic.base.tables import PAIRS
from paraphrastic.nn.batch import SentenceFile
from paraphrastic.training import batches as sentence_pairs
from paraphrastic.training.batches import Paraphrases, Unread
from paraphrastic.training.checkpoint import Checkpoint
from paraphrastic.training.pair_trainers import EncoderTrainer
from tests.helpers.encoder_variants import VARIANTS
from tests.helpers.toy_training import SENTENCES, prepare, saved_bytes

UNREAD = [(name, block) for name, block in VARIANTS if name in ("charagram", "charcnn", "charlstm", "avg", "lstmavg")]
ROWS = np.arange(20)
TABLE = pa.table([2 * ROWS, 2 * ROWS + 1, ["toy"] * 20, ROWS], PAIRS.names).cast(PAIRS)


@pytest.mark.parametrize(("name", "block"), UNREAD)
def test_same_model_whether_ids_are_in_memory_or_not(name, block, monkeypatch, tmp_path):
    found = []
    for limit in (1 << 26, 0):
        for constant in ("READ_AT_ONCE", "WORDS_AT_ONCE"):
            monkeypatch.setattr(sentence_pairs, constant, limit)
        model, _, config = prepare(name, block)
        pairs = Paraphrases.of(TABLE, SENTENCES, model.vocabulary)
        assert isinstance(pairs.sentences, Unread) == (limit == 0)
        EncoderTrainer(model, pairs, config, 11, None).run(Checkpoint(tmp_path / "c"), 1e9, lambda step: None)
        found.append(saved_bytes(model, name, tmp_path / str(limit)))
    assert found[0] == found[1]


def test_epoch_has_the_pairs_of_a_source_as_often_as_its_weight_says(tmp_path):
    table = TABLE.set_column(2, "source", pa.array(["a", "b"] * 10)).cast(PAIRS)
    model, _, config = prepare("avg", dict(VARIANTS)["avg"], batches="source")

    def trainer(**weights):
        pairs = Paraphrases.of(table, SENTENCES, model.vocabulary, weights)
        return EncoderTrainer(model, pairs, config, 11, None)

    batches = [trainer(a=1.5).batches(epoch) for epoch in (0, 1)]
    for epoch in batches:
        assert all(len({row % 2 for row in batch}) == 1 for batch in epoch)
        counts = np.bincount(np.concatenate(epoch))
        assert sorted(counts[::2]) == [1] * 5 + [2] * 5
        assert counts[1::2].tolist() == [1] * 10
    assert [len(epoch) for epoch in batches] == [trainer(a=1.5).steps_per_epoch] * 2
    same, alone = trainer(a=1.0, b=1.0).batches(0), trainer().batches(0)
    assert [batch.tolist() for batch in same] == [batch.tolist() for batch in alone]
    with pytest.raises(ParameterError, match=r"train\.source_weights: no pair is left; give a source a larger weight"):
        trainer(a=0.0, b=0.01)


def test_ids_of_words_are_in_memory_up_to_more_text(monkeypatch):
    monkeypatch.setattr(sentence_pairs, "READ_AT_ONCE", 0)
    assert SENTENCES.nbytes < sentence_pairs.WORDS_AT_ONCE
    model, _, _ = prepare("avg", next(block for name, block in VARIANTS if name == "avg"))
    assert not isinstance(Paraphrases.of(TABLE, SENTENCES, model.vocabulary).sentences, Unread)


@pytest.mark.parametrize(("name", "block"), UNREAD[:1])
def test_batch_of_unread_sentences(name, block):
    model, _, _ = prepare(name, block)
    rows = np.array([3, 0, 3])
    cpu = torch.device("cpu")
    unread = sentence_pairs.UnreadSentences(SentenceFile(SENTENCES), model.vocabulary, cpu).take(rows)
    read = sentence_pairs.DeviceSentences(model.vocabulary.lookup(SENTENCES), cpu).take(rows)
    for name in ("ids", "offsets", "counts"):
        assert torch.equal(getattr(unread, name), getattr(read, name))
    assert np.array_equal(unread.host_offsets, read.host_offsets)
