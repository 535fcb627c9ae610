"""Numbers of texts by their hashes."""

from itertools import product

import numpy as np
import pyarrow as pa
import pytest

from paraphrastic.text.numbering import TextNumbering, hash_texts
from tests.helpers.hard_text import hard_sentences


def naive_hash(text):
    value = 0xCBF29CE484222325
    for byte in text.encode():
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return (value ^ value >> 32) * 0x9E3779B97F4A7C15 % 2**64


def test_hashes_are_those_of_fnv_1a():
    texts = ["", "a", "foobar", "日本", "a" * 1000]
    assert hash_texts(pa.array(texts)).tolist() == list(map(naive_hash, texts))


def test_hashes_of_slices_and_of_no_text():
    texts = pa.array(["x", "a", "foobar", ""])
    assert hash_texts(texts.slice(1, 2)).tolist() == [naive_hash("a"), naive_hash("foobar")]
    assert len(hash_texts(pa.array([], pa.string()))) == 0


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
