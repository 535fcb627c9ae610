"""Sentence vectors as small integers or bits, in the forms of sentence-transformers.

Integers of 8 bits divide a range of each dimension into 255 equal steps. The ranges are those of training sentences,
which the folder of a model has in `ranges.safetensors`, or are given. They never depend on the vectors of a call, so
that a text has the same integers beside any other texts.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple, Protocol, TypeAlias, get_args

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike, NDArray
from safetensors import SafetensorError
from safetensors.numpy import load

from paraphrastic.base.errors import ModelError, ParameterError
from paraphrastic.base.reading import SMALL, regular
from paraphrastic.inference import Precision
from paraphrastic.scoring.scorer import Vectors, VectorScorer, normalize_rows
from paraphrastic.scoring.weight_files import write_arrays

Quantized: TypeAlias = NDArray[np.floating | np.integer]

RANGES = "ranges.safetensors"  # in the folder of a model
_CALIBRATION = 10_000  # sentences, about: of a part of them the ranges of the others differ little


class Ranges(NamedTuple):
    """The least and the largest number of each dimension, (2, dim): of vectors, and of the same with length 1."""

    vectors: Vectors
    unit_vectors: Vectors


class RangedEncoder(Protocol):
    """What the choice of ranges needs of a `Model`."""

    folder: Path
    ranges: Ranges | None

    @property
    def dim(self) -> int:
        """Size of a sentence vector."""
        ...


def quantize(vectors: Vectors, precision: Precision, ranges: ArrayLike | None = None) -> Quantized:
    """Return vectors (n, dim) in another data type.

    `int8` and `uint8` divide the range of each dimension into 255 equal steps; a number outside of it becomes the
    first or the last step. `ubinary` has a bit for each dimension, 1 if the number is above 0, eight bits in a byte,
    the first one highest; `binary` is the same less 128, as int8.

    Args:
        vectors: finite numbers.
        precision: the data type.
        ranges: (2, dim), the least and the largest number of each dimension, for `int8` and `uint8`; see `ranges_of`.

    Returns:
        (n, dim), or (n, ⌈dim / 8⌉) for bits.

    Raises:
        ParameterError: the ranges are missing, or not of this form.
    """
    if precision in ("float32", "float16"):
        return vectors.astype(precision, copy=False)
    if precision in ("binary", "ubinary"):
        bits = np.packbits(vectors > 0, axis=1)
        return bits if precision == "ubinary" else (bits.astype(np.int16) - 128).astype(np.int8)
    low, high = checked_ranges(ranges, vectors.shape[1])
    width = np.where(high > low, high - low, 1) / np.float32(255)  # a dimension without range is 0 everywhere
    steps: NDArray[np.uint8] = ((vectors - low) / width).clip(0, 255).astype(np.uint8)
    return steps if precision == "uint8" else (steps.astype(np.int16) - 128).astype(np.int8)


def ranges_of(vectors: ArrayLike) -> Vectors:
    """Return the least and the largest number of each dimension of vectors (n, dim), (2, dim), for `quantize`.

    Raises:
        ParameterError: there is no vector, or a number is not finite.
    """
    rows = np.asarray(vectors, np.float32)
    if rows.ndim != 2 or not len(rows):
        raise ParameterError(f"vectors of shape {rows.shape}: ranges are those of (n, dim) vectors, one or more")
    return checked_ranges([rows.min(axis=0), rows.max(axis=0)], rows.shape[1])


def checked_ranges(ranges: ArrayLike | None, dim: int) -> Vectors:
    """Return ranges as float32, (2, dim).

    Raises:
        ParameterError: they have another shape, are not finite, or a largest number is below the least one.
    """
    if ranges is None:
        raise ParameterError("integers of 8 bits need `ranges`, (2, dim); `ranges_of` returns those of vectors")
    try:
        checked = np.asarray(ranges, np.float32)
    except (TypeError, ValueError) as error:
        raise ParameterError("ranges that are no numbers: give (2, dim), as `ranges_of` returns them") from error
    if checked.shape != (2, dim):
        raise ParameterError(f"ranges of shape {checked.shape} for vectors of size {dim}: should be (2, {dim})")
    if not (np.isfinite(checked).all() and (checked[0] <= checked[1]).all()):
        raise ParameterError("ranges: each largest number should be finite, and not below the least one")
    return checked


def ranges_for(
    model: RangedEncoder,
    precision: Precision | None,
    given: ArrayLike | None = None,
    is_unit: bool = False,
    truncate_dim: int | None = None,
) -> Vectors | None:
    """Return the ranges of the numbers of vectors, (2, dim); None if `precision` needs none. See `Model.encode`.

    Args:
        model: an encoder.
        precision: data type.
        given: ranges in place of those of the model.
        is_unit: whether the vectors have length 1.
        truncate_dim: how many of the dimensions are kept; None for all.

    Raises:
        ModelError: the model has no such ranges, or no sentence vectors.
        ParameterError: an argument has a wrong value.
    """
    if precision not in (None, *get_args(Precision)):
        raise ParameterError(f"precision = '{precision}': should be one of {', '.join(get_args(Precision))}")
    if truncate_dim is not None and not (isinstance(truncate_dim, int) and 1 <= truncate_dim <= model.dim):
        raise ParameterError(f"truncate_dim = {truncate_dim}: should be from 1 to {model.dim}, the size of a vector")
    if precision not in ("int8", "uint8"):
        return None
    if given is not None:
        return checked_ranges(given, truncate_dim or model.dim)
    if model.ranges is None or (is_unit and truncate_dim):
        how = "give `ranges=ranges_of(vectors)` of typical texts, see paraphrastic.inference.quantization"
        raise ModelError(f"{model.folder}: has no ranges for {precision} of such vectors; {how}")
    return (model.ranges.unit_vectors if is_unit else model.ranges.vectors)[:, :truncate_dim]


def write_ranges(folder: Path, scorer: VectorScorer, sentences: Iterable[pa.StringArray], count: int) -> None:
    """Write the ranges of the vectors of about 10,000 of `count` tokenized sentences to the folder of a model."""
    step = max(1, count // _CALIBRATION)
    parts = [scorer.encode_known(part.take(pa.array(range(0, len(part), step)))) for part in sentences]
    vectors = np.concatenate([np.where(known[:, None], vectors, np.float32(0)) for vectors, known in parts])
    if len(vectors) and np.isfinite(vectors).all():
        ranges = Ranges(ranges_of(vectors), ranges_of(normalize_rows(vectors)))
        write_arrays(folder / RANGES, ranges._asdict())


def read_ranges(folder: Path) -> Ranges | None:
    """Return the ranges in the folder of a model; None if it has none.

    Raises:
        ModelError: the file is damaged.
    """
    path = folder / RANGES
    if not path.is_file():
        return None
    data = regular(path, SMALL).read_bytes()
    try:
        ranges = Ranges(**load(data))
        dim = ranges.vectors.size // 2
        return Ranges(*(checked_ranges(each, dim) for each in ranges))
    except (SafetensorError, TypeError, KeyError, ValueError) as error:
        raise ModelError(f"{path}: damaged; train the model again, or remove this file") from error
