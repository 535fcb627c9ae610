"""One encoder from several, such as those of several seeds or corpora."""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from paraphrastic.base.console import progress
from paraphrastic.base.errors import ModelError, ParameterError
from paraphrastic.base.files import atomic_folder
from paraphrastic.export.compact import entry_groups
from paraphrastic.inference.model import Model, ModelInfo
from paraphrastic.inference.model_folder import write_model
from paraphrastic.inference.places import check_replaceable
from paraphrastic.scoring.scorer import principal_directions
from paraphrastic.scoring.static import EmbeddingTable, StaticEncoder

_BLOCK = 1 << 14  # rows of the tables that are projected at a time

_Matrix = NDArray[np.float64]


def merge(models: Sequence[Model], out: Path, dim: int | None = None) -> int:
    """Write the encoder whose vectors are those of all members side by side, reduced to their principal components.

    The tables of the members stand side by side in T (rows, Σ dims), each divided by its norm, so that all count the
    same; a member that is named twice counts twice. P (Σ dims, dim) holds the first right singular vectors of T.
    Since a sum of rows of T P is the sum of rows of T, times P, the result is a sum of embeddings like its members.
    With all dimensions, its inner products are the means of theirs.

    Charagram models can have different vocabularies: an entry that one lacks has a row of zeros there, which adds
    nothing to a sum. Averages have a vector of unknown words, and so must have the same vocabulary.

    Memory: the members' tables, which are mapped unless vocabularies differ, and the new table in float32.

    Args:
        models: averages with the same vocabulary, or Charagram models.
        out: the folder, which appears whole or not at all; one that is there is replaced.
        dim: dimensions that are kept, and returned; None for as many as the first member has.

    Raises:
        ModelError: a member is no linear sum of embeddings, is of another kind than the first or an average of another
            vocabulary, or has numbers that are not finite.
        ParameterError: there are no members, `dim` is none of 1 to Σ dims, or `out` is there and is no model.
    """
    if not models:
        raise ParameterError("models: there are none; name at least one")
    check_replaceable(out)
    encoders = _with_entries_of_all([_member(model, models[0]) for model in models])
    tables = [encoder.table for encoder in encoders]
    dims = [table.values.shape[1] for table in tables]
    dim = dims[0] if dim is None else dim
    if not 1 <= dim <= sum(dims):
        raise ParameterError(f"dim = {dim}: the models have {sum(dims)} dimensions; choose at most as many")
    projection = _projection(models, _products(tables), dims, dim)
    arrays = {"embeddings": _projected(tables, projection)}
    if "bias" in encoders[0].arrays:
        arrays["bias"] = (np.concatenate([each.arrays["bias"] for each in encoders]) @ projection).astype(np.float32)
    with atomic_folder(out) as part:
        write_model(StaticEncoder(encoders[0].form, encoders[0].texts, arrays), _info(models, dim), part)
    return dim


def teachers_of(model: ModelInfo) -> list[str]:
    """Return the names of the encoders whose vectors a model, or a member of it, learned."""
    return model.teacher.split(" and ") if model.teacher else []


def _member(model: Model, first: Model) -> StaticEncoder:
    """Return the encoder of a member; refuse one that is no linear sum, or of another kind than the first."""
    encoder, other = model.scorer, cast(StaticEncoder, first.scorer)  # which was checked before
    if not isinstance(encoder, StaticEncoder) or encoder.form.activation != "linear":
        raise ModelError(f"{model.folder}: {model.name} is no linear sum of embeddings; choose avg or charagram")
    if others := encoder.arrays.keys() - encoder.table.arrays().keys() - {"bias"}:
        raise ModelError(f"{model.folder}: {model.name} has {min(others)} beside its embeddings and cannot be merged")
    if (model.name, encoder.form) != (first.name, other.form):
        raise ModelError(
            f"{model.folder}: {model.name} is of another kind than {first.folder}, {first.name}; train both with "
            "the same options"
        )
    if encoder.form.vocabulary == "words" and not encoder.texts.equals(other.texts):
        raise ModelError(f"{model.folder}: has another vocabulary than {first.folder}; train both on the same corpus")
    return encoder


def _with_entries_of_all(encoders: Sequence[StaticEncoder]) -> Sequence[StaticEncoder]:
    """Return the encoders with the entries of all, n-grams, words and pairs of words by their first place in any."""
    if all(each.texts.equals(encoders[0].texts) for each in encoders):
        return encoders
    places: dict[str, tuple[int, int]] = {}
    for encoder in encoders:
        counts: Counter[int] = Counter()
        for text, group in zip(encoder.texts.to_pylist(), entry_groups(encoder).tolist(), strict=True):
            places[text] = min(places.get(text, (group, counts[group])), (group, counts[group]))
            counts[group] += 1
    texts = pa.array(sorted(places, key=lambda text: (places[text], text)), pa.string())
    extended = []
    for encoder in encoders:
        embeddings = np.zeros((len(texts), encoder.table.values.shape[1]), np.float32)
        embeddings[pc.index_in(encoder.texts, texts).to_numpy()] = encoder.table.array()
        extended.append(encoder.with_table(texts, EmbeddingTable(embeddings)))
    return extended


def _blocks(tables: Sequence[EmbeddingTable], description: str) -> Iterator[NDArray[np.float32]]:
    """Yield blocks of rows of the tables side by side, (rows, Σ dims)."""
    with progress() as bar:
        for start in bar.track(range(0, len(tables[0]), _BLOCK), description=description):
            rows = np.arange(start, min(start + _BLOCK, len(tables[0])))
            yield np.hstack([table.take(rows) for table in tables])


def _products(tables: Sequence[EmbeddingTable]) -> _Matrix:
    """Return Tᵀ T of the tables side by side, (Σ dims, Σ dims), before they are divided by their norms."""
    size = sum(table.values.shape[1] for table in tables)
    products = np.zeros((size, size))
    with np.errstate(over="ignore", invalid="ignore"):  # `_projection` refuses such tables
        for block in _blocks(tables, "products"):
            products += block.T @ block
    return products


def _projection(models: Sequence[Model], products: _Matrix, dims: Sequence[int], dim: int) -> _Matrix:
    """Return the matrix that turns vectors side by side into merged ones, (Σ dims, dim), from Tᵀ T."""
    squares = np.add.reduceat(np.diag(products), np.cumsum([0, *dims[:-1]]))  # of the norm of each table
    if not (is_finite := np.isfinite(squares)).all():
        folder = models[int(is_finite.argmin())].folder
        raise ModelError(f"{folder}: embeddings that are not finite; train the model again")
    scale = np.repeat(1 / np.sqrt(np.maximum(squares, np.finfo(np.float64).tiny)), dims)
    directions = principal_directions(products * scale * scale[:, None], dim)
    projection: _Matrix = directions.T * scale[:, None] * np.sqrt(squares.mean() / len(dims))
    return projection


def _projected(tables: Sequence[EmbeddingTable], projection: _Matrix) -> NDArray[np.float32]:
    projected = np.empty((len(tables[0]), projection.shape[1]), np.float32)
    start, matrix = 0, projection.astype(np.float32)
    for block in _blocks(tables, "embeddings"):
        np.matmul(block, matrix, out=projected[start : start + len(block)])
        start += len(block)
    return projected


def _info(models: Sequence[Model], dim: int) -> ModelInfo:
    """Return what config.json says: the options of the first member, and what all of them have learned from."""
    selection = dict.fromkeys(name for model in models for name in model.selection)
    teachers = dict.fromkeys(name for model in models for name in teachers_of(model))
    return ModelInfo(
        models[0].name,
        {**models[0].options, "dim": dim},
        [*selection],
        " and ".join(teachers) or None,
        {name: count for model in models for name, count in model.sources.items()},
        sum(model.members for model in models),
        models[0].loss,
    )
