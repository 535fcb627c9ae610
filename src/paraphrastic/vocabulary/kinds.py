"""The four kinds of vocabulary that models read text with."""

from collections.abc import Sequence
from typing import Literal, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from paraphrastic.text.columns import Ragged, Texts
from paraphrastic.vocabulary.characters import CharacterVocabulary
from paraphrastic.vocabulary.counting import count_bigrams, count_ngrams, count_words
from paraphrastic.vocabulary.ngrams import NgramVocabulary
from paraphrastic.vocabulary.words import BoundaryTokens, WordVocabulary
from paraphrastic.vocabulary.words_and_ngrams import WordNgramVocabulary, merge_counts

VocabularyKind = Literal["words", "ngrams", "words+ngrams", "characters"]


class Vocabulary(Protocol):
    """Maps tokenized sentences to ids, which are rows of an embedding table."""

    def __len__(self) -> int: ...

    def lookup(self, sentences: Texts) -> Ragged:
        """Return the ids of each sentence."""
        ...

    def has_known(self, looked_up: Ragged) -> NDArray[np.bool_]:
        """Return which sentences, as `lookup` returned them, have an entry of the vocabulary, (n,)."""
        ...

    def oov_share(self, sentences: Texts) -> NDArray[np.float64]:
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


def count_entries(
    kind: VocabularyKind,
    sentences: pa.StringArray,
    orders: Sequence[int] = (),
    min_count: int = 1,
    ngrams_per_order: int | None = None,
    bigram_min_count: int | None = None,
) -> pa.Table:
    """Count the entries that a vocabulary of `sentences` can have.

    Args:
        kind: what the entries are.
        sentences: tokenized.
        orders: lengths of character n-grams, for the kinds that have n-grams.
        min_count: occurrences that an entry needs.
        ngrams_per_order: how many of the most frequent n-grams of each order are kept; None keeps all.
        bigram_min_count: occurrences that a pair of adjacent words needs; None counts no pairs.

    Returns:
        Table with columns `text`, `count` and `sentences`, and `order` if there are n-grams or characters only.
    """
    if kind == "words":
        return count_words(sentences, min_count)
    ngrams = count_ngrams(sentences, [1] if kind == "characters" else orders, min_count, ngrams_per_order)
    if kind != "words+ngrams":
        return ngrams
    words = count_words(sentences, min_count)
    bigrams = count_bigrams(sentences, words["text"], bigram_min_count) if bigram_min_count else None
    return merge_counts(ngrams, words, bigrams)
