"""Pairs of adjacent words as entries of a vocabulary.

A pair is stored as the n-gram of its characters with a space at each end: ` of the ` occurs as often as `of` stands
before `the`.
"""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from paraphrastic.text.columns import Hashes, Ragged, TextNumbering, hash_texts, offsets_from_lengths

_ODD = np.uint64(0x9E3779B97F4A7C15)  # 2^64 / golden ratio; makes the hash of a pair depend on its order


def is_bigram(texts: pa.StringArray | pa.ChunkedArray) -> pa.BooleanArray | pa.ChunkedArray:
    """Return which entries are pairs of adjacent words, or n-grams of the same form, (n,)."""
    return pc.match_substring_regex(texts, "^ [^ ]+ [^ ]+ $")


class BigramVocabulary:
    """Maps pairs of adjacent words to ids.

    Args:
        texts: the pairs, in the form of `is_bigram`, each once.
        ids: of the pairs, ascending, (len(texts),).
    """

    def __init__(self, texts: pa.StringArray, ids: NDArray[np.int32]) -> None:
        hashes = hash_texts(pc.split_pattern(pc.utf8_trim(texts, " "), " ").flatten())
        self._numbering, self._ids = TextNumbering(), ids
        self._numbering.add(_pair_hashes(hashes[0::2], hashes[1::2]))

    def __len__(self) -> int:
        return len(self._numbering)

    def find(self, words: Hashes, offsets: NDArray[np.int64]) -> Ragged:
        """Return the distinct known pairs of each sentence, ascending, with their counts.

        Args:
            words: hashes of the words of n sentences.
            offsets: (n + 1,), of the sentences in `words`.
        """
        numbers = np.full(len(words), -1, np.int32)  # of each word with the next
        numbers[:-1] = self._numbering.find(_pair_hashes(words[:-1], words[1:]))
        numbers[offsets[1:][np.diff(offsets) > 0] - 1] = -1  # the next word is in another sentence
        known = numbers >= 0
        found = Ragged(numbers[known] + np.int32(1), offsets_from_lengths(known)[offsets]).merge_repeats()
        return Ragged(self._ids[found.ids - 1], found.offsets, found.counts)


def _pair_hashes(first: Hashes, second: Hashes) -> Hashes:
    return first * _ODD ^ second
