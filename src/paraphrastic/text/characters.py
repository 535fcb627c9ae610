"""Characters of tokenized sentences as numbers: code points, looked up in one vocabulary, whole columns at once."""

import sys

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from paraphrastic.errors import DataError
from paraphrastic.text.bags import Bags
from paraphrastic.text.ngrams import PIECE, characters
from paraphrastic.text.pieces import entries, joined, offsets_of, pieces
from paraphrastic.text.words import unknown


class Characters:
    """A vocabulary of single characters, which looks up those of tokenized sentences.

    The characters of a sentence are the Unicode code points of its text with one space added at each end
    (charagram2016 §3); an empty text has none.

    Args:
        texts: the characters, each once; its order gives the ids, from 1.

    Raises:
        DataError: an entry is not a single character, or stands twice.
    """

    def __init__(self, texts: pa.StringArray | pa.ChunkedArray) -> None:
        texts = entries(texts, "characters")
        _refuse_long(texts)
        points, _ = characters(texts, "")
        self._size = len(texts)
        self._ids = np.zeros(sys.maxunicode + 2, np.int32)  # by code point + 1; untouched pages take no memory
        self._ids[points[points > 0]] = np.arange(1, len(texts) + 1)

    def __len__(self) -> int:
        return self._size

    def bags(self, sentences: pa.StringArray | pa.ChunkedArray) -> Bags:
        """The characters of each sentence in reading order: i + 1 is the i-th of the vocabulary, 0 an unknown one."""
        return joined(self._look_up(piece) for piece in pieces(sentences, PIECE))

    def unknown(self, sentences: pa.StringArray | pa.ChunkedArray) -> NDArray[np.float64]:
        """The share of each sentence's characters that the vocabulary lacks, (n,); 0 for an empty sentence."""
        return np.concatenate([unknown(self._look_up(piece, "")) for piece in pieces(sentences, PIECE)])

    def _look_up(self, piece: pa.StringArray, margin: str = " ") -> Bags:
        lengths = pc.utf8_length(piece).to_numpy()
        points, _ = characters(piece.filter(pa.array(lengths > 0)), margin)
        return Bags(self._ids[points[points > 0]], offsets_of(np.where(lengths > 0, lengths + 2 * len(margin), 0)))


def _refuse_long(texts: pa.StringArray) -> None:
    long = texts.filter(pc.greater(pc.utf8_length(texts), 1))
    if len(long):
        raise DataError(f"vocabulary of {len(texts)} characters: {long[0].as_py()!r} is not a single one; leave it out")
