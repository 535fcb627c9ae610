"""A vocabulary of characters: look up the code points of whole columns of text at once."""

import sys

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from paraphrastic.base.errors import DataError
from paraphrastic.text.columns import Ragged, Texts, chunks, concat, offsets_from_lengths
from paraphrastic.vocabulary.ngrams import CHUNK, code_points
from paraphrastic.vocabulary.validation import check_vocabulary
from paraphrastic.vocabulary.words import UNKNOWN


class CharacterVocabulary:
    """Maps the characters of tokenized sentences to ids.

    The characters of a sentence are the Unicode code points of its text with one space added at each end
    (charagram2016 §4.1.2). An empty text has none.

    Args:
        texts: the characters, each once. The i-th character has id i + 1; id 0 stands for every other character.

    Raises:
        DataError: an entry is not a single character, or occurs twice.
    """

    def __init__(self, texts: pa.StringArray | pa.ChunkedArray) -> None:
        texts = check_vocabulary(texts, "characters")
        _check_single(texts)
        points, _ = code_points(texts, "")
        self._size = len(texts)
        self._ids = np.zeros(sys.maxunicode + 2, np.int32)  # by code point + 1; untouched pages take no memory
        self._ids[points[points > 0]] = np.arange(1, len(texts) + 1)
        self._space = int(self._ids[ord(" ") + 1])

    def __len__(self) -> int:
        return self._size

    def lookup(self, sentences: Texts) -> Ragged:
        """Return the ids of each sentence's characters in reading order."""
        return concat(self._lookup(chunk, " ") for chunk in chunks(sentences, CHUNK))

    def has_known(self, looked_up: Ragged) -> NDArray[np.bool_]:
        """Return which sentences, as `lookup` returned them, have a character of the vocabulary that is no space."""
        spaces = looked_up.occurrences(self._space) if self._space != UNKNOWN else 0
        known: NDArray[np.bool_] = looked_up.lengths > looked_up.occurrences(UNKNOWN) + spaces
        return known

    def oov_share(self, sentences: Texts) -> NDArray[np.float64]:
        """Return the share of out-of-vocabulary characters in each sentence, (n,); 0 for an empty sentence."""
        ids = (self._lookup(chunk, "") for chunk in chunks(sentences, CHUNK))
        return np.concatenate([ragged.share_of_id(UNKNOWN) for ragged in ids])

    def _lookup(self, sentences: pa.StringArray, padding: str) -> Ragged:
        lengths = pc.utf8_length(sentences).to_numpy()
        points, _ = code_points(sentences.filter(pa.array(lengths > 0)), padding)
        padded = np.where(lengths > 0, lengths + 2 * len(padding), 0)
        return Ragged(self._ids[points[points > 0]], offsets_from_lengths(padded))


def _check_single(texts: pa.StringArray) -> None:
    long = texts.filter(pc.greater(pc.utf8_length(texts), 1))
    if len(long):
        raise DataError(f"vocabulary of {len(texts)} characters: {long[0].as_py()!r} is not one character; remove it")
