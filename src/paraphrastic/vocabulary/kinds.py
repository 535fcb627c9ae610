"""The four kinds of vocabulary that models read text with."""

from typing import Literal, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from paraphrastic.vocabulary.characters import CharacterVocabulary
from paraphrastic.vocabulary.ngrams import NgramVocabulary
from paraphrastic.vocabulary.ragged import Ragged
from paraphrastic.vocabulary.words import BoundaryTokens, WordVocabulary
from paraphrastic.vocabulary.words_and_ngrams import WordNgramVocabulary

VocabularyKind = Literal["words", "ngrams", "words+ngrams", "characters"]


class Vocabulary(Protocol):
    """Maps tokenized sentences to ids, which are rows of an embedding table."""

    def __len__(self) -> int: ...

    def lookup(self, sentences: pa.StringArray | pa.ChunkedArray) -> Ragged:
        """Return the ids of each sentence."""
        ...

    def oov_share(self, sentences: pa.StringArray | pa.ChunkedArray) -> NDArray[np.float64]:
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
