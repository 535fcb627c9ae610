"""Word overlap: a baseline that needs no training."""

from pathlib import Path
from typing import Any, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pydantic import BaseModel
from scipy.sparse import csr_array

from paraphrastic.encoding.cosine import of_bags
from paraphrastic.text.words import split


class Config(BaseModel, strict=True, extra="forbid"):
    """Word overlap has no options."""


class Overlap:
    """Cosine of binary bags of words: |A ∩ B| / √(|A| |B|) for the sets of tokens A and B."""

    @classmethod
    def fit(cls, config: Config, sentences: pa.StringArray) -> Self:
        """A scorer; there is nothing to learn from the training corpus."""
        return cls()

    def score(
        self, sentences: pa.StringArray, left: NDArray[np.integer], right: NDArray[np.integer]
    ) -> NDArray[np.float32]:
        """Overlap of each pair, 0 where a sentence is empty."""
        return of_bags(_bags(sentences), left, right)

    def unknown(self, sentences: pa.StringArray) -> NDArray[np.float64]:
        """Zero for each sentence, (n,): there is no vocabulary."""
        return np.zeros(len(sentences))

    def save(self, folder: Path) -> dict[str, Any]:
        """There is no state to write."""
        return {}

    @classmethod
    def load(cls, folder: Path, config: Config) -> Self:
        """A scorer; there is no state to read."""
        return cls()


def _bags(sentences: pa.StringArray) -> csr_array:
    """1 where a sentence has a word, (n, words)."""
    words, offsets = split(sentences)
    ids = words.dictionary_encode()
    shape = len(sentences), len(ids.dictionary)
    # a copy, because Arrow's memory is read-only
    bags = csr_array((np.ones(len(ids)), ids.indices.to_numpy(), offsets), shape, copy=True)
    bags.sum_duplicates()
    bags.data[:] = 1
    return bags


MODEL = Overlap
