"""A vocabulary of words: split tokenized sentences at spaces and look up all words at once."""

from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from paraphrastic.text.columns import Hashes, Ragged, TextNumbering, Texts, chunks, concat, hash_texts, split_words
from paraphrastic.vocabulary.validation import check_vocabulary

START, END = "<s>", "</s>"
UNKNOWN = 0  # id of every word that the vocabulary lacks
BoundaryTokens = Literal["none", "start", "end", "both"]

CHUNK = 1 << 20  # bytes of text


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
        enclosed = (add_boundary_tokens(chunk, self._boundary_tokens) for chunk in chunks(sentences, CHUNK))
        return concat(self.lookup_chunk(chunk) for chunk in enclosed)

    def has_known(self, looked_up: Ragged) -> NDArray[np.bool_]:
        """Return which sentences, as `lookup` returned them, have a word of the vocabulary, (n,)."""
        boundary_tokens = sum(boundary_widths(self._boundary_tokens))  # known words, but of every sentence
        known: NDArray[np.bool_] = looked_up.lengths - boundary_tokens > looked_up.occurrences(UNKNOWN)
        return known

    def oov_share(self, sentences: Texts) -> NDArray[np.float64]:
        """Return the share of out-of-vocabulary words in each sentence, (n,); 0 for an empty sentence."""
        ids = (self.lookup_chunk(chunk) for chunk in chunks(sentences, CHUNK))
        return np.concatenate([ragged.share_of_id(UNKNOWN) for ragged in ids])

    def lookup_chunk(self, sentences: pa.StringArray) -> Ragged:
        """Return `lookup` without boundary tokens of at most `CHUNK` bytes of text."""
        return self.find(*hash_words(sentences))

    def find(self, words: Hashes, offsets: NDArray[np.int64]) -> Ragged:
        """Return the ids of words by their hashes, as `hash_words` returned them."""
        return Ragged(self._numbering.find(words) + np.int32(1), offsets)


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
