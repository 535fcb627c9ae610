"""Models that are not trained by gradient descent, and the averages of given word vectors that some of them are."""

from abc import ABC, abstractmethod
from typing import Annotated, Any

import pyarrow as pa
from pydantic import BaseModel, BeforeValidator, Field

from paraphrastic.base.tables import TrainingSentences
from paraphrastic.nn.static_form import StaticForm
from paraphrastic.scoring.scorer import Scorer, Vectors
from paraphrastic.scoring.static import StaticEncoder


class Baseline(ABC):
    """A model that computes a scorer from the training sentences, or needs none of them."""

    @staticmethod
    @abstractmethod
    def fit(config: Any, sentences: TrainingSentences) -> Scorer:
        """Return a scorer, from an instance of the model's `Config` and the distinct tokenized training sentences."""


def needed(remedy: str) -> BeforeValidator:
    """Return a check of an option that a baseline cannot do without, whose message ends in `remedy`."""

    def check(path: object) -> object:
        if not path:
            raise ValueError(f"is empty; {remedy}")
        return path

    return BeforeValidator(check)


class PretrainedConfig(BaseModel, strict=True, extra="forbid"):
    """Options of models that read word vectors from a file."""

    # file in GloVe or word2vec text format. Its word `UUUNKKK` has the vector of unknown words; without it, that vector
    # is zero.
    vectors: Annotated[str, needed("set it to a file in GloVe or word2vec text format")]
    dim: int = Field(ge=1, lt=2**31)  # size of a vector


def pretrained_mean(words: pa.StringArray, embeddings: Vectors, directions: Vectors | None = None) -> StaticEncoder:
    """Return an encoder that averages the vectors of words (n,), (n + 1, dim), with row 0 for unknown words.

    Orthonormal `directions` (k, dim) are removed from every mean.
    """
    others = {} if directions is None else {"directions": directions}
    return StaticEncoder(StaticForm("words", "mean"), words, {"embeddings": embeddings} | others)
