"""Names of the devices that torch computes on, and the devices. Names are checked without torch."""

import re
from typing import TYPE_CHECKING

from paraphrastic.base.errors import ParameterError

if TYPE_CHECKING:
    import torch

AUTO, CPU = "auto", "cpu"
NAMES = "auto, cpu, cuda or cuda:N"


def is_name(name: str) -> bool:
    """Return whether `name` is one of `NAMES`, N being a number."""
    return re.fullmatch(r"auto|cpu|cuda(:(0|[1-9]\d*))?", name, re.ASCII) is not None


def check(name: str) -> None:
    """Raise a ParameterError if there is no device of this name."""
    if not (isinstance(name, str) and is_name(name)):
        raise ParameterError(f"device '{name}': should be {NAMES}")


def find(name: str, gpu: int | None = None) -> "torch.device":
    """Return the device `name`.

    Args:
        name: `auto` is a GPU if there is one, and the CPU otherwise.
        gpu: number of the GPU that `auto` and `cuda` are; None for the current one of torch.

    Raises:
        ParameterError: there is no such name, or this machine has no such device.
    """
    import torch

    check(name)
    if name == AUTO:
        name = "cuda" if torch.cuda.is_available() else CPU
    if name == "cuda" and gpu is not None:
        name = f"cuda:{gpu}"
    try:
        torch.empty(0, device=name)
    except (RuntimeError, AssertionError) as error:
        raise ParameterError(f"device '{name}': not available on this machine; use auto or cpu") from error
    return torch.device(name)


def refuse_gpu(name: str, what: str) -> None:
    """Raise a ParameterError for a GPU or an unknown name: `what` is computed without torch, on the CPU if `auto`."""
    check(name)
    if name not in (AUTO, CPU):
        raise ParameterError(f"device '{name}': {what} is computed on the CPU, without PyTorch; use auto or cpu")
