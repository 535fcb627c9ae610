"""Compile functions with numba."""

from collections.abc import Callable
from typing import Any, TypeVar

import numba

Function = TypeVar("Function", bound=Callable[..., Any])


def njit(*, cache: bool = False, **options: Any) -> Callable[[Function], Function]:
    """Return numba's decorator `njit`, which works without a cache on the disk if no folder of one can be written.

    numba raises an error in this case, such as when both the package and the home folder are read-only.

    Args:
        cache: keep the machine code beside the module, or in the cache folder of the user if that is read-only.
        options: of `numba.njit`.
    """

    def compiled(function: Function) -> Function:
        try:
            result: Function = numba.njit(cache=cache, **options)(function)
        except RuntimeError:  # `cannot cache function`
            result = numba.njit(**options)(function)
        return result

    return compiled
