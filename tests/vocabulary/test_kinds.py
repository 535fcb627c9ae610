from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest

from paraphrastic.base.errors import DataError
from paraphrastic.vocabulary import kinds
from paraphrastic.vocabulary.counting import count_bigrams, count_ngrams, count_words, merge_counts
from paraphrastic.vocabulary.kinds import (
    END,
    START,
    WordNgramVocabulary,
    WordVocabulary,
    add_boundary_tokens,
    boundary_widths,
    build_vocabulary,
)
from paraphrastic.vocabulary.ngrams import CharacterVocabulary, NgramVocabulary
from tests.helpers.column_forms import column_forms
from tests.helpers.ragged_lists import id_counts, id_lists


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("words", WordVocabulary),
        ("ngrams", NgramVocabulary),
        ("words+ngrams", WordNgramVocabulary),
        ("characters", CharacterVocabulary),
    ],
)
def test_vocabulary_of_each_kind(kind, expected):
    vocabulary = build_vocabulary(kind, pa.array(["a", "b"]))
    assert type(vocabulary) is expected
    assert len(vocabulary) == 2


def test_vocabulary_of_words_with_boundary_tokens():
    vocabulary = build_vocabulary("words", pa.array(["a", "<s>"]), "start")
    assert id_lists(vocabulary.lookup(pa.array(["a"]))) == [[2, 1]]


OF_WORDS = WordVocabulary(pa.array(["the", "cat", "é", "😀"]))


def test_ids_of_known_and_unknown_words():
    ragged = OF_WORDS.lookup(pa.array(["the cat saw the dog", "", "😀 é"]))
    assert id_lists(ragged) == [[1, 2, 0, 1, 0], [], [4, 3]]
    assert ragged.ids.dtype == np.int32
    assert ragged.offsets.dtype == np.int64
    assert ragged.counts is None
    assert len(OF_WORDS) == 4


def test_ids_of_text_with_repeated_spaces():
    assert id_lists(OF_WORDS.lookup(pa.array(["   ", " the  cat ", " "]))) == [[], [1, 2], []]


def test_out_of_vocabulary_share():
    share = OF_WORDS.oov_share(pa.array(["the dog", "the", "a b c", "", "  "]))
    assert share.tolist() == [0.5, 0, 1, 0, 0]
    assert share.dtype == np.float64


@pytest.mark.parametrize("size", [kinds.WORDS_CHUNK, 4])
def test_ids_of_sliced_and_chunked_columns(monkeypatch, size):
    columns = column_forms(["dog", "the cat", None, "", "é the", "x"])
    monkeypatch.setattr(kinds, "WORDS_CHUNK", size)
    assert [id_lists(OF_WORDS.lookup(column)) for column in columns] == [[[1, 2], [], [], [3, 1]]] * 3
    assert [OF_WORDS.oov_share(column).tolist() for column in columns] == [[0, 0, 0, 0]] * 3


@pytest.mark.parametrize("empty", [pa.array([], pa.string()), pa.chunked_array([], pa.string())])
def test_ids_of_an_empty_column(empty):
    ragged = OF_WORDS.lookup(empty)
    assert len(ragged) == len(ragged.ids) == len(OF_WORDS.oov_share(empty)) == 0


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


ENCLOSED = pa.array(["a b", "", "c"])


@pytest.mark.parametrize(
    ("boundary_tokens", "enclosed", "widths"),
    [
        ("none", ["a b", "", "c"], (0, 0)),
        ("start", [f"{START} a b", "", f"{START} c"], (1, 0)),
        ("end", [f"a b {END}", "", f"c {END}"], (0, 1)),
        ("both", [f"{START} a b {END}", "", f"{START} c {END}"], (1, 1)),
    ],
)
def test_enclosed_sentences(boundary_tokens, enclosed, widths):
    assert add_boundary_tokens(ENCLOSED, boundary_tokens).to_pylist() == enclosed
    assert boundary_widths(boundary_tokens) == widths


def test_ids_and_oov_share_with_end_token():
    vocabulary = WordVocabulary(pa.array(["a", "b", END]), "end")
    assert vocabulary.lookup(ENCLOSED).ids.tolist() == [1, 2, 3, 0, 3]
    assert vocabulary.oov_share(ENCLOSED).tolist() == [0, 0, 1]


SENTENCES = pa.array(["a cat sat on a mat", "of the cat of the mat", "", "é 😀 of", "of of of"])


def naive_counts(texts, sentence):
    """Return how often each text occurs in the padded sentence; occurrences may overlap."""
    padded = f" {sentence} "
    counts = {text: sum(padded.startswith(text, i) for i in range(len(padded))) for text in texts}
    return {text: count for text, count in counts.items() if count}


def assert_ascending(ragged):
    for start, end in pairwise(ragged.offsets):
        assert (np.diff(ragged.ids[start:end]) > 0).all()


def test_counts_of_words_and_ngrams_equal_naive_ones():
    table = merge_counts(count_ngrams(SENTENCES, [2, 3, 4]), count_words(SENTENCES))
    texts = table["text"].to_pylist()
    assert {" of ", " a ", " the ", " 😀 ", "at"} <= set(texts)
    assert len(set(texts)) == len(texts)
    ragged = WordNgramVocabulary(table["text"]).lookup(SENTENCES)
    counts = [{texts[i]: count for i, count in row.items()} for row in id_counts(ragged)]
    assert counts == [naive_counts(texts, sentence) for sentence in SENTENCES.to_pylist()]
    assert_ascending(ragged)


def test_ngram_that_is_a_rare_word():
    table = merge_counts(count_ngrams(SENTENCES, [4]), count_words(SENTENCES, min_count=3))
    texts = table["text"].to_pylist()
    assert texts.count(" of ") == 1
    assert " on " in texts
    assert " mat " not in texts


def table_with_bigrams(orders=(2, 3, 4), min_count=1):
    words = count_words(SENTENCES)
    return merge_counts(count_ngrams(SENTENCES, orders), words, count_bigrams(SENTENCES, words["text"], min_count))


def test_counts_with_bigrams_equal_naive_ones():
    texts = table_with_bigrams()["text"].to_pylist()
    assert {" of the ", " a cat ", " of of ", " é 😀 "} <= set(texts)
    counts = [
        {texts[i]: count for i, count in row.items()}
        for row in id_counts(WordNgramVocabulary(pa.array(texts)).lookup(SENTENCES))
    ]
    assert counts == [naive_counts(texts, sentence) for sentence in SENTENCES.to_pylist()]
    assert counts[4][" of of "] == 2


def test_bigram_that_is_also_an_ngram():
    table = table_with_bigrams(orders=(5, 6), min_count=2)
    texts = table["text"].to_pylist()
    assert len(set(texts)) == len(table)
    assert " on a " in texts  # an n-gram of six characters; as a pair it is too rare
    assert_ascending(WordNgramVocabulary(table["text"]).lookup(SENTENCES))


def test_size_of_the_vocabulary():
    assert len(WordNgramVocabulary(pa.array(["of", " of ", "f "]))) == 3
    assert len(WordNgramVocabulary(pa.array(["of", " of ", " of the ", "f th"]))) == 4


def test_bigrams_of_sentences_without_words():
    vocabulary = WordNgramVocabulary(pa.array([" a b "]))
    for sentences, lengths in [
        ([], []),
        (["", ""], [0, 0]),
        (["", "a b", "", "b", "a", "b a b a"], [0, 1, 0, 0, 0, 1]),
    ]:
        assert vocabulary.lookup(pa.array(sentences, pa.string())).lengths.tolist() == lengths


def test_out_of_vocabulary_share_of_the_ngrams():
    sentences = pa.array(["cat", "xyz", ""])
    ngrams = count_ngrams(SENTENCES, [2])
    share = WordNgramVocabulary(merge_counts(ngrams, count_words(SENTENCES))["text"]).oov_share(sentences)
    assert share.tolist() == NgramVocabulary(ngrams["text"]).oov_share(sentences).tolist()


@pytest.mark.parametrize(
    ("texts", "message"),
    [(["of", " of ", " of "], "vocabulary of 3 n-grams and words: ' of ' occurs 2 times"), (["of", ""], "empty")],
)
def test_vocabulary_with_repeated_or_empty_entry(texts, message):
    with pytest.raises(DataError, match=message):
        WordNgramVocabulary(pa.array(texts))
