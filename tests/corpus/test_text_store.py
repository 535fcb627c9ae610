"""Columns of text in files."""

import numpy as np
import pyarrow as pa
import pytest

from paraphrastic.corpus.tokenized_pairs import StoredTexts, TextColumn
from tests.helpers.stored_texts import listed, stored

PARTS = ["a", "", "日本"], [], ["b c"], ["a", "d"]
TEXTS = [text for part in PARTS for text in part]


def test_texts_in_order():
    texts = stored(*PARTS)
    assert listed(texts) == TEXTS
    assert len(texts) == 6
    assert listed(texts) == TEXTS  # a second time


def test_texts_are_compressed(tmp_path):
    column = TextColumn(tmp_path / "texts.arrow")
    column.append(pa.array(["the same words again and again"] * 10_000))
    column.close()
    assert (tmp_path / "texts.arrow").stat().st_size < 0.25 * 30 * 10_000


def test_no_texts():
    assert listed(stored()) == listed(stored([])) == []
    assert listed(stored(*PARTS).select(np.zeros(6, bool))) == []


@pytest.mark.parametrize("seed", range(5))
def test_selected_texts(seed):
    chosen = np.random.default_rng(seed).random(6) < 0.5
    expected = [text for text, wanted in zip(TEXTS, chosen, strict=True) if wanted]
    assert listed(stored(*PARTS).select(chosen)) == expected


def test_selection_from_several_columns_one_after_the_other():
    both = StoredTexts.concat([stored(["x", "y"]).select(np.array([False, True])), stored(), stored(*PARTS)])
    assert listed(both) == ["y", *TEXTS]
    assert listed(both.select(np.arange(7) % 3 == 0)) == ["y", "日本", "d"]
    again = StoredTexts.concat([both, both.select(np.arange(7) == 1)])
    assert listed(again) == ["y", *TEXTS, "a"]
