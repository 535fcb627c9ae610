import numpy as np
import pyarrow as pa
import pytest

from paraphrastic.base.errors import DataError
from paraphrastic.vocabulary import characters
from paraphrastic.vocabulary.characters import CharacterVocabulary
from tests.helpers.column_forms import column_forms
from tests.helpers.ragged_lists import id_lists
from tests.helpers.random_sentences import ALPHABETS, random_sentences

VOCABULARY = CharacterVocabulary(pa.array(["e", " ", "é", "中", "😀", "\U0010ffff", "\0"]))


def test_ids_of_known_and_unknown_characters():
    ragged = VOCABULARY.lookup(pa.array(["ex é", "", "中😀\U0010ffff\0", " "]))
    assert id_lists(ragged) == [[2, 1, 0, 2, 3, 2], [], [2, 4, 5, 6, 7, 2], [2, 2, 2]]
    assert ragged.ids.dtype == np.int32
    assert ragged.offsets.dtype == np.int64
    assert ragged.counts is None
    assert len(VOCABULARY) == 7


def test_ids_of_a_combining_mark():
    assert id_lists(VOCABULARY.lookup(pa.array(["e\u0301", "é"]))) == [[2, 1, 0, 2], [2, 3, 2]]


def test_out_of_vocabulary_share_without_padding():
    share = VOCABULARY.oov_share(pa.array(["xy", "", "ex", None]))
    assert share.tolist() == [1, 0, 0.5, 0]
    assert share.dtype == np.float64
    assert CharacterVocabulary(pa.array(["e"])).oov_share(pa.array(["e\n"])).tolist() == [0.5]


@pytest.mark.parametrize("alphabet", ALPHABETS)
@pytest.mark.parametrize("size", [characters.CHUNK, 50])
def test_ids_and_shares_equal_naive_ones(monkeypatch, alphabet, size):
    monkeypatch.setattr(characters, "CHUNK", size)
    known = dict.fromkeys(ALPHABETS[alphabet][::2])
    ids = {character: i for i, character in enumerate(known, 1)}
    sentences = random_sentences(ALPHABETS[alphabet])
    expected = [[ids.get(character, 0) for character in f" {text} "] if text else [] for text in sentences]
    vocabulary = CharacterVocabulary(pa.array(list(known)))
    assert id_lists(vocabulary.lookup(pa.array(sentences))) == expected
    shares = [row[1:-1].count(0) / max(len(row) - 2, 1) for row in expected]
    np.testing.assert_allclose(vocabulary.oov_share(pa.array(sentences)), shares)


def test_ids_of_sliced_and_chunked_columns():
    columns = column_forms(["zz", "e", None, "", "é中", "zz"])
    assert [id_lists(VOCABULARY.lookup(column)) for column in columns] == [[[2, 1, 2], [], [], [2, 3, 4, 2]]] * 3


@pytest.mark.parametrize("empty", [pa.array([], pa.string()), pa.chunked_array([], pa.string())])
def test_ids_of_an_empty_column(empty):
    ragged = VOCABULARY.lookup(empty)
    assert len(ragged) == len(ragged.ids) == len(VOCABULARY.oov_share(empty)) == 0


def test_empty_vocabulary():
    assert id_lists(CharacterVocabulary(pa.array([], pa.string())).lookup(pa.array(["a"]))) == [[0, 0, 0]]


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["a", "b", "a"], "vocabulary of 3 characters: 'a' occurs 2 times"),
        (["a", ""], "empty"),
        (["a", None], "empty"),
        (["é", "ab"], "'ab' is not one character"),
        (["e\u0301"], "is not one character"),
    ],
)
def test_vocabulary_with_invalid_entry(texts, message):
    with pytest.raises(DataError, match=message) as error:
        CharacterVocabulary(pa.chunked_array([texts]))
    assert "\n" not in str(error.value)
