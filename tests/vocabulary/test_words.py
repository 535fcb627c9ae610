import numpy as np
import pyarrow as pa
import pytest

from paraphrastic.base.errors import DataError
from paraphrastic.vocabulary import words
from paraphrastic.vocabulary.words import WordVocabulary
from tests.helpers.column_forms import column_forms
from tests.helpers.ragged_lists import id_lists

VOCABULARY = WordVocabulary(pa.array(["the", "cat", "é", "😀"]))


def test_ids_of_known_and_unknown_words():
    ragged = VOCABULARY.lookup(pa.array(["the cat saw the dog", "", "😀 é"]))
    assert id_lists(ragged) == [[1, 2, 0, 1, 0], [], [4, 3]]
    assert ragged.ids.dtype == np.int32
    assert ragged.offsets.dtype == np.int64
    assert ragged.counts is None
    assert len(VOCABULARY) == 4


def test_ids_of_text_with_repeated_spaces():
    assert id_lists(VOCABULARY.lookup(pa.array(["   ", " the  cat ", " "]))) == [[], [1, 2], []]


def test_out_of_vocabulary_share():
    share = VOCABULARY.oov_share(pa.array(["the dog", "the", "a b c", "", "  "]))
    assert share.tolist() == [0.5, 0, 1, 0, 0]
    assert share.dtype == np.float64


@pytest.mark.parametrize("size", [words.CHUNK, 4])
def test_ids_of_sliced_and_chunked_columns(monkeypatch, size):
    columns = column_forms(["dog", "the cat", None, "", "é the", "x"])
    monkeypatch.setattr(words, "CHUNK", size)
    assert [id_lists(VOCABULARY.lookup(column)) for column in columns] == [[[1, 2], [], [], [3, 1]]] * 3
    assert [VOCABULARY.oov_share(column).tolist() for column in columns] == [[0, 0, 0, 0]] * 3


@pytest.mark.parametrize("empty", [pa.array([], pa.string()), pa.chunked_array([], pa.string())])
def test_ids_of_an_empty_column(empty):
    ragged = VOCABULARY.lookup(empty)
    assert len(ragged) == len(ragged.ids) == len(VOCABULARY.oov_share(empty)) == 0


def test_empty_vocabulary():
    empty = WordVocabulary(pa.array([], pa.string()))
    assert id_lists(empty.lookup(pa.array(["a b"]))) == [[0, 0]]
    assert empty.oov_share(pa.array(["a b"])).tolist() == [1]


@pytest.mark.parametrize(
    ("texts", "message"),
    [(["a", "b", "a"], "vocabulary of 3 words: 'a' occurs 2 times"), (["a", ""], "empty"), (["a", None], "empty")],
)
def test_vocabulary_with_repeated_or_empty_word(texts, message):
    with pytest.raises(DataError, match=message) as error:
        WordVocabulary(pa.chunked_array([texts]))
    assert "\n" not in str(error.value)
