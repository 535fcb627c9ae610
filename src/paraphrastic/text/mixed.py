"""Character n-grams and whole words in one vocabulary.

A word is the n-gram of its characters and a space at each end, of whatever length: ` of ` occurs as often as the
word `of` does. So one list of texts holds both, and an n-gram that happens to be a word is the same unit.
"""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from paraphrastic.text.bags import Bags
from paraphrastic.text.ngrams import Ngrams
from paraphrastic.text.pieces import entries, joined, pieces
from paraphrastic.text.words import PIECE, Words

_WORD = "^ [^ ]+ $"


class WordsAndNgrams:
    """A vocabulary of character n-grams and words, which looks up those of tokenized sentences.

    Args:
        texts: n-grams, then words with a space at each end, each once; its order gives the ids, from 0.

    Raises:
        DataError: a text is empty or stands twice.
    """

    def __init__(self, texts: pa.StringArray | pa.ChunkedArray) -> None:
        texts = entries(texts, "n-grams and words")
        is_word = pc.match_substring_regex(texts, _WORD)
        self._rows = [np.flatnonzero(mask).astype(np.int32) for mask in (pc.invert(is_word), is_word)]
        self._ngrams = Ngrams(texts.filter(pc.invert(is_word)))
        self._words = Words(pc.utf8_trim(texts.filter(is_word), " "))

    def __len__(self) -> int:
        return len(self._ngrams) + len(self._words)

    def bags(self, sentences: pa.StringArray | pa.ChunkedArray) -> Bags:
        """The n-grams and words of each sentence that the vocabulary has: distinct ids with counts ≤ 65,535."""
        return joined(self._bags(piece) for piece in pieces(sentences, PIECE))

    def unknown(self, sentences: pa.StringArray | pa.ChunkedArray) -> NDArray[np.float64]:
        """The share of each sentence's n-grams that it lacks, (n,), as `Ngrams` counts them."""
        return self._ngrams.unknown(sentences)

    def _bags(self, piece: pa.StringArray) -> Bags:
        ngrams, words = self._ngrams.bags(piece), self._words.bags(piece).tallied()
        of_ngrams, of_words = self._rows
        return replace(ngrams, ids=of_ngrams[ngrams.ids]).beside(replace(words, ids=of_words[words.ids - 1]))


def with_words(ngrams: pa.Table, words: pa.Table) -> pa.Table:
    """One vocabulary from two as the vocabulary stage writes them: `text`, `count` and `sentences`."""
    columns = ["text", "count", "sentences"]
    spaced = pc.binary_join_element_wise("", words["text"], "", " ")
    words = words.set_column(words.schema.get_field_index("text"), "text", spaced)
    is_word = pc.match_substring_regex(ngrams["text"], _WORD)
    rarer = ngrams.filter(pc.and_(is_word, pc.invert(pc.is_in(ngrams["text"], words["text"]))))
    return pa.concat_tables(t.select(columns) for t in (ngrams.filter(pc.invert(is_word)), words, rarer))
