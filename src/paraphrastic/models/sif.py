"""Smooth inverse frequency: Arora, Liang and Ma (2017), Algorithm 1."""

from typing import Annotated, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pydantic import Field

from paraphrastic.encoding.weighted import GivenConfig, WeightedMean
from paraphrastic.text.vocabulary import count_words


class Config(GivenConfig):
    """Options of SIF.

    Attributes:
        a: a word w weighs a / (a + p(w)).
        components: how many principal components are removed, 1 in the paper.
    """

    a: Annotated[float, Field(gt=0, allow_inf_nan=False)]
    components: int = Field(ge=0)


class Sif(WeightedMean):
    """`v(s) = 1/|s| Σ_w a / (a + p(w)) x_w`, less its part along the first principal components.

    p(w) and the components are those of the training corpus, so that no sentence is changed by the set that it
    is scored in; the paper takes the components from that set.
    """

    @classmethod
    def fit(cls, config: Config, sentences: pa.StringArray) -> Self:
        """Weigh the words and find the components.

        Raises:
            ParameterError: no file is named.
            DataError: it is missing, damaged or of another dimension.
        """
        words, table = config.read()
        table *= _weights(words, sentences, config.a)[:, None]
        none = np.empty((0, config.dim), np.float32)
        plain = cls(words, np.pad(table, ((1, 0), (0, 0))), none)
        return cls(plain.texts, plain.table, _components(plain.encode(sentences), config.components))


def _weights(words: pa.StringArray, sentences: pa.StringArray, a: float) -> NDArray[np.float32]:
    """The weight a / (a + p(w)) of each word; 1 for what the corpus lacks."""
    counted = count_words(sentences)
    places = pc.index_in(words, counted["text"].combine_chunks())
    counts = pc.fill_null(counted["count"].combine_chunks().take(places), 0).to_numpy()
    return (a / (a + counts / max(1, pc.sum(counted["count"]).as_py() or 0))).astype(np.float32)


def _components(vectors: NDArray[np.float32], count: int) -> NDArray[np.float32]:
    """The first right singular vectors of (n, dim), not centred, as rows: (count, dim)."""
    _, directions = np.linalg.eigh((vectors.T @ vectors).astype(np.float64))
    return np.ascontiguousarray(directions.T[::-1][:count]).astype(np.float32)


MODEL = Sif
