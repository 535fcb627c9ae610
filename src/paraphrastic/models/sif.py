"""Smooth inverse frequency (SIF): Arora, Liang and Ma (2017), Algorithm 1."""

from pathlib import Path
from typing import Annotated

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pydantic import Field, ValidationInfo, field_validator

from paraphrastic.base.errors import DataError
from paraphrastic.base.tables import TrainingSentences
from paraphrastic.scoring.baseline import Baseline, PretrainedConfig, pretrained_mean
from paraphrastic.scoring.scorer import principal_directions
from paraphrastic.scoring.static import StaticEncoder
from paraphrastic.text.columns import chunks
from paraphrastic.vocabulary.counting import WORDS_CHUNK, count_words
from paraphrastic.vocabulary.pretrained import read_vectors


class Config(PretrainedConfig):
    """Options of SIF."""

    a: Annotated[float, Field(gt=0, allow_inf_nan=False)]  # a word w has weight a / (a + p(w))
    components: int = Field(ge=0)  # how many principal components are removed; 1 in the paper

    @field_validator("components")
    @classmethod
    def _check_components(cls, components: int, info: ValidationInfo) -> int:
        dim = info.data.get("dim")  # missing if it is itself invalid
        if dim is not None and components >= dim:
            raise ValueError(f"should be less than dim ({dim}), so that a direction remains")
        return components


class Sif(Baseline):
    """`g(s) = 1/|s| Σ_w a / (a + p(w)) x_w`, without its projection on the first principal components.

    p(w) and the components are computed on the training sentences, so that a vector does not depend on which other
    sentences are encoded. The paper computes the components on the sentences of each evaluation set.
    """

    @staticmethod
    def fit(config: Config, sentences: TrainingSentences) -> StaticEncoder:
        """Weight the words and compute the components, as many as the sentences have.

        Raises:
            DataError: there are components, and no word of the sentences has a vector; or as `read_vectors`.
        """
        words, table = read_vectors(Path(config.vectors), config.dim)
        weighted = table * _row_weights(words, sentences, config.a)[:, None]
        encoder = pretrained_mean(words, weighted)
        means = (encoder.encode(chunk) for chunk in chunks(sentences, WORDS_CHUNK))
        products = sum(((x.T @ x).astype(np.float64) for x in means), np.zeros((config.dim, config.dim)))  # not centred
        if config.components and not products.any():
            raise DataError(f"{config.vectors}: has no word of the training sentences; choose another file or corpus")
        rank = int(np.linalg.matrix_rank(products, tol=1e-6 * products.trace(), hermitian=True))
        components = principal_directions(products, min(config.components, rank)).astype(np.float32)
        return pretrained_mean(words, weighted, components)


def _row_weights(words: pa.StringArray, sentences: TrainingSentences, a: float) -> NDArray[np.float32]:
    """Return a / (a + p(w)) for the row of each word w; 1 for words that the corpus lacks and for unknown words."""
    counted = count_words(sentences)
    rows = pc.index_in(words, counted["text"].combine_chunks())
    counts = pc.fill_null(counted["count"].combine_chunks().take(rows), 0).to_numpy()
    total = pc.sum(counted["count"]).as_py() or 1  # null without a word
    weights: NDArray[np.float32] = (a / (a + counts / total)).astype(np.float32)
    return np.concatenate([np.ones(1, np.float32), weights])


MODEL = Sif
