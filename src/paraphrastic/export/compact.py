"""Smaller folders of models: embeddings in float16 or integers of 8 to 2 bits, and fewer of them."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from paraphrastic.base.errors import ModelError, ParameterError
from paraphrastic.base.files import atomic_folder
from paraphrastic.evaluation.metrics import positions_in_groups
from paraphrastic.inference.model import Model
from paraphrastic.inference.model_folder import write_model
from paraphrastic.inference.places import check_replaceable
from paraphrastic.scoring import TableFormat
from paraphrastic.scoring.static import EmbeddingTable, StaticEncoder, with_table_format
from paraphrastic.scoring.weight_files import RANGES, Ranges, write_arrays
from paraphrastic.vocabulary.kinds import END, START, entry_kinds

_NGRAMS, _WORDS, _PAIRS = range(3)  # groups of entries
# vectors are of length 1, more or less; squares of lengths must not leave the range of float32
_LEAST_SCALE = 1e-6
_STEPS = 10  # of the search for a share, each half as large as the one before


def compact(model: Model, out: Path, table: TableFormat, max_mb: float | None = None, scale: float = 1.0) -> int:
    """Write a model with its embeddings in another format and, if it is too large, with a part of its vocabulary.

    The vocabulary keeps the entries that add most to the sentence vectors: those of the largest length times
    frequency, which is taken as the number of all words, pairs of words or n-grams over the place among them, since
    the most frequent ones stand first. Words that are kept get the sum of their n-grams that are not, so that their
    vectors stay the same.

    Args:
        model: an average or Charagram.
        out: the folder, which appears whole or not at all; one that is there is replaced.
        table: format of the embeddings.
        max_mb: largest size of the folder in MB, 10⁶ bytes; None for no limit.
        scale: multiplies all vectors. Their cosines stay, but a classifier with a penalty of its weights learns
            something else.

    Returns:
        How many entries the vocabulary has.

    Raises:
        ModelError: the model is no sum of embeddings, or a thousandth of its vocabulary is too large, or it has an
            activation function and `scale` is not 1.
        ParameterError: there is no such format, `max_mb` or `scale` is not above 0, the format cannot hold vectors of
            that scale, or `out` is there and is no model.
    """
    if max_mb is not None and not max_mb > 0:
        raise ParameterError(f"max_mb = {max_mb}: should be a number above 0")
    check_replaceable(out)
    try:
        return _compact(model if scale == 1 else _scaled(model, scale), out, table, max_mb)
    except OverflowError as error:
        remedy = "a scale below 1, or another table" if scale == 1 else "a scale nearer to 1"
        raise ParameterError(f"scale = {scale}: {table} cannot hold such vectors; choose {remedy}") from error


def _compact(model: Model, out: Path, table: TableFormat, max_mb: float | None) -> int:
    """Write the folder as `compact` does; raise an OverflowError if the format cannot hold the embeddings."""
    encoder = with_table_format(model.scorer, model.name, model.folder, table)
    whole, rows = with_table_format(model.scorer, model.name, model.folder, "float32"), encoder.table.array()
    if not (np.isfinite(rows).all() and (rows.any(axis=1) >= whole.table.array().any(axis=1)).all()):
        raise OverflowError(f"{table}: infinite numbers, or zeros in place of vectors")
    with atomic_folder(out) as part:
        size = _write(encoder, model, part)
        if max_mb is not None and size > max_mb * 1e6:
            encoder = _largest(whole, table, model, part, max_mb * 1e6)
            _write(encoder, model, part)
    return len(encoder.texts)


def _scaled(model: Model, scale: float) -> Model:
    if not _LEAST_SCALE <= scale <= 1 / _LEAST_SCALE:
        raise ParameterError(f"scale = {scale}: should be a number from {_LEAST_SCALE:g} to {1 / _LEAST_SCALE:g}")
    encoder = with_table_format(model.scorer, model.name, model.folder, "float32")
    if encoder.form.activation != "linear":
        raise ModelError(
            f"{model.folder}: {model.name} has the activation function {encoder.form.activation} and cannot be scaled; "
            "leave out the scale"
        )
    factor, fixed = np.float32(scale), ("dense.W", "directions")
    arrays = {name: array if name in fixed else array * factor for name, array in encoder.arrays.items()}
    ranges = model.ranges and Ranges(model.ranges.vectors * factor, model.ranges.unit_vectors)
    return replace(model, scorer=StaticEncoder(encoder.form, encoder.texts, arrays), ranges=ranges)


def _write(encoder: StaticEncoder, model: Model, folder: Path) -> int:
    """Write a model and return the size of its folder in bytes."""
    write_model(encoder, model, folder)
    if model.ranges:
        write_arrays(folder / RANGES, model.ranges._asdict())
    return sum(file.stat().st_size for file in folder.iterdir())


def _largest(encoder: StaticEncoder, table: TableFormat, model: Model, trial: Path, limit: float) -> StaticEncoder:
    """Return the encoder with the largest share of its vocabulary, to 1 in 1024, whose folder is not above `limit`.

    `encoder`, that of `model`, is in float32. Sizes are those of the files of each share, which are written to `trial`.
    """
    order, best, share, step = np.argsort(-_importance(encoder), kind="stable"), None, 0.5, 0.25
    for _ in range(_STEPS):
        part = _part(encoder, np.sort(order[: max(1, round(share * len(order)))]))
        smaller = part.with_table(part.texts, part.table.in_format(table))
        size = _write(smaller, model, trial)
        best = smaller if size <= limit else best
        share += step if size <= limit else -step
        step /= 2
    if best is None:
        raise ModelError(
            f"{model.folder}: takes {size / 1e6:.3g} MB with a thousandth of its vocabulary; allow more than "
            f"{limit / 1e6:g}"
        )
    return best


def _importance(encoder: StaticEncoder) -> NDArray[np.float64]:
    """Return how much each entry adds to sentence vectors, up to a factor, (n,); infinite for boundary tokens."""
    texts = encoder.texts
    groups = entry_groups(encoder)
    lengths = np.linalg.norm(encoder.table.array()[_unknown(encoder) :], axis=1)
    is_boundary = pc.is_in(texts, pa.array([START, END])).to_numpy(zero_copy_only=False)
    ranks = positions_in_groups(groups) + 1
    return np.where(is_boundary, np.inf, lengths * np.bincount(groups)[groups] / ranks)


def entry_groups(encoder: StaticEncoder) -> NDArray[np.int64]:
    """Return a number for each entry, the same for all n-grams, for all words, and for all pairs of words, (n,)."""
    if encoder.form.vocabulary == "words":
        return np.full(len(encoder.texts), _WORDS)
    _, words, pairs = (kind.to_numpy(zero_copy_only=False) for kind in entry_kinds(encoder.texts))
    return np.select([words, pairs], [_WORDS, _PAIRS], _NGRAMS)


def _unknown(encoder: StaticEncoder) -> int:
    """Return 1 if the table begins with a row of unknown words, 0 otherwise."""
    return len(encoder.table) - len(encoder.texts)


def _part(encoder: StaticEncoder, kept: NDArray[np.integer]) -> StaticEncoder:
    """Return the encoder with the entries `kept`, ascending, whose words contain the n-grams that are not kept."""
    unknown, table, texts = _unknown(encoder), encoder.table, encoder.texts.take(kept)
    rows = table.array()[np.concatenate([np.arange(unknown), kept + unknown])]
    if encoder.form.vocabulary == "words+ngrams":
        is_word = entry_groups(encoder)[kept] == _WORDS
        found = encoder.vocabulary.lookup(pc.utf8_trim(texts.filter(is_word), " "))
        is_kept = np.zeros(len(table), bool)
        is_kept[kept] = True
        rows[is_word] += table.sums(found.ids, found.offsets, encoder.id_weights(found) * ~is_kept[found.ids])
    return encoder.with_table(texts, EmbeddingTable(rows))
