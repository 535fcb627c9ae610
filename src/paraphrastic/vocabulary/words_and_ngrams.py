"""A vocabulary of character n-grams, whole words and pairs of adjacent words together.

A word is stored as the n-gram of its characters with a space at each end: ` of ` occurs as often as the word `of`. A
pair is stored likewise, see `bigrams`. One list of texts therefore holds all kinds, and an n-gram that is also a word
or a pair has one entry.
"""

from dataclasses import replace
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from paraphrastic.text.columns import Ragged, Texts, chunks, concat
from paraphrastic.vocabulary.bigrams import BigramVocabulary, is_bigram
from paraphrastic.vocabulary.ngrams import CHUNK, NgramVocabulary
from paraphrastic.vocabulary.validation import check_vocabulary
from paraphrastic.vocabulary.words import WordVocabulary, hash_words

Mask: TypeAlias = pa.BooleanArray | pa.ChunkedArray


class WordNgramVocabulary:
    """Maps the character n-grams, the words and the pairs of adjacent words of tokenized sentences to ids.

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


def entry_kinds(texts: pa.StringArray | pa.ChunkedArray) -> tuple[Mask, Mask, Mask]:
    """Return which entries are n-grams, words and pairs of words, by their form, (n,) each; each is one of them."""
    words, bigrams = is_word(texts), is_bigram(texts)
    return pc.invert(pc.or_(words, bigrams)), words, bigrams


def _rows(mask: Mask) -> NDArray[np.int32]:
    return np.flatnonzero(mask).astype(np.int32)


def merge_counts(ngrams: pa.Table, words: pa.Table, bigrams: pa.Table | None = None) -> pa.Table:
    """Merge tables of n-grams, of words and of pairs of adjacent words into one vocabulary.

    Args:
        ngrams: as the vocabulary stage writes them.
        words: likewise.
        bigrams: as `counting.count_bigrams` returns them; None for no pairs.

    Returns:
        Table of `text`, `count` and `sentences`: n-grams of neither form, then the words, then n-grams that have the
        form of a word but are missing from `words`, then the pairs, then n-grams of their form that are missing there.
    """
    columns = ["text", "count", "sentences"]
    spaced = pc.binary_join_element_wise("", words["text"], "", " ")
    words = words.set_column(words.schema.get_field_index("text"), "text", spaced)
    bigrams = words.slice(0, 0) if bigrams is None else bigrams
    others, like_words, like_bigrams = (ngrams.filter(kind) for kind in entry_kinds(ngrams["text"]))
    parts = others, words, _without(like_words, words), bigrams, _without(like_bigrams, bigrams)
    return pa.concat_tables(table.select(columns) for table in parts)


def _without(table: pa.Table, other: pa.Table) -> pa.Table:
    """Return the rows whose text `other` lacks."""
    return table.filter(pc.invert(pc.is_in(table["text"], other["text"])))
