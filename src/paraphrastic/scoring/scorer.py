"""The protocol that evaluation knows: anything that scores pairs of tokenized sentences."""

from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from paraphrastic.vocabulary.kinds import VocabularyKind

Rows = NDArray[np.integer]
Scores = NDArray[np.float32]
Vectors = NDArray[np.float32]


class Scorer(Protocol):
    """Computes how similar two sentences are. A sentence is tokenized text: tokens joined by single spaces.

    Attributes:
        texts: entries of the vocabulary in row order; empty if there is no vocabulary.
    """

    texts: pa.StringArray

    def score(self, sentences: pa.StringArray, left: Rows, right: Rows) -> Scores:
        """Return the similarity of `sentences[left[i]]` and `sentences[right[i]]`, (pairs,); higher is more similar."""
        ...

    def oov_share(self, sentences: pa.StringArray) -> NDArray[np.float64]:
        """Return the share of each sentence's words, n-grams or characters that the vocabulary lacks, (n,)."""
        ...

    def save(self, folder: Path) -> dict[str, Any]:
        """Write the state to `folder` and return the entries of `config.json` that loading it needs."""
        ...


@runtime_checkable
class VectorScorer(Scorer, Protocol):
    """A scorer that compares sentence vectors."""

    def encode(self, sentences: pa.StringArray) -> Vectors:
        """Return the vectors of tokenized sentences, (n, dim)."""
        ...

    def encode_known(self, sentences: pa.StringArray) -> tuple[Vectors, NDArray[np.bool_]]:
        """Return the vectors, and which sentences have an entry of the vocabulary, (n,)."""
        ...


@runtime_checkable
class EmbeddingScorer(Scorer, Protocol):
    """A scorer with an embedding for each entry of its vocabulary."""

    @property
    def vocabulary_kind(self) -> VocabularyKind:
        """The kind of the entries: words, n-grams, both, or characters."""
        ...

    def embedding_array(self) -> NDArray[np.float32]:
        """Return the embedding table in main memory.

        Its rows are those of `texts`; for words and characters they follow row 0, which stands for all unknown ones.
        """
        ...
