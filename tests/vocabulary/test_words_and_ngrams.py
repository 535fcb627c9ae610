from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest

from paraphrastic.errors import DataError
from paraphrastic.vocabulary.counting import count_ngrams, count_words
from paraphrastic.vocabulary.ngrams import NgramVocabulary
from paraphrastic.vocabulary.words_and_ngrams import WordNgramVocabulary, merge_counts
from tests.helpers.ragged_lists import id_counts

SENTENCES = pa.array(["a cat sat on a mat", "of the cat of the mat", "", "é 😀 of", "of of of"])


def naive_counts(texts, sentence):
    """Return how often each text occurs in the padded sentence; occurrences may overlap."""
    padded = f" {sentence} "
    counts = {text: sum(padded.startswith(text, i) for i in range(len(padded))) for text in texts}
    return {text: count for text, count in counts.items() if count}


def test_counts_of_words_and_ngrams_equal_naive_ones():
    table = merge_counts(count_ngrams(SENTENCES, [2, 3, 4]), count_words(SENTENCES))
    texts = table["text"].to_pylist()
    assert {" of ", " a ", " the ", " 😀 ", "at"} <= set(texts)
    ragged = WordNgramVocabulary(table["text"]).lookup(SENTENCES)
    counts = [{texts[i]: count for i, count in row.items()} for row in id_counts(ragged)]
    assert counts == [naive_counts(texts, sentence) for sentence in SENTENCES.to_pylist()]


def test_word_that_is_also_an_ngram():
    table = merge_counts(count_ngrams(SENTENCES, [2, 3, 4]), count_words(SENTENCES))
    assert len(set(table["text"].to_pylist())) == len(table)
    ragged = WordNgramVocabulary(table["text"]).lookup(SENTENCES)
    for start, end in pairwise(ragged.offsets):
        assert len(np.unique(ragged.ids[start:end])) == end - start


def test_ids_of_each_sentence_ascend():
    table = merge_counts(count_ngrams(SENTENCES, [2, 3, 4]), count_words(SENTENCES))
    ragged = WordNgramVocabulary(table["text"]).lookup(SENTENCES)
    for start, end in pairwise(ragged.offsets):
        assert (np.diff(ragged.ids[start:end]) > 0).all()


def test_ngram_that_is_a_rare_word():
    table = merge_counts(count_ngrams(SENTENCES, [4]), count_words(SENTENCES, min_count=3))
    texts = table["text"].to_pylist()
    assert texts.count(" of ") == 1
    assert " on " in texts
    assert " mat " not in texts


def test_out_of_vocabulary_share_of_the_ngrams():
    sentences = pa.array(["cat", "xyz", ""])
    ngrams = count_ngrams(SENTENCES, [2])
    share = WordNgramVocabulary(merge_counts(ngrams, count_words(SENTENCES))["text"]).oov_share(sentences)
    assert share.tolist() == NgramVocabulary(ngrams["text"]).oov_share(sentences).tolist()


def test_size_of_the_vocabulary():
    assert len(WordNgramVocabulary(pa.array(["of", " of ", "f "]))) == 3


@pytest.mark.parametrize(
    ("texts", "message"),
    [(["of", " of ", " of "], "vocabulary of 3 n-grams and words: ' of ' occurs 2 times"), (["of", ""], "empty")],
)
def test_vocabulary_with_repeated_or_empty_entry(texts, message):
    with pytest.raises(DataError, match=message):
        WordNgramVocabulary(pa.array(texts))
