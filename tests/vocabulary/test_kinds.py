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
    CharacterVocabulary,
    NgramVocabulary,
    WordNgramVocabulary,
    WordVocabulary,
    add_boundary_tokens,
    boundary_widths,
    build_vocabulary,
)
from tests.helpers.column_forms import column_forms
from tests.helpers.ragged_lists import id_counts, id_lists

CLASSES = {
    "words": WordVocabulary,
    "ngrams": NgramVocabulary,
    "words+ngrams": WordNgramVocabulary,
    "characters": CharacterVocabulary,
}
KINDS = [*CLASSES]


@pytest.mark.parametrize("kind", KINDS)
def test_vocabulary_of_each_kind(kind):
    assert type(build_vocabulary(kind, pa.array(["a", "b"]))) is CLASSES[kind]


@pytest.mark.parametrize("size", [kinds.CHUNK, 4])
@pytest.mark.parametrize(
    ("kind", "entries", "ids", "shares"),
    [
        ("words", ["the", "cat", "é"], [[1, 2], [], [], [3, 1]], [0, 0, 0, 0]),
        ("ngrams", ["he", "  "], [[0], [1], [1], [0]], [7 / 8, 0, 0, 5 / 6]),
        ("words+ngrams", ["he", " the ", "  "], [[0, 1], [2], [2], [0, 1]], [7 / 8, 0, 0, 5 / 6]),
        (
            "characters",
            ["t", " ", "é"],
            [[2, 1, 0, 0, 2, 0, 0, 1, 2], [], [], [2, 3, 2, 1, 0, 0, 2]],
            [4 / 7, 0, 0, 2 / 5],
        ),
    ],
)
def test_ids_and_shares_of_sliced_and_chunked_columns(monkeypatch, kind, entries, ids, shares, size):
    monkeypatch.setattr(kinds, "CHUNK", size)
    vocabulary = build_vocabulary(kind, pa.chunked_array([entries[:1], entries[1:]]))
    for column in column_forms(["dog", "the cat", None, "", "é the", "x"]):
        assert id_lists(vocabulary.lookup(column)) == ids
        assert vocabulary.oov_share(column).tolist() == pytest.approx(shares)


@pytest.mark.parametrize("empty", [pa.array([], pa.string()), pa.chunked_array([], pa.string())])
@pytest.mark.parametrize("kind", KINDS)
def test_ids_of_an_empty_column(kind, empty):
    vocabulary = build_vocabulary(kind, pa.array(["a"]))
    ragged = vocabulary.lookup(empty)
    assert len(ragged) == len(ragged.ids) == len(vocabulary.oov_share(empty)) == 0


@pytest.mark.parametrize(
    ("kind", "ids", "share"),
    [("words", [0, 0], 1), ("ngrams", [], 0), ("words+ngrams", [], 0), ("characters", [0, 0, 0, 0, 0], 1)],
)  # without n-grams there is no order to count
def test_empty_vocabulary(kind, ids, share):
    empty = build_vocabulary(kind, pa.array([], pa.string()))
    assert id_lists(empty.lookup(pa.array(["a b", ""]))) == [ids, []]
    assert empty.oov_share(pa.array(["a b", ""])).tolist() == [share, 0]


@pytest.mark.parametrize(
    ("kind", "name"), [*zip(KINDS, ["words", "n-grams", "n-grams and words", "characters"], strict=True)]
)
@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["a", "b", "a"], "vocabulary of 3 {}: 'a' occurs 2 times"),
        (["a", ""], "vocabulary of 2 {}: an entry is empty"),
        (["a", None], "vocabulary of 2 {}: an entry is empty"),
    ],
)
def test_vocabulary_with_repeated_or_empty_entry(kind, name, texts, message):
    with pytest.raises(DataError, match=message.format(name)) as error:
        build_vocabulary(kind, pa.chunked_array([texts]))
    assert "\n" not in str(error.value)


OF_WORDS = WordVocabulary(pa.array(["the", "cat", "é", "😀"]))


def test_ids_and_oov_share_of_known_and_unknown_words():
    sentences = pa.array(["the cat saw the dog", "", "😀 é", "   ", " the  cat "])
    ragged, share = OF_WORDS.lookup(sentences), OF_WORDS.oov_share(sentences)
    assert id_lists(ragged) == [[1, 2, 0, 1, 0], [], [4, 3], [], [1, 2]]
    assert (ragged.ids.dtype, ragged.offsets.dtype, ragged.counts) == (np.int32, np.int64, None)
    assert (share.tolist(), share.dtype) == ([0.4, 0, 0, 0, 0], np.float64)


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
    vocabulary = build_vocabulary("words", pa.array(["a", "b", END]), "end")
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


@pytest.mark.parametrize("has_bigrams", [False, True])
def test_counts_of_words_ngrams_and_bigrams_equal_naive_ones(has_bigrams):
    table = merge_counts(count_ngrams(SENTENCES, [2, 3, 4]), count_words(SENTENCES))
    texts = (table_with_bigrams() if has_bigrams else table)["text"].to_pylist()
    assert {" of ", " a ", " the ", " 😀 ", "at"} <= set(texts)
    assert ({" of the ", " a cat ", " of of ", " é 😀 "} <= set(texts)) == has_bigrams
    assert len(set(texts)) == len(texts)
    ragged = WordNgramVocabulary(pa.array(texts)).lookup(SENTENCES)
    counts = [{texts[i]: count for i, count in row.items()} for row in id_counts(ragged)]
    assert counts == [naive_counts(texts, sentence) for sentence in SENTENCES.to_pylist()]
    assert counts[4].get(" of of ") == (2 if has_bigrams else None)
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


def test_bigram_that_is_also_an_ngram():
    table = table_with_bigrams(orders=(5, 6), min_count=2)
    texts = table["text"].to_pylist()
    assert len(set(texts)) == len(table)
    assert " on a " in texts  # an n-gram of six characters; as a pair it is too rare
    assert_ascending(WordNgramVocabulary(table["text"]).lookup(SENTENCES))


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
