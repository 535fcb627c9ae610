"""The four kinds of vocabulary that models read text with: words, n-grams, both, and characters."""

import sys
from abc import ABC, abstractmethod
from collections.abc import Collection
from dataclasses import replace
from typing import Literal, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from paraphrastic.base.errors import DataError
from paraphrastic.text.columns import (
    UNKNOWN,
    Hashes,
    Ragged,
    TextColumns,
    TextNumbering,
    check_vocabulary,
    chunks,
    concat,
    hash_texts,
    offsets_from_lengths,
    split_words,
)
from paraphrastic.vocabulary.ngrams import CHUNK, NgramNumbering, code_points, distinct_ids

VocabularyKind = Literal["words", "ngrams", "words+ngrams", "characters"]
BoundaryTokens = Literal["none", "start", "end", "both"]
Mask: TypeAlias = pa.BooleanArray | pa.ChunkedArray
Entries: TypeAlias = pa.StringArray | pa.ChunkedArray

START, END = "<s>", "</s>"
_ODD = np.uint64(0x9E3779B97F4A7C15)  # 2^64 / golden ratio; makes the hash of a pair depend on its order


class Vocabulary(ABC):
    """Maps tokenized sentences to ids, which are rows of an embedding table."""

    _added = 0  # boundary tokens of every sentence
    # ids that `has_known` does not count: of unknown entries, and of the space that the ends of every sentence have
    _not_counted: Collection[int] = ()

    def lookup(self, sentences: TextColumns) -> Ragged:
        """Return the ids of each sentence."""
        return concat(map(self.lookup_chunk, chunks(sentences, CHUNK)))

    def has_known(self, looked_up: Ragged) -> NDArray[np.bool_]:
        """Return which sentences, as `lookup` returned them, have an entry beside spaces and boundary tokens, (n,)."""
        others = sum(map(looked_up.occurrences, self._not_counted))
        known: NDArray[np.bool_] = looked_up.lengths - self._added > others
        return known

    def oov_share(self, sentences: TextColumns) -> NDArray[np.float64]:
        """Return the share of each sentence's words, n-grams or characters that the vocabulary lacks, (n,).

        It is 0 for an empty sentence.
        """
        return np.concatenate([*map(self.oov_share_of_chunk, chunks(sentences, CHUNK))])

    @abstractmethod
    def lookup_chunk(self, sentences: pa.StringArray) -> Ragged:
        """Return `lookup` of about `CHUNK` bytes of text without nulls."""

    @abstractmethod
    def oov_share_of_chunk(self, sentences: pa.StringArray) -> NDArray[np.float64]:
        """Return `oov_share` of about `CHUNK` bytes of text without nulls."""


def build_vocabulary(kind: VocabularyKind, texts: Entries, boundary_tokens: BoundaryTokens = "none") -> Vocabulary:
    """Return the vocabulary of the entries `texts`, in row order of the embedding table.

    Args:
        kind: what the entries are.
        texts: the entries, each once.
        boundary_tokens: tokens that enclose a sentence of words.
    """
    if kind == "words":
        return WordVocabulary(texts, boundary_tokens)
    if kind == "characters":
        return CharacterVocabulary(texts)
    return NgramVocabulary(texts) if kind == "ngrams" else WordNgramVocabulary(texts)


class WordVocabulary(Vocabulary):
    """Maps the words of tokenized sentences, and boundary tokens, to ids in reading order.

    Args:
        texts: the words, each once. The i-th word has id i + 1; id 0 stands for every other word.
        boundary_tokens: which of `START` and `END` enclose each sentence that is not empty.

    Raises:
        DataError: a word is empty or occurs twice.
    """

    def __init__(self, texts: Entries, boundary_tokens: BoundaryTokens = "none") -> None:
        self._boundary_tokens, self._numbering = boundary_tokens, TextNumbering()
        self._added, self._not_counted = sum(boundary_widths(boundary_tokens)), [UNKNOWN]
        self._numbering.add(hash_texts(check_vocabulary(texts, "words")))

    def lookup_chunk(self, sentences: pa.StringArray) -> Ragged:
        """See `Vocabulary`."""
        return self.find(*_hash_words(add_boundary_tokens(sentences, self._boundary_tokens)))

    def oov_share_of_chunk(self, sentences: pa.StringArray) -> NDArray[np.float64]:
        """See `Vocabulary`; boundary tokens do not count."""
        return self.find(*_hash_words(sentences)).share_of_id(UNKNOWN)

    def find(self, words: Hashes, offsets: NDArray[np.int64]) -> Ragged:
        """Return the ids of the words of n sentences, by their hashes and offsets, (n + 1,)."""
        return Ragged(self._numbering.find(words) + np.int32(1), offsets)


class NgramVocabulary(Vocabulary):
    """Maps the distinct known character n-grams of tokenized sentences to ids, with counts of at most 65,535.

    N-grams of orders that the vocabulary does not have are not out of vocabulary.

    Args:
        texts: the n-grams, each once, of any orders.
        padding: text that is added at both ends of each sentence.
        ids: of the n-grams, ascending, (len(texts),); None: the i-th n-gram has id i.

    Raises:
        DataError: an n-gram is empty or occurs twice.
    """

    def __init__(self, texts: Entries, padding: str = " ", ids: NDArray[np.int32] | None = None) -> None:
        texts = check_vocabulary(texts, "n-grams")
        points, offsets = code_points(texts, "")
        lengths = np.diff(offsets) - 1
        ids = np.arange(len(lengths), dtype=np.int32) if ids is None else ids
        self._not_counted = ids[np.flatnonzero(pc.equal(texts, " "))].tolist()
        self._end, self._padding = int(ids.max(initial=-1)) + 1, padding
        self._orders: list[int] = np.unique(lengths).tolist()
        self._levels: list[tuple[NgramNumbering, NDArray[np.int32]]] = []  # with the id of each number, −1 for none
        numbers = np.ones(len(lengths), np.int32)
        for n in range(lengths.max(initial=0)):
            numbering = NgramNumbering()
            # (entries,): character n of each entry; a shorter entry reads the 0 after its end
            numbering.add(numbers, points[np.minimum(offsets[:-1] + n, offsets[1:] - 1)])
            id_of = np.full(numbering.size + 1, -1, np.int32)
            rows = np.flatnonzero(lengths == n + 1)
            id_of[numbers[rows]] = ids[rows]
            self._levels.append((numbering, id_of))

    def lookup_chunk(self, sentences: pa.StringArray) -> Ragged:
        """See `Vocabulary`."""
        return distinct_ids(*self._windows(sentences), self._end)

    def oov_share_of_chunk(self, sentences: pa.StringArray) -> NDArray[np.float64]:
        """See `Vocabulary`."""
        windows, offsets = self._windows(sentences)
        known = np.diff(offsets_from_lengths((windows >= 0).sum(axis=0))[offsets])
        lengths = np.diff(offsets) - 1  # padding included
        total = sum((np.maximum(lengths - n + 1, 0) for n in self._orders), np.zeros_like(lengths))
        missing = np.where(lengths > 2 * len(self._padding), total - known, 0)
        shares: NDArray[np.float64] = missing / np.maximum(total, 1)
        return shares

    def _windows(self, sentences: pa.StringArray) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Return the id of the window that starts at each character, −1 for none, (orders, characters); offsets."""
        points, offsets = code_points(sentences, self._padding)
        numbers = np.ones(len(points), np.int32)
        windows = np.empty((len(self._orders), len(points)), np.int32)
        for n, (numbering, ids) in enumerate(self._levels, 1):
            numbering.find(numbers, points[n - 1 :])
            if n in self._orders:
                # mode="clip" writes to `out` directly; the other modes copy through a buffer
                ids.take(numbers, out=windows[self._orders.index(n)], mode="clip")
        return windows, offsets


class CharacterVocabulary(Vocabulary):
    """Maps the characters of tokenized sentences to ids in reading order.

    The characters of a sentence are the Unicode code points of its text with one space added at each end
    (charagram2016 §4.1.2). An empty text has none. The added spaces, and known sentences of spaces, do not count.

    Args:
        texts: the characters, each once. The i-th character has id i + 1; id 0 stands for every other character.

    Raises:
        DataError: an entry is not a single character, or occurs twice.
    """

    def __init__(self, texts: Entries) -> None:
        texts = check_vocabulary(texts, "characters")
        long = texts.filter(pc.greater(pc.utf8_length(texts), 1))
        if len(long):
            found = f"vocabulary of {len(texts)} characters: {long[0].as_py()!r}"
            raise DataError(f"{found} is not one character; remove it")
        points, _ = code_points(texts, "")
        self._ids = np.zeros(sys.maxunicode + 2, np.int32)  # by code point + 1; untouched pages take no memory
        self._ids[points[points > 0]] = np.arange(1, len(texts) + 1)
        self._not_counted = {UNKNOWN, int(self._ids[ord(" ") + 1])}

    def lookup_chunk(self, sentences: pa.StringArray, padding: str = " ") -> Ragged:
        """See `Vocabulary`; the text `padding` is added at both ends of each sentence that is not empty."""
        lengths = pc.utf8_length(sentences).to_numpy()
        points, _ = code_points(sentences.filter(lengths > 0), padding)
        padded = np.where(lengths > 0, lengths + 2 * len(padding), 0)
        return Ragged(self._ids[points[points > 0]], offsets_from_lengths(padded))

    def oov_share_of_chunk(self, sentences: pa.StringArray) -> NDArray[np.float64]:
        """See `Vocabulary`; the added spaces do not count."""
        return self.lookup_chunk(sentences, "").share_of_id(UNKNOWN)


class WordNgramVocabulary(Vocabulary):
    """Maps the character n-grams, the words and the pairs of adjacent words of tokenized sentences to ids, with counts.

    A word is stored as the n-gram of its characters with a space at each end: ` of ` occurs as often as the word `of`.
    A pair is stored likewise: ` of the ` occurs as often as `of` stands before `the`. One list of texts therefore holds
    all kinds, and an n-gram that is also a word or a pair has one entry.

    The out-of-vocabulary share is that of the n-grams: words and pairs are not counted, and n-grams that are stored as
    words, such as ` of `, count as out of vocabulary.

    Args:
        texts: n-grams, and words and pairs with a space at each end, each once. The i-th entry has id i.

    Raises:
        DataError: an entry is empty or occurs twice.
    """

    def __init__(self, texts: Entries) -> None:
        texts = check_vocabulary(texts, "n-grams and words")
        ngrams, words, bigrams = entry_kinds(texts)
        self._word_ids, self._bigram_ids = _rows(words), _rows(bigrams)
        self._ngrams = NgramVocabulary(texts.filter(ngrams), ids=_rows(ngrams))
        self._not_counted = self._ngrams._not_counted
        self._words = WordVocabulary(pc.utf8_trim(texts.filter(words), " "))
        both = hash_texts(pc.split_pattern(pc.utf8_trim(texts.filter(bigrams), " "), " ").flatten())
        self._bigrams = TextNumbering()
        self._bigrams.add(both[0::2] * _ODD ^ both[1::2])

    def lookup_chunk(self, sentences: pa.StringArray) -> Ragged:
        """See `Vocabulary`."""
        hashes, offsets = _hash_words(sentences)
        words = self._words.find(hashes, offsets).merge_repeats()
        found = self._ngrams.lookup_chunk(sentences).hstack(replace(words, ids=self._word_ids[words.ids - 1]))
        return found.hstack(self._find_bigrams(hashes, offsets)) if len(self._bigram_ids) else found

    def oov_share_of_chunk(self, sentences: pa.StringArray) -> NDArray[np.float64]:
        """See `Vocabulary`."""
        return self._ngrams.oov_share_of_chunk(sentences)

    def _find_bigrams(self, words: Hashes, offsets: NDArray[np.int64]) -> Ragged:
        """Return the distinct known pairs of each sentence, ascending, with counts, from the hashes of its words."""
        numbers = np.full(len(words), -1, np.int32)  # of each word with the next
        numbers[:-1] = self._bigrams.find(words[:-1] * _ODD ^ words[1:])
        numbers[offsets[1:][np.diff(offsets) > 0] - 1] = -1  # the next word is in another sentence
        known = numbers >= 0
        found = Ragged(numbers[known] + np.int32(1), offsets_from_lengths(known)[offsets]).merge_repeats()
        return replace(found, ids=self._bigram_ids[found.ids - 1])


def entry_kinds(texts: Entries) -> tuple[Mask, Mask, Mask]:
    """Return which entries are n-grams, words and pairs of words, by their form, (n,) each; each is one of them."""
    words, bigrams = (pc.match_substring_regex(texts, form) for form in ("^ [^ ]+ $", "^ [^ ]+ [^ ]+ $"))
    return pc.invert(pc.or_(words, bigrams)), words, bigrams


def _rows(mask: Mask) -> NDArray[np.int32]:
    return np.flatnonzero(mask).astype(np.int32)


def _hash_words(sentences: pa.StringArray) -> tuple[Hashes, NDArray[np.int64]]:
    """Return the hashes of the words of n tokenized sentences, and the offsets of the sentences in them, (n + 1,)."""
    words, offsets = split_words(sentences)
    return hash_texts(words), offsets


def add_boundary_tokens(sentences: pa.StringArray, boundary_tokens: BoundaryTokens) -> pa.StringArray:
    """Enclose tokenized sentences without nulls in boundary tokens; an empty sentence stays empty."""
    if boundary_tokens == "none":
        return sentences
    start, end = boundary_widths(boundary_tokens)
    enclosed = pc.binary_join_element_wise(*[START] * start, sentences, *[END] * end, " ")
    return pc.if_else(pc.equal(sentences, ""), "", enclosed)


def boundary_widths(boundary_tokens: BoundaryTokens) -> tuple[int, int]:
    """Return how many boundary tokens stand at the start and at the end of a sentence."""
    return int(boundary_tokens in ("start", "both")), int(boundary_tokens in ("end", "both"))
