import numpy as np
import pyarrow as pa
import pytest

from paraphrastic.errors import DataError
from paraphrastic.text import words
from paraphrastic.vocabulary.words import WordVocabulary, split

VOCABULARY = WordVocabulary(pa.array(["the", "cat", "é", "😀"]))


def lists(bags):
    return [bags.ids[start:end].tolist() for start, end in zip(bags.offsets, bags.offsets[1:], strict=False)]


def test_words_are_numbered_from_one_in_reading_order_and_unknown_ones_are_zero():
    bags = VOCABULARY.lookup(pa.array(["the cat saw the dog", "", "😀 é"]))
    assert lists(bags) == [[1, 2, 0, 1, 0], [], [4, 3]]
    assert bags.ids.dtype == np.int32
    assert bags.offsets.dtype == np.int64
    assert bags.counts is None
    assert len(VOCABULARY) == 4


def test_a_text_of_spaces_has_no_words():
    assert lists(VOCABULARY.lookup(pa.array(["   ", " the  cat ", " "]))) == [[], [1, 2], []]


def test_only_a_space_separates_words():
    assert split(pa.array(["a\u00a0b c\u3000d", "e\tf"]))[0].to_pylist() == ["a\u00a0b", "c\u3000d", "e\tf"]


def test_unknown_is_the_share_of_words_and_zero_without_words():
    share = VOCABULARY.unknown(pa.array(["the dog", "the", "a b c", "", "  "]))
    assert share.tolist() == [0.5, 0, 1, 0, 0]
    assert share.dtype == np.float64


def test_any_layout_of_the_column_gives_the_same(monkeypatch):
    texts = ["dog", "the cat", None, "", "é the", "x"]
    expected = [[1, 2], [], [], [3, 1]]
    whole = pa.array(texts)
    columns = [
        whole.slice(1, 4),
        pa.array(texts, pa.large_string()).slice(1, 4),
        pa.chunked_array([whole.slice(1, 2), whole.slice(0, 0), whole.slice(3, 2)]),
    ]
    for size in (words.PIECE, 4):
        monkeypatch.setattr(words, "PIECE", size)
        assert [lists(VOCABULARY.lookup(column)) for column in columns] == [expected] * 3
        assert [VOCABULARY.unknown(column).tolist() for column in columns] == [[0, 0, 0, 0]] * 3


@pytest.mark.parametrize("none", [pa.array([], pa.string()), pa.chunked_array([], pa.string())])
def test_no_sentences_give_no_bags(none):
    bags = VOCABULARY.lookup(none)
    assert len(bags) == len(bags.ids) == len(VOCABULARY.unknown(none)) == 0


def test_an_empty_vocabulary_knows_nothing():
    nothing = WordVocabulary(pa.array([], pa.string()))
    assert lists(nothing.lookup(pa.array(["a b"]))) == [[0, 0]]
    assert nothing.unknown(pa.array(["a b"])).tolist() == [1]


@pytest.mark.parametrize(
    ("texts", "complaint"),
    [(["a", "b", "a"], "'a' stands 2 times"), (["a", ""], "empty"), (["a", None], "empty")],
)
def test_a_vocabulary_holds_each_word_once(texts, complaint):
    with pytest.raises(DataError, match=complaint):
        WordVocabulary(pa.chunked_array([texts]))
