from dataclasses import replace

import numpy as np
import pytest

from paraphrastic.vocabulary.ragged import MAX_COUNT, Ragged, concat
from tests.helpers.ragged_lists import id_counts, id_lists


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


def test_number_and_lengths_of_sentences():
    assert len(WORDS) == 3
    assert WORDS.lengths.tolist() == [3, 0, 2]


def test_count_values_with_and_without_counts():
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


def test_take_of_no_sentence():
    empty = NGRAMS.take(np.array([], np.int64))
    assert (len(empty), len(empty.ids), len(empty.counts)) == (0, 0, 0)


def test_positions_of_sentences():
    assert WORDS.positions(np.array([2, 1, 0])).tolist() == [3, 4, 0, 1, 2]


def test_merge_repeats_drops_the_unknown_id():
    merged = WORDS.merge_repeats()
    assert id_counts(merged) == [{1: 1, 3: 2}, {}, {2: 1}]
    assert list(id_counts(merged)[0]) == [1, 3]  # ascending
    assert (merged.ids.dtype, merged.offsets.dtype, merged.counts.dtype) == (np.int32, np.int64, np.uint16)


def test_merge_repeats_of_more_than_the_largest_count():
    assert id_counts(ragged([5] * (MAX_COUNT + 10)).merge_repeats()) == [{5: MAX_COUNT}]


def test_merge_repeats_of_unknown_ids_only():
    assert id_counts(ragged([0, 0], []).merge_repeats()) == [{}, {}]


def test_hstack_of_counted_sentences():
    both = NGRAMS.hstack(counted({9: 1}, {7: 3, 8: 4}, {}))
    assert id_counts(both) == [{1: 2, 4: 1, 9: 1}, {7: 3, 8: 4}, {2: 65_535}]
    assert id_lists(both)[0] == [1, 4, 9]
    assert (both.ids.dtype, both.counts.dtype) == (np.int32, np.uint16)


def test_hstack_without_counts():
    for left, right in ((WORDS, NGRAMS), (NGRAMS, WORDS), (WORDS, WORDS)):
        with pytest.raises(ValueError, match="hstack needs counts on both sides"):
            left.hstack(right)


def test_occurrences_of_an_id():
    assert WORDS.occurrences(3).tolist() == [2, 0, 0]
    assert WORDS.occurrences(7).tolist() == [0, 0, 0]


def test_share_of_an_id():
    share = WORDS.share_of_id(3)
    assert share.tolist() == [2 / 3, 0, 0]
    assert share.dtype == np.float64
    assert WORDS.share_of_id(0).tolist() == [0, 0, 0.5]


def test_concat_of_sentences_with_and_without_counts():
    assert id_lists(concat([WORDS, ragged(), WORDS])) == [[3, 1, 3], [], [0, 2]] * 2
    assert concat([WORDS]).counts is None
    assert id_counts(concat(part for part in (NGRAMS, NGRAMS))) == id_counts(NGRAMS) * 2
