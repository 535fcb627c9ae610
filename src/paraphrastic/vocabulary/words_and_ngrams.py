"""A vocabulary of character n-grams and whole words together.

A word is stored as the n-gram of its characters with a space at each end: ` of ` occurs as often as the word `of`.
One list of texts therefore holds both kinds, and an n-gram that is also a word has one entry.
"""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from paraphrastic.text.columns import Texts, chunks
from paraphrastic.vocabulary.ngrams import CHUNK, NgramVocabulary
from paraphrastic.vocabulary.ragged import Ragged, concat
from paraphrastic.vocabulary.validation import check_vocabulary
from paraphrastic.vocabulary.words import WordVocabulary


class WordNgramVocabulary:
    """Maps the character n-grams and the words of tokenized sentences to ids.

    Args:
        texts: n-grams, and words with a space at each end, each once. The i-th entry has id i.

    Raises:
        DataError: an entry is empty or occurs twice.
    """

    def __init__(self, texts: pa.StringArray | pa.ChunkedArray) -> None:
        texts = check_vocabulary(texts, "n-grams and words")
        words = is_word(texts)
        self._word_ids = np.flatnonzero(words).astype(np.int32)
        ngram_ids = np.flatnonzero(pc.invert(words)).astype(np.int32)
        self._ngrams = NgramVocabulary(texts.filter(pc.invert(words)), ids=ngram_ids)
        self._words = WordVocabulary(pc.utf8_trim(texts.filter(words), " "))

    def __len__(self) -> int:
        return len(self._ngrams) + len(self._words)

    def lookup(self, sentences: Texts) -> Ragged:
        """Return the distinct known n-grams and words of each sentence with their counts."""
        return concat(self._lookup(chunk) for chunk in chunks(sentences, CHUNK))

    def has_known(self, looked_up: Ragged) -> NDArray[np.bool_]:
        """Return which sentences, as `lookup` returned them, have an n-gram or a word of the vocabulary, (n,)."""
        known: NDArray[np.bool_] = looked_up.lengths > 0
        return known

    def oov_share(self, sentences: Texts) -> NDArray[np.float64]:
        """Return the share of out-of-vocabulary n-grams in each sentence, (n,), as `NgramVocabulary` does.

        Words are not counted, and n-grams that are stored as words, such as ` of `, count as out of vocabulary.
        """
        return self._ngrams.oov_share(sentences)

    def _lookup(self, sentences: pa.StringArray) -> Ragged:
        ngrams, words = self._ngrams.lookup_chunk(sentences), self._words.lookup_chunk(sentences).merge_repeats()
        return ngrams.hstack(replace(words, ids=self._word_ids[words.ids - 1]))


def is_word(texts: pa.StringArray | pa.ChunkedArray) -> pa.BooleanArray | pa.ChunkedArray:
    """Return which entries are words, or n-grams of the same form, (n,)."""
    return pc.match_substring_regex(texts, "^ [^ ]+ $")


def merge_counts(ngrams: pa.Table, words: pa.Table) -> pa.Table:
    """Merge a table of n-grams and one of words, as the vocabulary stage writes them, into one vocabulary.

    Returns:
        Table of `text`, `count` and `sentences`: n-grams that are no words, then the words, then n-grams that have
        the form of a word but are missing from `words`.
    """
    columns = ["text", "count", "sentences"]
    spaced = pc.binary_join_element_wise("", words["text"], "", " ")
    words = words.set_column(words.schema.get_field_index("text"), "text", spaced)
    has_form = is_word(ngrams["text"])
    missing = ngrams.filter(pc.and_(has_form, pc.invert(pc.is_in(ngrams["text"], words["text"]))))
    return pa.concat_tables(t.select(columns) for t in (ngrams.filter(pc.invert(has_form)), words, missing))
