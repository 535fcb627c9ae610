from collections import Counter
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from sklearn.feature_extraction.text import CountVectorizer

from paraphrastic.base.tables import NGRAM_COUNTS, WORD_COUNTS
from paraphrastic.vocabulary import counting
from paraphrastic.vocabulary.counting import count_bigrams, count_ngrams, count_words
from tests.helpers.column_forms import column_forms
from tests.helpers.random_sentences import ALPHABETS, naive_ngrams, random_sentences


def rows(table):
    return [tuple(row.values()) for row in table.to_pylist()]


def naive_counts(sentences):
    """Return (entry, occurrences, sentences that contain it) from a list of entries per sentence."""
    occurrences = Counter(entry for entries in sentences for entry in entries)
    containing = Counter(entry for entries in sentences for entry in set(entries))
    return [(entry, count, containing[entry]) for entry, count in occurrences.items()]


def naive_ngram_counts(sentences, orders, padding=" "):
    """Return the rows of `count_ngrams`, computed naively."""
    counts = naive_counts([naive_ngrams(text, orders, padding) for text in sentences])
    table = [(text, len(text), count, containing) for text, count, containing in counts]
    return sorted(table, key=lambda row: (-row[2], row[1], row[0]))


def test_order_of_words():
    table = count_words(pa.array(["b a b", "a c", "", "é  c "]))
    assert table.schema == WORD_COUNTS
    assert rows(table) == [("a", 2, 2), ("b", 2, 1), ("c", 2, 2), ("é", 1, 1)]
    assert rows(count_words(pa.array([], pa.string()))) == []


@pytest.mark.parametrize("alphabet", ALPHABETS)
@pytest.mark.parametrize("size", [counting.WORDS_CHUNK, 50])
def test_word_counts_equal_naive_ones(monkeypatch, alphabet, size):
    sentences = random_sentences(ALPHABETS[alphabet] + " ")
    counts = sorted(naive_counts([text.split(" ") for text in sentences]), key=lambda row: (-row[1], row[0]))
    monkeypatch.setattr(counting, "WORDS_CHUNK", size)
    assert rows(count_words(pa.array(sentences), min_count=2)) == [row for row in counts if row[0] and row[1] >= 2]


@pytest.mark.parametrize("alphabet", ALPHABETS)
@pytest.mark.parametrize("size", [counting._BIGRAMS_CHUNK, 50])
def test_bigram_counts_equal_naive_ones(monkeypatch, alphabet, size):
    sentences = random_sentences(ALPHABETS[alphabet] + " ")
    words = count_words(pa.array(sentences), min_count=2)["text"]
    known = set(words.to_pylist())
    tokens = [[word for word in text.split(" ") if word] for text in sentences]
    pairs = [[f" {a} {b} " for a, b in pairwise(row) if {a, b} <= known] for row in tokens]
    counts = sorted(naive_counts(pairs), key=lambda row: (-row[1], row[0]))
    monkeypatch.setattr(counting, "_BIGRAMS_CHUNK", size)
    table = count_bigrams(pa.array(sentences), words, min_count=2)
    assert table.schema == WORD_COUNTS
    assert rows(table) == [row for row in counts if row[1] >= 2]


@pytest.mark.parametrize("alphabet", ALPHABETS)
@pytest.mark.parametrize("orders", [[2, 3, 4], [6], [1, 5, 6]])
@pytest.mark.parametrize("size", [counting.CHUNK, 50])
def test_ngram_counts_equal_naive_ones(monkeypatch, alphabet, orders, size):
    sentences = random_sentences(ALPHABETS[alphabet])
    monkeypatch.setattr(counting, "CHUNK", size)
    table = count_ngrams(pa.array(sentences), orders)
    assert table.schema == NGRAM_COUNTS
    assert rows(table) == naive_ngram_counts(sentences, orders)


@pytest.mark.parametrize("alphabet", ALPHABETS)
@pytest.mark.parametrize("padding", ["", "<>"])
def test_ngram_counts_with_another_padding(alphabet, padding):
    sentences, orders = random_sentences(ALPHABETS[alphabet]), [1, 2, 4]
    counts = count_ngrams(pa.array(sentences), orders, padding=padding)
    assert rows(counts) == naive_ngram_counts(sentences, orders, padding)


@pytest.mark.parametrize("size", [counting.CHUNK, 50])
def test_weighted_counts_equal_counts_of_repeated_sentences(monkeypatch, size):
    sentences, orders = random_sentences(ALPHABETS["planes"] + " "), [1, 2, 4]
    weights = np.random.default_rng(0).integers(1, 6, len(sentences))
    repeated = [text for text, weight in zip(sentences, weights, strict=True) for _ in range(weight)]
    monkeypatch.setattr(counting, "CHUNK", size)
    monkeypatch.setattr(counting, "WORDS_CHUNK", size)
    containing = {text: number for text, _, _, number in naive_ngram_counts(sentences, orders)}
    expected = [(*row[:3], containing[row[0]]) for row in naive_ngram_counts(repeated, orders)]
    assert rows(count_ngrams(pa.array(sentences), orders, weights=weights)) == expected
    containing = {text: number for text, _, number in naive_counts([text.split(" ") for text in sentences])}
    counts = sorted(naive_counts([text.split(" ") for text in repeated]), key=lambda row: (-row[1], row[0]))
    expected = [(text, count, containing[text]) for text, count, _ in counts if text and count >= 3]
    assert rows(count_words(pa.array(sentences), min_count=3, weights=weights)) == expected


def test_limits_of_weighted_counts():
    weights = np.array([3, 1])
    assert rows(count_words(pa.array(["a b", "a c"]), 3, weights=weights)) == [("a", 4, 2), ("b", 3, 1)]
    assert rows(count_ngrams(pa.array(["ab", "bc"]), [2], 2, 2, weights=weights)) == [(" a", 2, 3, 1), ("ab", 2, 3, 1)]


def test_limits_by_count_and_by_rank_within_an_order():
    sentences = random_sentences(ALPHABETS["planes"])
    expected = [row for row in naive_ngram_counts(sentences, [2, 3]) if row[2] >= 3]
    assert rows(count_ngrams(pa.array(sentences), [2, 3], min_count=3)) == expected
    first = [row for n in (2, 3) for row in [row for row in expected if row[1] == n][:7]]
    limited = rows(count_ngrams(pa.array(sentences), [2, 3], min_count=3, max_per_order=7))
    assert limited == [row for row in expected if row in first]


def test_sentences_of_no_ngram_and_of_five_million():
    assert rows(count_ngrams(pa.array(["a", "", " "]), [4])) == []
    assert rows(count_ngrams(pa.array([], pa.string()), [2])) == []
    assert rows(count_ngrams(pa.array(["ab", "b", ""]), [2], padding="")) == [("ab", 2, 1, 1)]
    table = count_ngrams(pa.array(["zz", "ab" * 2_500_000, "ab"]), [2], max_per_order=2)
    assert rows(table) == [("ab", 2, 2_500_001, 2), ("ba", 2, 2_499_999, 1)]


def test_counts_of_sliced_and_chunked_columns():
    columns = column_forms(["zz", "ab", None, "", "ab ab", "zz"])
    for column in columns:
        assert rows(count_words(column)) == [("ab", 3, 2)]
        assert rows(count_ngrams(column, [2], max_per_order=1)) == [(" a", 2, 3, 2)]


def test_progress_of_all_sentences():
    words, ngrams = [], []
    count_words(pa.array(["a", "b", "c"]), on_progress=words.append)
    count_ngrams(pa.array(["a", "b", "c"]), [2], on_progress=ngrams.append)
    assert sum(words) == sum(ngrams) == 3


@pytest.mark.parametrize(
    ("numbers", "offsets", "times", "expected"),
    [([1] * 40_000, [0, 40_000], 2, {1: (80_000, 2)}), ([0, 2, 0, 2, 3], [0, 2, 5], 1, {2: (2, 2), 3: (1, 1)})],
    ids=["more than a uint16", "number zero"],
)
def test_counter(numbers, offsets, times, expected):
    counter, weights = counting.OccurrenceCounter(), np.ones(len(offsets) - 1, np.int64)
    for _ in range(times):
        counter.add(np.array(numbers, np.int32), np.array(offsets), weights, max(numbers))
    found, columns = counter.at_least(1)
    counts = zip(columns["count"].tolist(), columns["sentences"].tolist(), strict=True)
    assert dict(zip(found.tolist(), counts, strict=True)) == expected


@pytest.mark.real_data
def test_ngram_counts_of_real_sentences_equal_those_of_scikit_learn(mirror):
    (path,) = mirror.glob("raw.githubusercontent.com/PrincetonML/SIF/*/data/sicktest")
    lines = path.read_text().lower().splitlines()
    sentences = [" ".join(text.split()) for line in lines for text in line.split("\t") if text.strip()]
    vectorizer = CountVectorizer(analyzer="char", ngram_range=(2, 4))
    counts = vectorizer.fit_transform([f" {text} " for text in sentences])
    columns = vectorizer.get_feature_names_out(), counts.sum(axis=0).A1, counts.getnnz(axis=0)
    expected = {text: (count, containing) for text, count, containing in zip(*columns, strict=True)}
    table = count_ngrams(pa.array(sentences), [2, 3, 4])
    assert {text: (count, containing) for text, _, count, containing in rows(table)} == expected
