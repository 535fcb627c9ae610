"""Words of tokenized sentences as numbers: split at the spaces, looked up in one vocabulary, whole columns at once."""

from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from paraphrastic.text.bags import Bags
from paraphrastic.text.pieces import entries, joined, offsets_of, pieces

START, END = "<s>", "</s>"
Tags = Literal["none", "start", "end", "both"]

PIECE = 1 << 25  # bytes; Arrow hashes the whole vocabulary anew for each piece


def split(sentences: pa.StringArray) -> tuple[pa.StringArray, NDArray[np.int64]]:
    """All words of n sentences without nulls, and where those of each sentence start and end, (n + 1,)."""
    lists = pc.split_pattern(sentences, " ")
    words, offsets = lists.flatten(), lists.offsets.to_numpy().astype(np.int64)
    real = pc.binary_length(words).to_numpy() > 0  # beside a space at an end of the text there is an empty one
    if real.all():
        return words, offsets
    return words.filter(pa.array(real)), offsets_of(real)[offsets]


class Words:
    """A vocabulary of words, which looks up those of tokenized sentences.

    Args:
        texts: the words, each once; its order gives the ids, from 1.
        tags: what is set before and behind each sentence that is not empty: `START`, `END`, both or none.

    Raises:
        DataError: a word is empty or stands twice.
    """

    def __init__(self, texts: pa.StringArray | pa.ChunkedArray, tags: Tags = "none") -> None:
        self._texts, self._tags = entries(texts, "words"), tags

    def __len__(self) -> int:
        return len(self._texts)

    def bags(self, sentences: pa.StringArray | pa.ChunkedArray) -> Bags:
        """The words of each sentence in reading order: i + 1 is the i-th of the vocabulary, 0 an unknown one."""
        return joined(self._look_up(tagged(piece, self._tags)) for piece in pieces(sentences, PIECE))

    def unknown(self, sentences: pa.StringArray | pa.ChunkedArray) -> NDArray[np.float64]:
        """The share of each sentence's words that the vocabulary lacks, (n,); 0 for an empty sentence."""
        return np.concatenate([unknown(self._look_up(piece)) for piece in pieces(sentences, PIECE)])

    def _look_up(self, piece: pa.StringArray) -> Bags:
        words, offsets = split(piece)
        found = pc.fill_null(pc.index_in(words, value_set=self._texts), -1)
        return Bags(found.to_numpy() + np.int32(1), offsets)


def tagged(sentences: pa.StringArray, tags: Tags) -> pa.StringArray:
    """Tokenized sentences without nulls in their `tags`; an empty one stays empty."""
    if tags == "none":
        return sentences
    before, behind = f"{START} " if tags != "end" else "", f" {END}" if tags != "start" else ""
    return pc.if_else(pc.equal(sentences, ""), "", pc.binary_join_element_wise(before, sentences, behind, ""))


def tag_counts(tags: Tags) -> tuple[int, int]:
    """How many units `tags` set before and behind a sentence."""
    return int(tags in ("start", "both")), int(tags in ("end", "both"))


def unknown(bags: Bags) -> NDArray[np.float64]:
    """The share of unit 0, the unknown one, in each sentence, (n,); 0 for an empty sentence."""
    missing = np.diff(offsets_of(bags.ids == 0)[bags.offsets])
    return missing / np.maximum(bags.lengths, 1)
