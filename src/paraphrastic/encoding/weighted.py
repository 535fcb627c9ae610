"""Means of given word vectors, which nothing trains."""

from pathlib import Path
from typing import Any, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pydantic import BaseModel, Field
from scipy.sparse import csr_array

from paraphrastic.encoding.cosine import of_vectors
from paraphrastic.encoding.store import read_weights, write_weights
from paraphrastic.errors import ModelError, ParameterError
from paraphrastic.text.vectors import read_vectors
from paraphrastic.text.words import Words

_SENTENCES = 1 << 14  # per product with the table


class GivenConfig(BaseModel, strict=True, extra="forbid"):
    """Options of models of given vectors.

    Attributes:
        vectors: file in GloVe or word2vec text format.
        dim: numbers per vector.
    """

    vectors: str | None
    dim: int = Field(ge=1)

    def read(self) -> tuple[pa.StringArray, NDArray[np.float32]]:
        """The words (n,) and vectors (n, dim) of the file.

        Raises:
            ParameterError: no file is named.
            DataError: it is missing, damaged or of another dimension.
        """
        if not self.vectors:
            raise ParameterError("`vectors` of the model names no file: set it to one in GloVe or word2vec text format")
        return read_vectors(Path(self.vectors), self.dim)


class WeightedMean:
    """`v(s) = 1/|s| Σ_w x_w`, less its part along given directions; unknown words count as zero vectors.

    Args:
        texts: the words of the vocabulary.
        table: (words + 1, dim) float32, their vectors, weighted or not; row 0, for unknown words, is zero.
        directions: (k, dim) orthonormal, what is removed from every sentence.
    """

    def __init__(self, texts: pa.StringArray, table: NDArray[np.float32], directions: NDArray[np.float32]) -> None:
        self.texts, self.table, self.directions = texts, table, directions
        self._units = Words(texts)

    def encode(self, sentences: pa.StringArray) -> NDArray[np.float32]:
        """Vectors of tokenized sentences, (n, dim)."""
        starts = range(0, len(sentences), _SENTENCES)
        parts = [self._mean(sentences.slice(start, _SENTENCES)) for start in starts]
        means = np.concatenate([np.empty((0, self.table.shape[1]), np.float32), *parts])
        return means - means @ self.directions.T @ self.directions

    def _mean(self, sentences: pa.StringArray) -> NDArray[np.float32]:
        bags = self._units.bags(sentences)
        counts = csr_array((np.ones(len(bags.ids), np.float32), bags.ids, bags.offsets), (len(bags), len(self.table)))
        return counts @ self.table / np.maximum(bags.lengths, 1).astype(np.float32)[:, None]

    def score(
        self, sentences: pa.StringArray, left: NDArray[np.integer], right: NDArray[np.integer]
    ) -> NDArray[np.float32]:
        """Cosine of each pair, 0 where a vector is zero."""
        return of_vectors(self.encode(sentences), left, right)

    def unknown(self, sentences: pa.StringArray) -> NDArray[np.float64]:
        """Share of each sentence's words that have no vector, (n,)."""
        return self._units.unknown(sentences)

    def save(self, folder: Path) -> dict[str, Any]:
        """Write words, vectors and directions; what is returned goes to `config.json`."""
        return write_weights(folder, self.texts, {"table": self.table, "directions": self.directions})

    @classmethod
    def load(cls, folder: Path, config: BaseModel) -> Self:
        """The scorer that `save` wrote to `folder`.

        Raises:
            ModelError: weights and vocabulary are damaged, or not those of this model.
        """
        words, arrays = read_weights(folder)
        if not arrays.keys() >= {"table", "directions"} or len(arrays["table"]) != len(words) + 1:
            raise ModelError(f"{folder}/weights.safetensors: not the weights of this model; train it again")
        return cls(words, arrays["table"], arrays["directions"])
