"""Options of `Model.encode` by the type of its result, for type checkers, and those that it does not know."""

from collections.abc import Callable, Mapping
from inspect import signature
from typing import Any, Literal, Required, TypedDict

from numpy.typing import ArrayLike

from paraphrastic.base.errors import ParameterError, unknown_name
from paraphrastic.inference import Precision

_OF_MTEB = ("task_metadata", "hf_split", "hf_subset", "prompt_type")  # what it says of its task


class Options(TypedDict, total=False):
    """Options with which the result has the same type."""

    show_progress_bar: bool | None
    normalize_embeddings: bool
    truncate_dim: int | None
    ranges: ArrayLike | None


class Plain(Options, total=False):
    """Options with which the result is an array."""

    convert_to_numpy: Literal[True]
    convert_to_tensor: Literal[False]
    return_unknown: Literal[False]


class ToFloats(Plain, total=False):
    """An array of float32."""

    precision: Literal["float32"] | None


class ToArray(Plain, total=False):
    """An array of any precision."""

    precision: Precision | None


class ToTensor(Options, total=False):
    """One tensor."""

    precision: Precision | None
    convert_to_numpy: bool
    convert_to_tensor: Required[Literal[True]]
    return_unknown: Literal[False]


class ToTensors(Options, total=False):
    """A tensor for each text."""

    precision: Precision | None
    convert_to_numpy: Required[Literal[False]]
    convert_to_tensor: Literal[False]
    return_unknown: Literal[False]


class WithUnknown(Options, total=False):
    """Vectors of any form, and the share of unknown words."""

    precision: Precision | None
    convert_to_numpy: bool
    convert_to_tensor: bool
    return_unknown: Required[Literal[True]]


def refuse_unknown(encode: Callable[..., Any], others: Mapping[str, Any]) -> None:
    """Raise a ParameterError for the first of `others` that is neither None nor of `mteb`: no option of `encode`."""
    if names := [name for name, value in others.items() if value is not None and name not in _OF_MTEB]:
        known = [name for name in signature(encode).parameters if name != "others"]
        raise ParameterError(unknown_name("option of encode", names[0], known))
