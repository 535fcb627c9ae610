import numpy as np
import pyarrow as pa
import pytest

from paraphrastic.errors import DataError
from paraphrastic.vocabulary.counting import count_ngrams, count_words
from paraphrastic.vocabulary.ngrams import NgramVocabulary
from paraphrastic.vocabulary.words_and_ngrams import WordNgramVocabulary, with_words

SENTENCES = pa.array(["a cat sat on a mat", "of the cat of the mat", "", "é 😀 of", "of of of"])


def found(units, texts, sentences):
    """Each sentence as {text of the unit: count}."""
    bags = units.lookup(sentences)
    rows = zip(bags.offsets[:-1], bags.offsets[1:], strict=True)
    return [dict(zip([texts[i] for i in bags.ids[a:b]], bags.counts[a:b].tolist(), strict=True)) for a, b in rows]


def naive(texts, sentence):
    """How often each text occurs in the sentence with a space at each end, overlaps counted."""
    padded = f" {sentence} "
    counts = {text: sum(padded.startswith(text, i) for i in range(len(padded))) for text in texts}
    return {text: n for text, n in counts.items() if n}


def test_units_are_windows_and_words_between_spaces():
    table = with_words(count_ngrams(SENTENCES, [2, 3, 4]), count_words(SENTENCES))
    texts = table["text"].to_pylist()
    assert {" of ", " a ", " the ", " 😀 ", "at"} <= set(texts)
    expected = [naive(texts, sentence) for sentence in SENTENCES.to_pylist()]
    assert found(WordNgramVocabulary(table["text"]), texts, SENTENCES) == expected


def test_ids_ascend_and_a_word_that_is_an_ngram_is_one_unit():
    table = with_words(count_ngrams(SENTENCES, [2, 3, 4]), count_words(SENTENCES))
    assert len(set(table["text"].to_pylist())) == len(table)
    bags = WordNgramVocabulary(table["text"]).lookup(SENTENCES)
    for start, end in zip(bags.offsets[:-1], bags.offsets[1:], strict=True):
        assert (np.diff(bags.ids[start:end]) > 0).all()


def test_an_ngram_that_is_a_rare_word_stays():
    table = with_words(count_ngrams(SENTENCES, [4]), count_words(SENTENCES, min_count=3))
    texts = table["text"].to_pylist()
    assert texts.count(" of ") == 1
    assert " on " in texts
    assert " mat " not in texts


def test_unknown_is_that_of_the_ngrams():
    table = with_words(count_ngrams(SENTENCES, [2]), count_words(SENTENCES))
    share = WordNgramVocabulary(table["text"]).unknown(pa.array(["cat", "xyz", ""]))
    assert share.tolist() == NgramVocabulary(count_ngrams(SENTENCES, [2])["text"]).unknown(pa.array(["cat", "xyz", ""])).tolist()


def test_a_unit_that_stands_twice_is_refused():
    with pytest.raises(DataError, match="' of ' stands 2 times"):
        WordNgramVocabulary(pa.array(["of", " of ", " of "]))
