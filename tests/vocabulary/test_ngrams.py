import random
from collections import Counter
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest

from paraphrastic.base.errors import DataError
from paraphrastic.vocabulary import kinds
from paraphrastic.vocabulary.kinds import CharacterVocabulary, NgramVocabulary, build_vocabulary
from tests.helpers.ragged_lists import id_counts, id_lists
from tests.helpers.random_sentences import ALPHABETS, naive_ngrams, random_sentences


def counts(ragged):
    """Return the count of each id of each sentence; ids must be ascending and distinct."""
    assert all((np.diff(ragged.ids[start:end]) > 0).all() for start, end in pairwise(ragged.offsets))
    return id_counts(ragged)


def test_counts_of_known_ngrams():
    vocabulary = NgramVocabulary(pa.array(["he ", "th", "e", "xyz", " the "]))
    ragged = vocabulary.lookup(pa.array(["the the", "", "x"]))
    assert counts(ragged) == [{0: 2, 1: 2, 2: 2, 4: 2}, {}, {}]
    assert (ragged.ids.dtype, ragged.offsets.dtype, ragged.counts.dtype) == (np.int32, np.int64, np.uint16)


def test_ngrams_across_sentences():
    vocabulary = NgramVocabulary(pa.array(["  ", "b  c", "a \n b", "b "]))
    assert counts(vocabulary.lookup(pa.array(["a b", "c d"]))) == [{3: 1}, {}]


@pytest.mark.parametrize("alphabet", ALPHABETS)
@pytest.mark.parametrize("size", [kinds.CHUNK, 100])
@pytest.mark.parametrize("padding", ["", " ", "<>"])
def test_counts_and_shares_equal_naive_ones(monkeypatch, alphabet, size, padding):
    monkeypatch.setattr(kinds, "CHUNK", size)
    sentences, orders = random_sentences(ALPHABETS[alphabet]), [1, 2, 4, 6, 9]
    windows = [naive_ngrams(text, orders, padding) for text in sentences]
    distinct = sorted(set().union(*windows))
    texts = random.Random(1).sample(distinct, len(distinct) // 2)
    texts += [text for text in ("zz", "\U0001f600" * 6) if text not in texts]
    vocabulary = NgramVocabulary(pa.array(texts), padding)
    ids = {text: i for i, text in enumerate(texts)}
    expected = [Counter(ids[ngram] for ngram in row if ngram in ids) for row in windows]
    assert counts(vocabulary.lookup(pa.array(sentences))) == expected
    shares = [
        1 - sum(known.values()) / len(row) if text else 0
        for text, row, known in zip(sentences, windows, expected, strict=True)
    ]
    np.testing.assert_allclose(vocabulary.oov_share(pa.array(sentences)), shares, atol=1e-12)


def test_few_sentences_have_the_counts_that_they_have_among_many():
    sentences = ["the the", "", "b" * 70_000, "xyz"]
    vocabulary = NgramVocabulary(pa.array(["t", "e", "b", *map(chr, range(100_000, 700_000))]))
    alone = [counts(vocabulary.lookup(pa.array([sentence])))[0] for sentence in sentences]
    many = counts(vocabulary.lookup(pa.array(["x" * 100_000, *sentences])))[1:]
    assert alone == many == [{0: 2, 1: 2}, {}, {2: 65_535}, {}]


def test_given_ids():
    vocabulary = NgramVocabulary(pa.array(["he ", "th"]), ids=np.array([3, 7], np.int32))
    assert counts(vocabulary.lookup(pa.array(["the the", "x"]))) == [{3: 2, 7: 2}, {}]


def test_out_of_vocabulary_share_by_order():
    vocabulary = NgramVocabulary(pa.array([" a", "b ", "a b "]))
    # " a b " has " a" and "b " of four bigrams, and "a b " of two 4-grams; " a " has " a" of two bigrams, and no 4-gram
    assert vocabulary.oov_share(pa.array(["a b", "a", "xyz", ""])).tolist() == [0.5, 0.5, 1, 0]


def test_largest_count():
    ragged = NgramVocabulary(pa.array(["aa", "a "])).lookup(pa.array(["a" * 65_536, "a" * 65_537]))
    assert counts(ragged) == [{0: 65_535, 1: 1}, {0: 65_535, 1: 1}]


def test_sentence_of_five_million_characters():
    ragged = NgramVocabulary(pa.array(["ab", "ba", "zz"])).lookup(pa.array(["zzz", "ab" * 2_500_000, "zz"]))
    assert counts(ragged) == [{2: 2}, {0: 65_535, 1: 65_535}, {2: 1}]


def test_text_beyond_the_range_of_32_bit_offsets(tmp_path):
    start, text = 2**31 + 5, "ab é".encode()
    data = np.memmap(tmp_path / "text", np.uint8, "w+", shape=start + len(text))  # sparse: takes no space
    data[start:] = np.frombuffer(text, np.uint8)
    offsets = np.array([start, start + 3, start + len(text)])
    texts = pa.LargeStringArray.from_buffers(2, pa.py_buffer(offsets), pa.py_buffer(data))
    assert counts(NgramVocabulary(pa.array(["ab", "é "])).lookup(texts)) == [{0: 1}, {1: 1}]


OF_CHARACTERS = CharacterVocabulary(pa.array(["e", " ", "é", "中", "😀", "\U0010ffff", "\0"]))


def test_ids_of_known_and_unknown_characters():
    ragged = OF_CHARACTERS.lookup(pa.array(["ex é", "", "中😀\U0010ffff\0", " "]))
    assert id_lists(ragged) == [[2, 1, 0, 2, 3, 2], [], [2, 4, 5, 6, 7, 2], [2, 2, 2]]
    assert ragged.ids.dtype == np.int32
    assert ragged.offsets.dtype == np.int64
    assert ragged.counts is None


@pytest.mark.parametrize("kind", ["ngrams", "words+ngrams"])
def test_spaces_alone_are_nothing_known(kind):
    vocabulary = build_vocabulary(kind, pa.array([" ", "a", "a ", " b "]))
    known = vocabulary.has_known(vocabulary.lookup(pa.array(["zz", "z z", "", "za", "b"])))
    assert known.tolist() == [False, False, False, True, True]


def test_ids_of_a_combining_mark():
    assert id_lists(OF_CHARACTERS.lookup(pa.array(["e\u0301", "é"]))) == [[2, 1, 0, 2], [2, 3, 2]]


def test_out_of_vocabulary_share_without_padding():
    share = OF_CHARACTERS.oov_share(pa.array(["xy", "", "ex", None]))
    assert share.tolist() == [1, 0, 0.5, 0]
    assert share.dtype == np.float64
    assert CharacterVocabulary(pa.array(["e"])).oov_share(pa.array(["e\n"])).tolist() == [0.5]
    sentences = pa.array(["zz", "ze", "", "z z"])
    assert OF_CHARACTERS.has_known(OF_CHARACTERS.lookup(sentences)).tolist() == [False, True, False, False]


@pytest.mark.parametrize("alphabet", ALPHABETS)
@pytest.mark.parametrize("size", [kinds.CHUNK, 50])
def test_ids_and_shares_equal_naive_ones(monkeypatch, alphabet, size):
    monkeypatch.setattr(kinds, "CHUNK", size)
    known = dict.fromkeys(ALPHABETS[alphabet][::2])
    ids = {character: i for i, character in enumerate(known, 1)}
    sentences = random_sentences(ALPHABETS[alphabet])
    expected = [[ids.get(character, 0) for character in f" {text} "] if text else [] for text in sentences]
    vocabulary = CharacterVocabulary(pa.array(list(known)))
    assert id_lists(vocabulary.lookup(pa.array(sentences))) == expected
    shares = [row[1:-1].count(0) / max(len(row) - 2, 1) for row in expected]
    np.testing.assert_allclose(vocabulary.oov_share(pa.array(sentences)), shares)


@pytest.mark.parametrize(
    ("texts", "message"), [(["é", "ab"], "'ab' is not one character"), (["e\u0301"], "is not one character")]
)
def test_vocabulary_with_invalid_entry(texts, message):
    with pytest.raises(DataError, match=message) as error:
        CharacterVocabulary(pa.chunked_array([texts]))
    assert "\n" not in str(error.value)
