"""Encoders that average given word vectors."""

from pathlib import Path

import pyarrow as pa
from pydantic import BaseModel, Field

from paraphrastic.base.errors import ParameterError
from paraphrastic.nn.static_form import StaticForm
from paraphrastic.scoring.scorer import Vectors
from paraphrastic.scoring.static import StaticEncoder
from paraphrastic.vocabulary.pretrained import read_vectors


class PretrainedConfig(BaseModel, strict=True, extra="forbid"):
    """Options of models that read word vectors from a file.

    Attributes:
        vectors: file in GloVe or word2vec text format. Its word `UUUNKKK` has the vector of unknown words; without it,
            that vector is zero.
        dim: size of a vector.
    """

    vectors: str | None
    dim: int = Field(ge=1)


def read_pretrained(config: PretrainedConfig) -> tuple[pa.StringArray, Vectors]:
    """Return the words (n,) of the file that `config` names, and their embedding table (n + 1, dim).

    Row 0 of the table is the vector of unknown words, see `read_vectors`.

    Raises:
        ParameterError: no file is named.
        DataError: the file is missing, damaged or of another dimension.
    """
    if not config.vectors:
        raise ParameterError("`vectors` of the model is empty: set it to a file in GloVe or word2vec text format")
    return read_vectors(Path(config.vectors), config.dim)


def pretrained_mean(words: pa.StringArray, embeddings: Vectors, directions: Vectors | None = None) -> StaticEncoder:
    """Return an encoder that averages word vectors.

    Args:
        words: (n,).
        embeddings: (n + 1, dim), with row 0 for unknown words.
        directions: (k, dim), orthonormal directions that are removed from every mean; None for none.
    """
    arrays = {"embeddings": embeddings}
    if directions is not None:
        arrays["directions"] = directions
    return StaticEncoder(StaticForm("words", "mean"), words, arrays)
