"""Tagged sentences as columns."""

import numpy as np
import pyarrow as pa
import pytest

from paraphrastic.base.errors import DataError
from paraphrastic.finetuning.tagger import TaggedSentences, refuse_empty
from paraphrastic.vocabulary.ngrams import CharacterVocabulary
from tests.helpers.tagged_text import tagged_tokens

VOCABULARY = CharacterVocabulary(pa.array(["a", "b", " "]))


def test_offsets_with_repeated_sentence_numbers():
    table = tagged_tokens(["a/DT b/NN", "c/NN", "d/NN e/NN"])
    table = table.set_column(0, "sentence", pa.array([7, 7, 9, 0, 0]))
    assert TaggedSentences.of(table, VOCABULARY, lowercase=True).tokens.offsets.tolist() == [0, 2, 3, 5]


def test_words_with_repetitions():
    sentences = TaggedSentences.of(tagged_tokens(["ab/DT ab/NN", "Ab/NN ab/DT"]), VOCABULARY, lowercase=True)
    assert len(sentences.words) == 2  # `ab` and `Ab`, which differ in the capital letter only
    assert sentences.tokens.ids.tolist() == [0, 0, 1, 0]
    assert sentences.capital.tolist() == [0, 1]
    first, second = (sentences.words.take(np.array([n])).ids.tolist() for n in range(2))
    assert first == second


def test_words_in_lower_case_and_as_they_are():
    vocabulary = CharacterVocabulary(pa.array(["a", "A", "b", " "]))
    lower, as_is = (TaggedSentences.of(tagged_tokens(["Ab/NN"]), vocabulary, lowercase) for lowercase in (True, False))
    assert lower.words.ids.tolist() == [4, 1, 3, 4]
    assert as_is.words.ids.tolist() == [4, 2, 3, 4]
    assert lower.capital.tolist() == as_is.capital.tolist() == [1]


@pytest.mark.parametrize(
    ("word", "capital"), [("IBM", 1), ("iPod", 1), ("Élan", 1), ("Ω", 1), ("élan", 0), ("42", 0), ("日本", 0)]
)
def test_capital_letter_feature(word, capital):
    assert TaggedSentences.of(tagged_tokens([f"{word}/NN"]), VOCABULARY, lowercase=True).capital.tolist() == [capital]


def test_words_of_taken_sentences():
    sentences = TaggedSentences.of(tagged_tokens(["a/X b/X", "B/X", "ab/X a/X"]), VOCABULARY, lowercase=True)
    taken = sentences.take(np.array([2, 1]))
    assert taken.tokens.lengths.tolist() == [2, 1]
    assert taken.tokens.ids.dtype == np.int32
    assert len(taken.words) == 3
    whole = TaggedSentences.of(tagged_tokens(["ab/X a/X", "B/X"]), VOCABULARY, lowercase=True)
    for expected, row in zip(whole.tokens.ids, taken.tokens.ids, strict=True):
        ids = [part.words.take(np.array([number])).ids for part, number in ((whole, expected), (taken, row))]
        np.testing.assert_array_equal(*ids)
        assert whole.capital[expected] == taken.capital[row]


def test_empty_table():
    with pytest.raises(DataError, match=r"^tagging: no tagged tokens; check the names of its set and split"):
        refuse_empty(tagged_tokens(["a/X"]).slice(0, 0), "tagging")
