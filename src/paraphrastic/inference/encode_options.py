"""Options of `Model.encode` by the type of its result, for type checkers."""

from typing import Literal, Required, TypedDict

from numpy.typing import ArrayLike

from paraphrastic.inference import Precision


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
