"""TF-IDF over whatever a text is cut into: baselines that only learn how rare each unit is."""

from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any, Generic, Self, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pydantic import BaseModel
from scipy.sparse import csr_array
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer

from paraphrastic.encoding.cosine import of_bags
from paraphrastic.encoding.store import read_weights, write_weights
from paraphrastic.errors import DataError, ModelError

Options = TypeVar("Options", bound=BaseModel)


class Tfidf(ABC, Generic[Options]):
    """Cosine of counts × idf = 1 + ln((1 + n) / (1 + df)): df of the n training sentences have the unit.

    Args:
        config: the model's options.
        units: those of the training corpus; others count for nothing.
        idf: (units,) their weights.
    """

    def __init__(self, config: Options, units: pa.StringArray, idf: NDArray[np.float64]) -> None:
        self.config, self.units, self.idf = config, units, idf
        self._counter = self._counting(config, units.to_pylist())

    @staticmethod
    @abstractmethod
    def cut(text: str, config: Options) -> list[str]:
        """The units of a tokenized sentence, repeated as they occur."""

    @classmethod
    def fit(cls, config: Options, sentences: pa.StringArray) -> Self:
        """Weigh the units of the training corpus.

        Raises:
            DataError: no sentence has a unit.
        """
        counter = cls._counting(config)
        try:
            counts = counter.fit_transform(sentences.to_pylist())
        except ValueError as error:  # an empty vocabulary
            raise DataError(f"no text of the corpus can be cut with {dict(config)}: change it or the corpus") from error
        return cls(config, pa.array(counter.get_feature_names_out()), TfidfTransformer().fit(counts).idf_)

    def score(
        self, sentences: pa.StringArray, left: NDArray[np.integer], right: NDArray[np.integer]
    ) -> NDArray[np.float32]:
        """Cosine of each pair, 0 where a sentence has no known unit."""
        return of_bags(self._counts(sentences).multiply(self.idf).tocsr(), left, right)

    def unknown(self, sentences: pa.StringArray) -> NDArray[np.float64]:
        """Share of each sentence's units that the training corpus does not have, (n,); 0 where it has none."""
        units = np.array([len(self.cut(text, self.config)) for text in sentences.to_pylist()])
        return (units - self._counts(sentences).sum(axis=1)) / np.maximum(units, 1)

    def save(self, folder: Path) -> dict[str, Any]:
        """Write units and idf; what is returned goes to `config.json`."""
        return write_weights(folder, self.units, {"idf": self.idf})

    @classmethod
    def load(cls, folder: Path, config: Options) -> Self:
        """The scorer that `save` wrote to `folder`.

        Raises:
            ModelError: weights and vocabulary are damaged, or not those of this model.
        """
        units, arrays = read_weights(folder)
        if "idf" not in arrays:
            raise ModelError(f"{folder}/weights.safetensors: not the weights of this model; train it again")
        return cls(config, units, arrays["idf"])

    def _counts(self, sentences: pa.StringArray) -> csr_array:
        """How often each sentence has each unit, (n, units)."""
        return csr_array(self._counter.transform(sentences.to_pylist()))

    @classmethod
    def _counting(cls, config: Options, units: list[str] | None = None) -> CountVectorizer:
        return CountVectorizer(analyzer=lambda text: cls.cut(text, config), vocabulary=units, dtype=np.float64)
