from dataclasses import replace
from itertools import product

import numpy as np
import pyarrow as pa
import pytest

from paraphrastic.base.tables import RAW, indexed_schema
from paraphrastic.text import columns
from paraphrastic.text.columns import (
    MAX_COUNT,
    GrowingArray,
    Ragged,
    TextNumbering,
    chunks,
    concat,
    deduplicate,
    hash_texts,
    offsets_from_lengths,
    split_words,
)
from paraphrastic.text.tokenizer import normalize, tokenize_tables
from tests.helpers.hard_text import hard_sentences
from tests.helpers.ragged_lists import id_counts, id_lists


def lists(sentences, size):
    return [chunk.to_pylist() for chunk in chunks(sentences, size)]


def test_chunks_of_about_the_given_size():
    sentences = pa.array(["word"] * 1000)
    sizes = [len(chunk) for chunk in chunks(sentences, 700)]  # 7 bytes are counted for each sentence
    assert sum(sizes) == 1000
    assert {*sizes[1:-1]} == {100}


def test_chunks_contain_each_sentence_in_order(monkeypatch):
    texts = [f"{n} " * (n % 7) for n in range(100)]
    monkeypatch.setattr(columns, "_ROWS", 13)
    for size in (1, 20, 1 << 20):
        parts = lists(pa.chunked_array([texts[:40], [], texts[40:]], pa.string()), size)
        assert [text for part in parts for text in part] == texts


@pytest.mark.parametrize(
    ("column", "size", "expected"),
    [
        (pa.array(["a", "b" * 100, "c"]), 10, [["a"], ["b" * 100], ["c"]]),
        (pa.array(["a", None, "b"]), 100, [["a", "", "b"]]),
        (pa.array([], pa.string()), 10, [[]]),
        (pa.chunked_array([], pa.string()), 10, [[]]),
        (pa.array(["x", "a", "b", "x"]).slice(1, 2), 100, [["a", "b"]]),
    ],
    ids=["long sentence", "null", "empty", "no chunks", "slice"],
)
def test_chunks_of_odd_columns(column, size, expected):
    assert lists(column, size) == expected


@pytest.mark.parametrize(
    ("column", "expected", "starts"),
    [
        (pa.array(["the cat", "", " a  b "]), ["the", "cat", "a", "b"], [0, 2, 2, 4]),
        (pa.array(["a\u00a0b c\u3000d", "e\tf"]), ["a\u00a0b", "c\u3000d", "e\tf"], [0, 2, 3]),  # spaces only
        (pa.array(["x y", "a b", "c", "z"]).slice(1, 2), ["a", "b", "c"], [0, 2, 3]),
    ],
)
def test_words_and_offsets_of_sentences(column, expected, starts):
    words, offsets = split_words(column)
    assert words.to_pylist() == expected
    assert offsets.tolist() == starts
    assert offsets.dtype == np.int64


@pytest.mark.parametrize(
    ("lengths", "expected"), [([2, 0, 3], [0, 2, 2, 5]), ([], [0]), ([True, False, True], [0, 1, 1, 2])]
)
def test_offsets_from_lengths(lengths, expected):
    offsets = offsets_from_lengths(np.array(lengths, bool if True in lengths else np.int32))
    assert offsets.tolist() == expected
    assert offsets.dtype == np.int64


def test_chunks_of_an_iterator_of_arrays():
    arrays = [pa.array(["a", None]), pa.array([], pa.string()), pa.array(["b"])]
    assert lists(iter(arrays), 1 << 20) == [["a", ""], ["b"]]
    assert lists(iter([]), 1 << 20) == lists(iter(arrays[1:2]), 1 << 20) == [[]]


@pytest.mark.parametrize("seed", range(4))
def test_array_that_grows(seed):
    generator, growing, parts = np.random.default_rng(seed), GrowingArray(np.int16), []
    for _ in range(50):
        parts.append(generator.integers(-99, 99, generator.integers(40), np.int16))
        growing.extend(parts[-1])
    assert growing.values().dtype == np.int16
    assert growing.values().tolist() == np.concatenate(parts).tolist()
    assert GrowingArray(np.uint8).values().tolist() == []


EMPTY = pa.array([], pa.string())
CHUNKED = pa.chunked_array([["x"], [], ["b", "a", "b"], ["c"]]).slice(1)


@pytest.mark.parametrize(
    ("given", "expected", "numbers"),
    [
        ([pa.array(["b", "a", "b"]), pa.array(["c", "a", ""])], ["b", "a", "c", ""], [[0, 1, 0], [2, 1, 3]]),
        ([CHUNKED, EMPTY, pa.array(["z", "c", "a"]).slice(1)], ["b", "a", "c"], [[0, 1, 0, 2], [], [2, 1]]),
        ([], [], []),
        ([EMPTY, pa.chunked_array([], pa.string())], [], [[], []]),
    ],
)
def test_distinct_texts_in_order_of_first_occurrence(given, expected, numbers):
    texts, rows = deduplicate(given)
    assert texts.equals(pa.array(expected, pa.string()))
    assert [row.tolist() for row in rows] == numbers
    assert all(row.dtype == np.int32 for row in rows)


def raw_table(kind, *rows):
    return pa.Table.from_pylist([dict(zip(RAW[kind].names, row, strict=True)) for row in rows], RAW[kind])


def test_tables_with_rows_of_tokenized_sentences():
    sentences, tables = tokenize_tables(
        {
            "similarity": raw_table("similarity", ("s", "test", "It's A.", "B", 3.0), ("s", "test", "b", "", 0.0)),
            "labelled_sentences": raw_table("labelled_sentences", ("t", "dev", "it's a.", 1)),
            "ranking": raw_table("ranking"),
            "tagged_tokens": raw_table("tagged_tokens", ("e", "train", 0, "It's", "PRP", None, None)),
        }
    )
    assert sentences.to_pylist() == ["it 's a .", "b", ""]
    assert tables["similarity"].select(["left", "right", "score"]).to_pydict() == {
        "left": [0, 1],
        "right": [1, 2],
        "score": [3.0, 0.0],
    }
    assert tables["labelled_sentences"]["left"].to_pylist() == [0]
    assert tables["tagged_tokens"]["token"].to_pylist() == ["It's"]
    assert all(table.schema.equals(indexed_schema(kind)) for kind, table in tables.items())


def test_sets_whose_text_is_not_tokenized():
    tables = {
        "similarity": raw_table("similarity", ("a.b", "test", "It's A.", "B", 3.0), ("c", "test", "It's", "B", 0.0))
    }
    sentences, tables = tokenize_tables(tables, r"^a\.")
    left, right = (
        sentences.take(tables["similarity"][side].combine_chunks()).to_pylist() for side in ("left", "right")
    )
    assert (left, right) == (["It's A.", "it 's"], ["B", "b"])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The cat -- it 's HERE !", "the cat it s here"),
        ("3.5 % of x-rays", "3 5 of x rays"),
        ("Ça va ? ПРИВЕТ, 日本 हिन्दी", "ça va привет 日本 हिन्दी"),
        (" ... ", ""),
        ("", ""),
    ],
)
def test_letters_and_digits_with_single_spaces(text, expected):
    assert normalize(pa.array([text])).to_pylist() == [expected]


def naive_hash(text):
    value = 0xCBF29CE484222325
    for byte in text.encode():
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return (value ^ value >> 32) * 0x9E3779B97F4A7C15 % 2**64


def test_hashes_are_those_of_fnv_1a():
    texts = ["", "a", "foobar", "日本", "a" * 1000]
    for column in (pa.array(texts), pa.array(texts).slice(1, 2), pa.array([], pa.string())):
        assert hash_texts(column).tolist() == list(map(naive_hash, column.to_pylist()))


def test_no_two_of_a_million_texts_have_the_same_hash():
    texts = ["".join(letters) for letters in product("abcdefghijklmnopqrstuvwxyz012345", repeat=4)]
    assert len(np.unique(hash_texts(pa.array(texts)))) == len(texts) == 2**20


@pytest.mark.parametrize("seed", range(3))
def test_numbers_in_order_of_first_occurrence(seed):
    numbering, known = TextNumbering(), {}
    for part in range(20):
        texts = [*hard_sentences(30, seed=seed).to_pylist()[part : part + 9], f"{part // 2}"]
        numbers = [known.setdefault(text, len(known)) for text in texts]
        assert numbering.add(hash_texts(pa.array(texts))).tolist() == numbers
        assert len(numbering) == len(known)
    assert numbering.hashes.tolist() == hash_texts(pa.array(list(known))).tolist()


def test_texts_without_number():
    numbering = TextNumbering()
    assert numbering.find(hash_texts(pa.array(["a"]))).tolist() == [-1]
    numbering.add(hash_texts(pa.array(["a", "b"])))
    assert numbering.find(hash_texts(pa.array(["b", "c", "a"]))).tolist() == [1, -1, 0]
    assert len(numbering) == 2


def ragged(*sentences):
    """Return lists of ids as `Ragged`."""
    ids = np.array([number for sentence in sentences for number in sentence], np.int32)
    return Ragged(ids, np.cumsum([0, *map(len, sentences)]))


def counted(*sentences):
    """Return dictionaries from id to count as `Ragged`."""
    counts = [count for sentence in sentences for count in sentence.values()]
    return replace(ragged(*sentences), counts=np.array(counts, np.uint16))


WORDS = ragged([3, 1, 3], [], [0, 2])
NGRAMS = counted({1: 2, 4: 1}, {}, {2: 65_535})


def test_lengths_and_count_values_with_and_without_counts():
    assert len(WORDS) == 3
    assert WORDS.lengths.tolist() == [3, 0, 2]
    for dtype in (np.float32, np.float64, np.int64):
        ones, counts = WORDS.count_values(dtype), NGRAMS.count_values(dtype)
        assert ones.tolist() == [1, 1, 1, 1, 1]
        assert counts.tolist() == [2, 1, 65_535]
        assert ones.dtype == counts.dtype == dtype


def test_take_of_repeated_and_empty_sentences():
    rows = np.array([2, 0, 1, 2])
    assert id_lists(WORDS.take(rows)) == [[0, 2], [3, 1, 3], [], [0, 2]]
    assert WORDS.take(rows).counts is None
    assert id_counts(NGRAMS.take(rows)) == [{2: 65_535}, {1: 2, 4: 1}, {}, {2: 65_535}]
    empty = NGRAMS.take(np.array([], np.int64))
    assert (len(empty), len(empty.ids), len(empty.counts)) == (0, 0, 0)
    assert WORDS.positions(np.array([2, 1, 0])).tolist() == [3, 4, 0, 1, 2]


def test_merge_repeats_drops_the_unknown_id():
    merged = WORDS.merge_repeats()
    assert id_counts(merged) == [{1: 1, 3: 2}, {}, {2: 1}]
    assert list(id_counts(merged)[0]) == [1, 3]  # ascending
    assert (merged.ids.dtype, merged.offsets.dtype, merged.counts.dtype) == (np.int32, np.int64, np.uint16)
    assert id_counts(ragged([5] * (MAX_COUNT + 10)).merge_repeats()) == [{5: MAX_COUNT}]
    assert id_counts(ragged([0, 0], []).merge_repeats()) == [{}, {}]


def test_hstack_of_counted_sentences():
    both = NGRAMS.hstack(counted({9: 1}, {7: 3, 8: 4}, {}))
    assert id_counts(both) == [{1: 2, 4: 1, 9: 1}, {7: 3, 8: 4}, {2: 65_535}]
    assert id_lists(both)[0] == [1, 4, 9]
    assert (both.ids.dtype, both.counts.dtype) == (np.int32, np.uint16)
    for left, right in ((WORDS, NGRAMS), (NGRAMS, WORDS), (WORDS, WORDS)):
        with pytest.raises(ValueError, match=r"^hstack needs counts on both sides$"):
            left.hstack(right)


def test_occurrences_and_share_of_an_id():
    assert WORDS.occurrences(3).tolist() == [2, 0, 0]
    assert WORDS.occurrences(7).tolist() == [0, 0, 0]
    share = WORDS.share_of_id(3)
    assert share.tolist() == [2 / 3, 0, 0]
    assert share.dtype == np.float64
    assert WORDS.share_of_id(0).tolist() == [0, 0, 0.5]


def test_concat_of_sentences_with_and_without_counts():
    assert id_lists(concat([WORDS, ragged(), WORDS])) == [[3, 1, 3], [], [0, 2]] * 2
    assert concat([WORDS]).counts is None
    assert id_counts(concat(part for part in (NGRAMS, NGRAMS))) == id_counts(NGRAMS) * 2
