"""Sentences of tokens as columns; every distinct word is composed once."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from paraphrastic.base.errors import DataError
from paraphrastic.text.columns import Ragged
from paraphrastic.vocabulary.kinds import Vocabulary


@dataclass(frozen=True)
class TaggedSentences:
    """n sentences with W distinct words.

    Attributes:
        words: the characters or n-grams of each word, W rows.
        capital: (W,) float32, 1 if the word has a capital letter (charagram2016 §4.2).
        tokens: n rows, the word of each token.
    """

    words: Ragged
    capital: NDArray[np.float32]
    tokens: Ragged

    @classmethod
    def of(cls, table: pa.Table, vocabulary: Vocabulary, lowercase: bool) -> "TaggedSentences":
        """Return the sentences of a table with columns `sentence` and `token`, in its order.

        Args:
            table: one row per token; a sentence ends where its number changes.
            vocabulary: of the characters or n-grams.
            lowercase: the vocabulary's entries are those of words in lower case.
        """
        tokens = table["token"].combine_chunks().dictionary_encode()
        words = tokens.dictionary
        capital = pc.match_substring_regex(words, r"\p{Lu}").to_numpy(zero_copy_only=False)
        rows = Ragged(tokens.indices.to_numpy(), _offsets(table["sentence"].to_numpy()))
        return cls(vocabulary.lookup(as_read(words, lowercase)), capital.astype(np.float32), rows)

    def __len__(self) -> int:
        return len(self.tokens)

    def take(self, rows: NDArray[np.integer]) -> "TaggedSentences":
        """Return the sentences `rows` in that order, with the words that they use."""
        tokens = self.tokens.take(rows)
        words, ids = np.unique(tokens.ids, return_inverse=True)
        tokens = Ragged(ids.astype(np.int32), tokens.offsets)
        return TaggedSentences(self.words.take(words), self.capital[words], tokens)


def as_read(words: pa.StringArray, lowercase: bool) -> pa.StringArray:
    """Return words as the character model reads them: unchanged, or in lower case.

    In lower case, the capital-letter feature alone represents case.
    """
    return pc.utf8_lower(words) if lowercase else words


def refuse_empty(table: pa.Table, what: str) -> None:
    """Check that a table has tokens.

    Raises:
        DataError: `what` is empty.
    """
    if not len(table):
        raise DataError(f"{what}: no tagged tokens; check the names of its set and split")


def _offsets(sentence: NDArray[np.integer]) -> NDArray[np.int64]:
    """Return the offsets of sentences from the sentence number of each token."""
    starts = np.flatnonzero(np.diff(sentence, prepend=sentence[:1] - 1))
    return np.concatenate([starts, [len(sentence)]]).astype(np.int64)
