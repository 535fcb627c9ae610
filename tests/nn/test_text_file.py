"""Sentences in a file."""

import numpy as np
import pyarrow as pa
import pytest

from paraphrastic.nn import text_file
from paraphrastic.nn.text_file import TextFile

TEXTS = ["a", "", "日本", "b c d", "é"] * 20


@pytest.mark.parametrize("size", [1, 100, 1 << 25])
def test_sentences_by_row(size, monkeypatch, tmp_path):
    monkeypatch.setattr(text_file, "_CHUNK", size)
    column = pa.array(TEXTS)
    for sentences in (column, pa.concat_arrays([pa.array(["x"]), column]).slice(1), iter([column[:7], column[7:]])):
        file = TextFile(sentences, tmp_path)
        assert list(tmp_path.iterdir()) == []
        assert len(file) == 100
        for rows in (np.arange(100), np.array([99, 2, 2, 0]), np.array([], int)):
            taken = file.take(rows)
            assert taken.type == pa.string()
            assert taken.to_pylist() == [TEXTS[row] for row in rows]


@pytest.mark.parametrize("texts", [[], [""], ["", ""]])
def test_sentences_without_text(texts):
    file = TextFile(pa.array(texts, pa.string()))
    assert file.take(np.arange(len(texts))).to_pylist() == texts
