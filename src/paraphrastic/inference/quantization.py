"""Sentence vectors as small integers or bits, in the forms of sentence-transformers.

Integers of 8 bits divide a range of each dimension into 255 equal steps. The ranges are those of training sentences,
which the folder of a model has in `ranges.safetensors`, or are given. They never depend on the vectors of a call, so
that a text has the same integers beside any other texts.
"""

from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from paraphrastic.base.errors import ParameterError
from paraphrastic.inference import Precision
from paraphrastic.scoring.scorer import Vectors
from paraphrastic.scoring.weight_files import checked_ranges

Quantized: TypeAlias = NDArray[np.floating | np.integer]


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
