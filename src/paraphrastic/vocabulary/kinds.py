"""The four kinds of vocabulary that models read text with: words, n-grams, both, and characters."""

from dataclasses import replace
from typing import Literal, Protocol, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from paraphrastic.text.columns import (
    UNKNOWN,
    Hashes,
    Ragged,
    TextNumbering,
    Texts,
    check_vocabulary,
    chunks,
    concat,
    hash_texts,
    offsets_from_lengths,
    split_words,
)
from paraphrastic.vocabulary.ngrams import CHUNK, CharacterVocabulary, NgramVocabulary

VocabularyKind = Literal["words", "ngrams", "words+ngrams", "characters"]
BoundaryTokens = Literal["none", "start", "end", "both"]
Mask: TypeAlias = pa.BooleanArray | pa.ChunkedArray

START, END = "<s>", "</s>"
WORDS_CHUNK = 1 << 20  # bytes of text
_ODD = np.uint64(0x9E3779B97F4A7C15)  # 2^64 / golden ratio; makes the hash of a pair depend on its order


class Vocabulary(Protocol):
    """Maps tokenized sentences to ids, which are rows of an embedding table."""

    def __len__(self) -> int: ...

    def lookup(self, sentences: Texts) -> Ragged:
        """Return the ids of each sentence."""
        ...

    def has_known(self, looked_up: Ragged) -> NDArray[np.bool_]:
        """Return which sentences, as `lookup` returned them, have an entry of the vocabulary, (n,)."""
        ...

    def oov_share(self, sentences: Texts) -> NDArray[np.float64]:
        """Return the share of each sentence's words, n-grams or characters that the vocabulary lacks, (n,)."""
        ...


def build_vocabulary(
    kind: VocabularyKind, texts: pa.StringArray, boundary_tokens: BoundaryTokens = "none"
) -> Vocabulary:
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


class WordVocabulary:
    """Maps the words of tokenized sentences to ids.

    Args:
        texts: the words, each once. The i-th word has id i + 1; id 0 stands for every other word.
        boundary_tokens: which of `START` and `END` enclose each sentence that is not empty.

    Raises:
        DataError: a word is empty or occurs twice.
    """

    def __init__(self, texts: pa.StringArray | pa.ChunkedArray, boundary_tokens: BoundaryTokens = "none") -> None:
        self._boundary_tokens = boundary_tokens
        self._numbering = TextNumbering()
        self._numbering.add(hash_texts(check_vocabulary(texts, "words")))

    def __len__(self) -> int:
        return len(self._numbering)

    def lookup(self, sentences: Texts) -> Ragged:
        """Return the ids of each sentence's words, and boundary tokens, in reading order."""
        enclosed = (add_boundary_tokens(chunk, self._boundary_tokens) for chunk in chunks(sentences, WORDS_CHUNK))
        return concat(self.lookup_chunk(chunk) for chunk in enclosed)

    def has_known(self, looked_up: Ragged) -> NDArray[np.bool_]:
        """Return which sentences, as `lookup` returned them, have a word of the vocabulary, (n,)."""
        boundary_tokens = sum(boundary_widths(self._boundary_tokens))  # known words, but of every sentence
        known: NDArray[np.bool_] = looked_up.lengths - boundary_tokens > looked_up.occurrences(UNKNOWN)
        return known

    def oov_share(self, sentences: Texts) -> NDArray[np.float64]:
        """Return the share of out-of-vocabulary words in each sentence, (n,); 0 for an empty sentence."""
        ids = (self.lookup_chunk(chunk) for chunk in chunks(sentences, WORDS_CHUNK))
        return np.concatenate([ragged.share_of_id(UNKNOWN) for ragged in ids])

    def lookup_chunk(self, sentences: pa.StringArray) -> Ragged:
        """Return `lookup` without boundary tokens of at most `WORDS_CHUNK` bytes of text."""
        return self.find(*hash_words(sentences))

    def find(self, words: Hashes, offsets: NDArray[np.int64]) -> Ragged:
        """Return the ids of words by their hashes, as `hash_words` returned them."""
        return Ragged(self._numbering.find(words) + np.int32(1), offsets)


class BigramVocabulary:
    """Maps pairs of adjacent words to ids.

    Args:
        texts: the pairs, in the form of `is_bigram`, each once.
        ids: of the pairs, ascending, (len(texts),).
    """

    def __init__(self, texts: pa.StringArray, ids: NDArray[np.int32]) -> None:
        hashes = hash_texts(pc.split_pattern(pc.utf8_trim(texts, " "), " ").flatten())
        self._numbering, self._ids = TextNumbering(), ids
        self._numbering.add(hashes[0::2] * _ODD ^ hashes[1::2])

    def __len__(self) -> int:
        return len(self._numbering)

    def find(self, words: Hashes, offsets: NDArray[np.int64]) -> Ragged:
        """Return the distinct known pairs of each sentence, ascending, with their counts.

        Args:
            words: hashes of the words of n sentences.
            offsets: (n + 1,), of the sentences in `words`.
        """
        numbers = np.full(len(words), -1, np.int32)  # of each word with the next
        numbers[:-1] = self._numbering.find(words[:-1] * _ODD ^ words[1:])
        numbers[offsets[1:][np.diff(offsets) > 0] - 1] = -1  # the next word is in another sentence
        known = numbers >= 0
        found = Ragged(numbers[known] + np.int32(1), offsets_from_lengths(known)[offsets]).merge_repeats()
        return Ragged(self._ids[found.ids - 1], found.offsets, found.counts)


class WordNgramVocabulary:
    """Maps the character n-grams, the words and the pairs of adjacent words of tokenized sentences to ids.

    A word is stored as the n-gram of its characters with a space at each end: ` of ` occurs as often as the word `of`.
    A pair is stored likewise: ` of the ` occurs as often as `of` stands before `the`. One list of texts therefore holds
    all kinds, and an n-gram that is also a word or a pair has one entry.

    Args:
        texts: n-grams, and words and pairs with a space at each end, each once. The i-th entry has id i.

    Raises:
        DataError: an entry is empty or occurs twice.
    """

    def __init__(self, texts: pa.StringArray | pa.ChunkedArray) -> None:
        texts = check_vocabulary(texts, "n-grams and words")
        ngrams, words, bigrams = entry_kinds(texts)
        self._word_ids = _rows(words)
        self._ngrams = NgramVocabulary(texts.filter(ngrams), ids=_rows(ngrams))
        self._words = WordVocabulary(pc.utf8_trim(texts.filter(words), " "))
        self._bigrams = BigramVocabulary(texts.filter(bigrams), _rows(bigrams))

    def __len__(self) -> int:
        return len(self._ngrams) + len(self._words) + len(self._bigrams)

    def lookup(self, sentences: Texts) -> Ragged:
        """Return the distinct known n-grams, words and pairs of each sentence with their counts."""
        return concat(self._lookup(chunk) for chunk in chunks(sentences, CHUNK))

    def has_known(self, looked_up: Ragged) -> NDArray[np.bool_]:
        """Return which sentences, as `lookup` returned them, have an entry of the vocabulary, (n,)."""
        known: NDArray[np.bool_] = looked_up.lengths > 0
        return known

    def oov_share(self, sentences: Texts) -> NDArray[np.float64]:
        """Return the share of out-of-vocabulary n-grams in each sentence, (n,), as `NgramVocabulary` does.

        Words and pairs are not counted, and n-grams that are stored as words, such as ` of `, count as out of
        vocabulary.
        """
        return self._ngrams.oov_share(sentences)

    def _lookup(self, sentences: pa.StringArray) -> Ragged:
        hashes, offsets = hash_words(sentences)
        ngrams, words = self._ngrams.lookup_chunk(sentences), self._words.find(hashes, offsets).merge_repeats()
        found = ngrams.hstack(replace(words, ids=self._word_ids[words.ids - 1]))
        return found.hstack(self._bigrams.find(hashes, offsets)) if len(self._bigrams) else found


def is_word(texts: pa.StringArray | pa.ChunkedArray) -> Mask:
    """Return which entries are words, or n-grams of the same form, (n,)."""
    return pc.match_substring_regex(texts, "^ [^ ]+ $")


def is_bigram(texts: pa.StringArray | pa.ChunkedArray) -> Mask:
    """Return which entries are pairs of adjacent words, or n-grams of the same form, (n,)."""
    return pc.match_substring_regex(texts, "^ [^ ]+ [^ ]+ $")


def entry_kinds(texts: pa.StringArray | pa.ChunkedArray) -> tuple[Mask, Mask, Mask]:
    """Return which entries are n-grams, words and pairs of words, by their form, (n,) each; each is one of them."""
    words, bigrams = is_word(texts), is_bigram(texts)
    return pc.invert(pc.or_(words, bigrams)), words, bigrams


def _rows(mask: Mask) -> NDArray[np.int32]:
    return np.flatnonzero(mask).astype(np.int32)


def hash_words(sentences: pa.StringArray) -> tuple[Hashes, NDArray[np.int64]]:
    """Return the hashes of the words of n tokenized sentences, and the offsets of the sentences in them, (n + 1,)."""
    words, offsets = split_words(sentences)
    return hash_texts(words), offsets


def add_boundary_tokens(sentences: pa.StringArray, boundary_tokens: BoundaryTokens) -> pa.StringArray:
    """Enclose tokenized sentences without nulls in boundary tokens; an empty sentence stays empty."""
    if boundary_tokens == "none":
        return sentences
    start = f"{START} " if boundary_tokens != "end" else ""
    end = f" {END}" if boundary_tokens != "start" else ""
    return pc.if_else(pc.equal(sentences, ""), "", pc.binary_join_element_wise(start, sentences, end, ""))


def boundary_widths(boundary_tokens: BoundaryTokens) -> tuple[int, int]:
    """Return how many boundary tokens stand at the start and at the end of a sentence."""
    return int(boundary_tokens in ("start", "both")), int(boundary_tokens in ("end", "both"))
