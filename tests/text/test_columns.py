import numpy as np
import pyarrow as pa
import pytest

from paraphrastic.text import columns
from paraphrastic.text.columns import GrowingArray, chunks, offsets_from_lengths, split_words


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


def test_chunk_of_a_long_sentence():
    assert lists(pa.array(["a", "b" * 100, "c"]), 10) == [["a"], ["b" * 100], ["c"]]


def test_chunk_of_a_null():
    assert lists(pa.array(["a", None, "b"]), 100) == [["a", "", "b"]]


@pytest.mark.parametrize("empty", [pa.array([], pa.string()), pa.chunked_array([], pa.string())])
def test_chunk_of_an_empty_column(empty):
    assert lists(empty, 10) == [[]]


def test_chunks_of_a_sliced_column():
    assert lists(pa.array(["x", "a", "b", "x"]).slice(1, 2), 100) == [["a", "b"]]


def test_words_and_offsets_of_sentences():
    words, offsets = split_words(pa.array(["the cat", "", " a  b "]))
    assert words.to_pylist() == ["the", "cat", "a", "b"]
    assert offsets.tolist() == [0, 2, 2, 4]
    assert offsets.dtype == np.int64


def test_words_are_separated_by_spaces_only():
    assert split_words(pa.array(["a\u00a0b c\u3000d", "e\tf"]))[0].to_pylist() == ["a\u00a0b", "c\u3000d", "e\tf"]


def test_words_of_a_sliced_column():
    words, offsets = split_words(pa.array(["x y", "a b", "c", "z"]).slice(1, 2))
    assert words.to_pylist() == ["a", "b", "c"]
    assert offsets.tolist() == [0, 2, 3]


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
