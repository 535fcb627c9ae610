"""Sentences as tensors on a device, and in a file."""

import numpy as np
import pyarrow as pa
import pytest
import torch

from paraphrastic.nn import batch as nn_batch
from paraphrastic.nn.batch import DeviceSentences, SentenceFile, Share, to_device, used_rows
from tests.helpers.encoder_variants import SENTENCES, ragged_of

CPU = torch.device("cpu")
TEXTS = ["a", "", "日本", "b c d", "é"] * 20


def test_warnings_for_read_only_arrow_array(recwarn):
    torch.set_warn_always(True)
    array = pa.array([3, 1, 2]).to_numpy()
    try:
        assert to_device(array, CPU).tolist() == [3, 1, 2]
    finally:
        torch.set_warn_always(False)
    assert not recwarn.list


@pytest.mark.parametrize("counted", [False, True])
def test_batch_of_chosen_sentences(counted):
    rows, ragged = np.array([3, 1, 0, 3]), ragged_of(SENTENCES, counted)
    batch, expected = DeviceSentences(ragged, CPU).take(rows), ragged.take(rows)
    assert batch.ids.dtype == torch.int64
    assert batch.ids.tolist() == expected.ids.tolist()
    assert batch.offsets.tolist() == batch.host_offsets.tolist() == expected.offsets.tolist()
    assert batch.lengths.tolist() == expected.lengths.tolist()
    assert batch.counts.dtype == torch.float32
    assert batch.counts.tolist() == expected.count_values(np.float32).tolist()
    part, (first, last) = batch.part(1, 3), expected.offsets[[1, 3]].tolist()
    assert part.ids.tolist() == expected.ids[first:last].tolist()
    assert part.counts.tolist() == batch.counts[first:last].tolist()
    assert part.offsets.tolist() == part.host_offsets.tolist() == (expected.offsets[1:4] - first).tolist()
    assert part.share == Share(first, len(batch.ids), 1, len(rows))


def test_counts_above_the_range_of_int16_and_used_rows_of_an_embedding_table():
    ragged = ragged_of([[7] * 40_000], counted=True)
    assert DeviceSentences(ragged, CPU).take(np.array([0])).counts.tolist() == [40_000]
    embeddings, ids = torch.arange(20.0).view(10, 2), torch.tensor([7, 2, 7, 9])
    rows, positions = used_rows(embeddings, ids)
    assert len(rows) == 3
    assert torch.equal(rows[positions], embeddings[ids])


@pytest.mark.parametrize("size", [1, 100, 1 << 25])
def test_sentences_by_row(size, monkeypatch, tmp_path):
    monkeypatch.setattr(nn_batch, "_CHUNK", size)
    column = pa.array(TEXTS)
    for sentences in (column, pa.concat_arrays([pa.array(["x"]), column]).slice(1), iter([column[:7], column[7:]])):
        file = SentenceFile(sentences, tmp_path)
        assert list(tmp_path.iterdir()) == []
        assert len(file) == 100
        for rows in (np.arange(100), np.array([99, 2, 2, 0]), np.array([], int)):
            taken = file.take(rows)
            assert taken.type == pa.string()
            assert taken.to_pylist() == [TEXTS[row] for row in rows]

    for texts in ([], [""], ["", ""]):
        assert SentenceFile(pa.array(texts, pa.string())).take(np.arange(len(texts))).to_pylist() == texts
