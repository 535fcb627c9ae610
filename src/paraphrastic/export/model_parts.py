"""Parts of a model that formats can hold: words, their vectors, and the layers on top of the mean."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from paraphrastic.base.errors import ModelError
from paraphrastic.inference.model import Model
from paraphrastic.nn.static_form import Activation
from paraphrastic.scoring.external_encoder import ExternalEncoder
from paraphrastic.scoring.scorer import EmbeddingScorer, Vectors
from paraphrastic.scoring.static import StaticEncoder
from paraphrastic.vocabulary.kinds import BoundaryTokens

UNKNOWN_SENTENCE = "a sentence of which nothing is known has the vector of unknown words, not zero"


class DenseLayer(NamedTuple):
    """`f(x W + b)`."""

    W: NDArray[Any]  # (inputs, outputs)
    b: NDArray[Any]  # (outputs,)
    activation: Activation  # f


class WordMean(NamedTuple):
    """A mean of word vectors, and layers on top of it."""

    words: pa.StringArray  # (n,)
    embeddings: Vectors  # (n + 1, dim), with row 0 for unknown words
    boundary_tokens: BoundaryTokens  # that enclose every sentence
    layers: tuple[DenseLayer, ...]  # the first one reads the mean


def check_encoder(model: Model) -> None:
    """Refuse a model that is no sentence encoder of this package.

    Raises:
        ModelError: it compares pairs, or belongs to another package.
    """
    if isinstance(model.scorer, ExternalEncoder):
        raise ModelError(f"{model.folder}: {model.name} is an encoder of another package; copy the folder `path` of it")
    model.encoder("export an encoder")


def word_mean(model: Model) -> WordMean:
    """Return a model whose vectors are those of a few layers on top of a mean of word vectors.

    Raises:
        ModelError: the model is another one.
    """
    check_encoder(model)
    scorer: Any = model.scorer
    if _is_mean(scorer):
        return WordMean(*word_embeddings(model), scorer.form.boundary_tokens, _projection(scorer.arrays))
    if model.name in ("proj", "dan"):
        arrays, activation = scorer.arrays(), model.options.get("activation", "linear")
        names = sorted(name.removesuffix(".W") for name in arrays if name.endswith(".W"))
        layers = tuple(DenseLayer(arrays[f"{name}.W"], arrays[f"{name}.b"], activation) for name in names)
        return WordMean(*word_embeddings(model), scorer.module.boundary_tokens, layers)
    raise _other_format(model, "has other parts than a mean of word vectors and dense layers")


def plain_average(model: Model) -> tuple[pa.StringArray, Vectors]:
    """Return words (n,) and the embedding table (n + 1, dim) of a model whose vectors are means of word vectors.

    Raises:
        ModelError: the model is another one.
    """
    check_encoder(model)
    scorer: Any = model.scorer
    if not _is_mean(scorer) or scorer.form.boundary_tokens != "none" or _projection(scorer.arrays):
        raise _other_format(model, "is not a plain average of word vectors")
    return word_embeddings(model)


def word_embeddings(model: Model) -> tuple[pa.StringArray, Vectors]:
    """Return words (n,) and the embedding table (n + 1, dim), whose row 0 stands for unknown words.

    Raises:
        ModelError: the model has no word embeddings.
    """
    scorer = model.scorer
    if not (isinstance(scorer, EmbeddingScorer) and scorer.vocabulary_kind == "words"):
        remedy = "export a model whose vocabulary is words alone, such as avg"
        raise ModelError(f"{model.folder}: {model.name} has no word embeddings; {remedy}")
    return scorer.texts, scorer.embedding_array()


def _is_mean(scorer: Any) -> bool:
    if not isinstance(scorer, StaticEncoder):
        return False
    form = scorer.form
    is_linear = form.activation == "linear" and not {"bias", "dense.W"} & scorer.arrays.keys()
    return (form.vocabulary, form.pooling, is_linear) == ("words", "mean", True)


def _projection(arrays: Mapping[str, NDArray[Any]]) -> tuple[DenseLayer, ...]:
    """Return the layer that removes the orthonormal rows of `directions`; none if there are none."""
    directions = arrays.get("directions", np.empty((0, 0)))
    if not len(directions):
        return ()
    dim = directions.shape[1]
    W = np.eye(dim) - directions.T.astype(np.float64) @ directions
    return (DenseLayer(W.astype(np.float32), np.zeros(dim, np.float32), "linear"),)


def _other_format(model: Model, reason: str) -> ModelError:
    return ModelError(
        f"{model.folder}: {model.name} with these options {reason}; use --to sentence-transformers or --to onnx"
    )
