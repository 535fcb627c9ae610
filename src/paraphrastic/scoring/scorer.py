"""The protocol that evaluation knows, anything that scores pairs of tokenized sentences, and cosines of vectors."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

if TYPE_CHECKING:  # the import takes 0.3 s, for numba, which a stage without teacher does not need
    from paraphrastic.text.columns import Ragged
    from paraphrastic.vocabulary.kinds import VocabularyKind

Rows = NDArray[np.integer]
Scores = NDArray[np.float32]
Vectors = NDArray[np.float32]

_SQUARABLE = 1e15  # lengths up to this, and from its inverse on, have squares that float32 holds


class Scorer(Protocol):
    """Computes how similar two sentences are. A sentence is tokenized text: tokens joined by single spaces."""

    texts: pa.StringArray  # entries of the vocabulary in row order; empty if there is no vocabulary

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

    def encode_known(self, sentences: pa.StringArray) -> tuple[Vectors, NDArray[np.bool_]]:
        """Return the vectors of tokenized sentences, and which of these have an entry of the vocabulary, (n,)."""
        ...

    def encode(self, sentences: pa.StringArray) -> Vectors:
        """Return the vectors of tokenized sentences, (n, dim)."""
        return self.encode_known(sentences)[0]

    def score(self, sentences: pa.StringArray, left: Rows, right: Rows) -> Scores:
        """Return the cosine of each pair, (pairs,); 0 if a vector is zero."""
        return cosine_of_vectors(self.encode(sentences), left, right)


@runtime_checkable
class SparseScorer(Scorer, Protocol):
    """A scorer that weighs the entries of its vocabulary in each sentence."""

    def weigh(self, sentences: pa.StringArray) -> tuple["Ragged", NDArray[np.float64]]:
        """Return the distinct entries of each sentence, ascending, and their weights."""
        ...


@runtime_checkable
class EmbeddingScorer(Scorer, Protocol):
    """A scorer with an embedding for each entry of its vocabulary."""

    vocabulary_kind: "VocabularyKind"  # the kind of the entries: words, n-grams, both, or characters

    def embedding_array(self) -> NDArray[np.float32]:
        """Return the embedding table in main memory.

        Its rows are those of `texts`; for words and characters they follow row 0, which stands for all unknown ones.
        """
        ...


def cosine_of_vectors(vectors: Vectors, left: Rows, right: Rows) -> Scores:
    """Return the cosine of the rows `left` and `right` of `vectors` (n, dim), (pairs,); 0 if a row is zero.

    That of a row with itself is exactly 1, so that equal sentences have equal ranks.
    """
    unit = normalize_rows(vectors)
    cosines = np.einsum("nd,nd->n", unit[left], unit[right])
    return np.where((left == right) & vectors[left].any(axis=1), np.float32(1), cosines)


def normalize_rows(vectors: Vectors) -> Vectors:
    """Scale the rows of (n, dim) to length 1; a zero row stays zero."""
    with np.errstate(over="ignore"):
        lengths: NDArray[Any] = np.linalg.norm(vectors, axis=1, keepdims=True)
    odd = np.flatnonzero(~((lengths > 1 / _SQUARABLE) & (lengths < _SQUARABLE)))
    if len(odd) and (largest := np.abs(vectors[odd]).max(axis=1, keepdims=True, initial=0)).any():
        vectors = vectors.copy()
        vectors[odd] /= np.where(largest, largest, 1)
        lengths[odd] = np.linalg.norm(vectors[odd], axis=1, keepdims=True)
    lengths[lengths == 0] = 1
    unit: Vectors = vectors / lengths
    return unit


def principal_directions(products: NDArray[np.float64], count: int) -> NDArray[np.float64]:
    """Return the first right singular vectors of X as rows, (min(count, n), n), orthonormal.

    Eigenvectors have no sign of their own: each gets that in which its largest number is positive.

    Args:
        products: (n, n), Xᵀ X of rows X, which are centred or not.
        count: how many.
    """
    _, vectors = np.linalg.eigh(products)  # ascending; one per column
    directions = vectors.T[::-1][:count]
    largest = np.take_along_axis(directions, np.abs(directions).argmax(1)[:, None], 1)
    signed: NDArray[np.float64] = directions * np.sign(largest)
    return signed
