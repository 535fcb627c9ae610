import random
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest

from paraphrastic.errors import DataError
from paraphrastic.text import ngrams
from paraphrastic.vocabulary.ngrams import NgramVocabulary
from tests.plain_text import ALPHABETS, random_sentences, windows


def dictionaries(bags):
    """Per sentence, count by id; ids must be ascending and distinct."""
    spans = list(zip(bags.offsets, bags.offsets[1:], strict=False))
    assert all((np.diff(bags.ids[start:end]) > 0).all() for start, end in spans)
    return [dict(zip(bags.ids[a:b].tolist(), bags.counts[a:b].tolist(), strict=True)) for a, b in spans]


def test_ids_are_rows_of_the_vocabulary_with_counts_and_unknown_ngrams_are_left_out():
    vocabulary = NgramVocabulary(pa.array(["he ", "th", "e", "xyz", " the "]))
    bags = vocabulary.lookup(pa.array(["the the", "", "x"]))
    assert dictionaries(bags) == [{0: 2, 1: 2, 2: 2, 4: 2}, {}, {}]
    assert (bags.ids.dtype, bags.offsets.dtype, bags.counts.dtype) == (np.int32, np.int64, np.uint16)
    assert len(vocabulary) == 5


def test_an_ngram_ends_with_its_sentence():
    vocabulary = NgramVocabulary(pa.array(["  ", "b  c", "a \n b", "b "]))
    assert dictionaries(vocabulary.lookup(pa.array(["a b", "c d"]))) == [{3: 1}, {}]


@pytest.mark.parametrize("alphabet", ALPHABETS)
@pytest.mark.parametrize("size", [ngrams.PIECE, 100])
def test_look_up_agrees_with_counting_the_plain_way(monkeypatch, alphabet, size):
    monkeypatch.setattr(ngrams, "PIECE", size)
    sentences, orders = random_sentences(ALPHABETS[alphabet]), [1, 2, 4, 6, 9]
    seen = sorted(set().union(*(windows(text, orders) for text in sentences)))
    texts = random.Random(1).sample(seen, len(seen) // 2)
    texts += [text for text in ("zz", "\U0001f600" * 6) if text not in texts]
    bags = NgramVocabulary(pa.array(texts)).lookup(pa.array(sentences))
    row = {text: i for i, text in enumerate(texts)}
    expected = [Counter(row[w] for w in windows(text, orders) if w in row) for text in sentences]
    assert dictionaries(bags) == expected


def test_unknown_is_the_share_of_windows_of_the_vocabularys_orders():
    vocabulary = NgramVocabulary(pa.array([" a", "b ", "a b "]))
    # " a b ": " a", "b " of four bigrams, "a b " of two 4-grams; " a ": " a" of two bigrams, no 4-gram
    assert vocabulary.unknown(pa.array(["a b", "a", "xyz", ""])).tolist() == [0.5, 0.5, 1, 0]


def test_counts_stop_at_the_largest_uint16():
    bags = NgramVocabulary(pa.array(["aa", "a "])).lookup(pa.array(["a" * 65_536, "a" * 65_537]))
    assert dictionaries(bags) == [{0: 65_535, 1: 1}, {0: 65_535, 1: 1}]


def test_a_sentence_of_five_million_characters():
    bags = NgramVocabulary(pa.array(["ab", "ba", "zz"])).lookup(pa.array(["zzz", "ab" * 2_500_000, "zz"]))
    assert dictionaries(bags) == [{2: 2}, {0: 65_535, 1: 65_535}, {2: 1}]


def test_any_layout_of_the_column_gives_the_same():
    texts = ["zz", "ab", None, "", "ab ab", "zz"]
    whole = pa.array(texts)
    columns = [
        whole.slice(1, 4),
        pa.array(texts, pa.large_string()).slice(1, 4),
        pa.chunked_array([whole.slice(1, 2), whole.slice(0, 0), whole.slice(3, 2)]),
    ]
    vocabulary = NgramVocabulary(pa.chunked_array([["ab"], ["  "]]))
    for column in columns:
        assert dictionaries(vocabulary.lookup(column)) == [{0: 1}, {1: 1}, {1: 1}, {0: 2}]
        assert vocabulary.unknown(column).tolist() == pytest.approx([2 / 3, 0, 0, 4 / 6])


def test_text_beyond_the_reach_of_32_bit_offsets(tmp_path):
    start, text = 2**31 + 5, "ab é".encode()
    data = np.memmap(tmp_path / "text", np.uint8, "w+", shape=start + len(text))  # sparse: takes no space
    data[start:] = np.frombuffer(text, np.uint8)
    offsets = np.array([start, start + 3, start + len(text)])
    far = pa.LargeStringArray.from_buffers(2, pa.py_buffer(offsets), pa.py_buffer(data))
    assert dictionaries(NgramVocabulary(pa.array(["ab", "é "])).lookup(far)) == [{0: 1}, {1: 1}]


@pytest.mark.parametrize("none", [pa.array([], pa.string()), pa.chunked_array([], pa.string())])
def test_no_sentences_give_no_bags(none):
    vocabulary = NgramVocabulary(pa.array(["ab"]))
    bags = vocabulary.lookup(none)
    assert len(bags) == len(bags.ids) == len(bags.counts) == len(vocabulary.unknown(none)) == 0


def test_an_empty_vocabulary_knows_nothing():
    nothing = NgramVocabulary(pa.array([], pa.string()))
    assert dictionaries(nothing.lookup(pa.array(["ab", ""]))) == [{}, {}]
    assert nothing.unknown(pa.array(["ab", ""])).tolist() == [0, 0]  # of no order at all


@pytest.mark.parametrize(
    ("texts", "complaint"),
    [(["ab", "b", "ab"], "'ab' stands 2 times"), (["a", ""], "empty"), (["a", None], "empty")],
)
def test_a_vocabulary_holds_each_ngram_once(texts, complaint):
    with pytest.raises(DataError, match=complaint):
        NgramVocabulary(pa.array(texts))
