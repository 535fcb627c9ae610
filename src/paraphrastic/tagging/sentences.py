"""Sentences of tokens as columns: every distinct word is read once, however often it occurs."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from paraphrastic.encoding.encoder import Units
from paraphrastic.errors import DataError
from paraphrastic.text.bags import Bags


@dataclass(frozen=True)
class Sentences:
    """n sentences, of W distinct words.

    Attributes:
        units: the characters or n-grams of each word in lower case, W bags.
        capital: (W,) float32, 1 where a word has a capital letter (charagram2016 §4.2).
        tokens: n bags, which word each token is.
    """

    units: Bags
    capital: NDArray[np.float32]
    tokens: Bags

    @classmethod
    def of(cls, table: pa.Table, units: Units) -> "Sentences":
        """The tokens of a table of `sentence` and `token`, in its order."""
        tokens = table["token"].combine_chunks().dictionary_encode()
        words = tokens.dictionary
        capital = pc.match_substring_regex(words, r"\p{Lu}").to_numpy(zero_copy_only=False)
        bags = Bags(tokens.indices.to_numpy(), _offsets(table["sentence"].to_numpy()))
        return cls(units.bags(lower(words)), capital.astype(np.float32), bags)

    def __len__(self) -> int:
        return len(self.tokens)

    def take(self, rows: NDArray[np.integer]) -> "Sentences":
        """The sentences `rows`, in that order, with the words that they have."""
        tokens = self.tokens.take(rows)
        words, ids = np.unique(tokens.ids, return_inverse=True)
        return Sentences(self.units.take(words), self.capital[words], Bags(ids, tokens.offsets))


def lower(words: pa.StringArray | pa.ChunkedArray) -> pa.StringArray | pa.ChunkedArray:
    """Words as character models read them: case is for the capital-letter feature alone."""
    return pc.utf8_lower(words)


def refuse_empty(table: pa.Table, what: str) -> None:
    """Refuse a table without tokens.

    Raises:
        DataError: `what` is empty.
    """
    if not len(table):
        raise DataError(f"{what}: no tagged tokens; check the names of its set and split")


def _offsets(sentence: NDArray[np.integer]) -> NDArray[np.int64]:
    """Where each sentence starts and the last one ends, from the sentence number of each token."""
    starts = np.flatnonzero(np.diff(sentence, prepend=sentence[:1] - 1))
    return np.concatenate([starts, [len(sentence)]]).astype(np.int64)
