"""Vectors that users give in place of texts."""

from typing import Any

import numpy as np

from paraphrastic.base.errors import ParameterError
from paraphrastic.scoring.scorer import Vectors


def vectors_of(given: Any) -> Vectors | None:
    """Return vectors, (n, dim), of an array or a tensor, (n, dim) or (dim,), or a list of vectors; None of texts.

    Raises:
        ParameterError: the vectors are of another type or shape, or have a number that is not finite.
    """
    if _is_numeric(given):
        return _checked(_floats(given))
    is_column = hasattr(given, "__len__") and getattr(given, "ndim", None) != 0  # an iterator would lose its first
    first = next(iter(given), None) if is_column else None
    is_nested = isinstance(first, list | tuple)  # of JSON, where a vector of zeros has integers
    if not (_is_numeric(first) or _is_list(first) or (is_nested and any(map(_is_list, given)))):
        return None
    rows = [_floats(each) for each in given]
    shapes = {row.shape for row in rows}
    if len(shapes) > 1 or rows[0].ndim != 1:
        raise ParameterError(f"a list of vectors of shapes {sorted(shapes)}: should have one shape, (dim,)")
    return _checked(np.stack(rows))


def is_tensor(given: Any) -> bool:
    """Return whether `given` is a tensor of torch, or a list of tensors."""
    return hasattr(given[0] if isinstance(given, list | tuple) and given else given, "detach")


def _is_numeric(given: Any) -> bool:
    dtype = getattr(given, "dtype", None)
    is_float = "float" in str(dtype) and "list" not in str(dtype)  # lists in a column of Arrow
    return hasattr(given, "detach") or getattr(dtype, "kind", "O") in "fiubc" or is_float


def _is_list(given: Any) -> bool:
    """Return whether this is a list of floating-point numbers, as JSON has it, or one of a column of Arrow."""
    return isinstance(listed := _plain(given), list | tuple) and any(isinstance(each, float) for each in listed)


def _plain(given: Any) -> Any:
    return given.as_py() if hasattr(given, "as_py") else given


def _floats(given: Any) -> Vectors:
    """Return numbers as float32, of a tensor on any device too."""
    if isinstance(listed := _plain(given), list | tuple):
        try:
            given = np.array(listed, np.float64)
        except (TypeError, ValueError) as error:
            raise ParameterError(f"a vector that is no list of numbers: {error}") from error
    if not (_is_numeric(given) and (getattr(given.dtype, "kind", "") == "f" or "float" in str(given.dtype))):
        kind = getattr(given, "dtype", type(given).__name__)
        raise ParameterError(f"vectors of {kind}: cosines are those of floating-point vectors, without `precision`")
    if np.ma.is_masked(given):
        raise ParameterError("vectors with masked numbers: leave these rows out, or fill them")
    with np.errstate(over="ignore"):  # of float64: found below
        return np.asarray(given.detach().float().cpu() if hasattr(given, "detach") else given, np.float32)


def _checked(vectors: Vectors) -> Vectors:
    if vectors.ndim not in (1, 2) or not vectors.shape[-1]:
        raise ParameterError(f"vectors of shape {vectors.shape}: should be (n, dim), or (dim,) for one vector")
    rows = np.atleast_2d(vectors)
    if not (is_finite := np.isfinite(rows).all(axis=1)).all():
        raise ParameterError(f"vectors[{is_finite.argmin()}] has NaN or an infinite number; leave it out")
    return rows
