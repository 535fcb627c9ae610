"""Sentence vectors as small integers or bits, in the forms of sentence-transformers."""

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from paraphrastic.scoring.scorer import Vectors

Precision = Literal["float32", "float16", "int8", "uint8", "binary", "ubinary"]


def quantize(vectors: Vectors, precision: Precision) -> NDArray[Any]:
    """Return vectors (n, dim) in another data type.

    `int8` and `uint8` divide the range of each dimension over the n vectors into 255 equal steps. `ubinary` has a bit
    for each dimension, 1 if the number is above 0, eight bits in a byte, the first one highest; `binary` is the same
    less 128, as int8.

    Returns:
        (n, dim), or (n, ⌈dim / 8⌉) for bits.
    """
    if precision in ("float32", "float16"):
        return vectors.astype(precision)
    if precision in ("binary", "ubinary"):
        bits = np.packbits(vectors > 0, axis=1)
        return bits if precision == "ubinary" else (bits.astype(np.int16) - 128).astype(np.int8)
    steps = _steps(vectors)
    return steps if precision == "uint8" else (steps.astype(np.int16) - 128).astype(np.int8)


def _steps(vectors: Vectors) -> NDArray[np.uint8]:
    if not len(vectors):
        return vectors.astype(np.uint8)
    low, high = vectors.min(axis=0), vectors.max(axis=0)
    width = np.where(high > low, high - low, 1) / 255  # a dimension without range is 0 everywhere
    steps: NDArray[np.uint8] = ((vectors - low) / width).clip(0, 255).astype(np.uint8)
    return steps
