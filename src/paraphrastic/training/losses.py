"""The registry of losses of sentence encoders: `train.loss: NAME` in params.yaml selects `losses/NAME.py`."""

from __future__ import annotations

from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paraphrastic import losses
from paraphrastic.base.errors import ParameterError, unknown_name
from paraphrastic.base.parameters import FILES, PARAMS, Section, Train, checked

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor


def names() -> list[str]:
    """Return the names of all losses in alphabetical order."""
    return sorted(path.stem for path in Path(losses.__path__[0]).glob("[!_]*.py"))


def function(name: str) -> Callable[..., Tensor]:
    """Return the function of the loss `name`.

    Raises:
        ParameterError: there is no such loss, or its file does not define one.
    """
    chosen: Callable[..., Tensor] = _module(name).loss
    return chosen


def options(train: Train, block: object) -> Section:
    """Return the options of the loss that `train.loss` names.

    An option has the value in `train.loss_options`, or that of the model's option of the same name, or its default.

    Args:
        train: the section of params.yaml.
        block: the options of the model.

    Raises:
        ParameterError: there is no such loss, its file does not define one, or an option is unknown or has a wrong
            value.
    """
    config: type[Section] = _module(train.loss).Config
    own = {name: value for name in config.model_fields if (value := getattr(block, name, None)) is not None}
    if getattr(block, "temperature", None) is not None and "temperature" not in own:
        raise ParameterError(f"{FILES['models']}: temperature: {train.loss} has none; set train.loss to infonce")
    return checked(config, own | (train.loss_options or {}), "train", "loss_options")


def _module(name: str) -> Any:
    if name not in names():
        raise ParameterError(f"{PARAMS}: train.loss: {unknown_name('loss', name, names())}")
    module: Any = import_module(f"paraphrastic.losses.{name}")
    config, loss = (getattr(module, each, None) for each in ("Config", "loss"))
    if not (isinstance(config, type) and issubclass(config, Section) and callable(loss)):
        raise ParameterError(f"{module.__file__}: should define a function loss and a class Config(Section)")
    try:
        signature(loss).bind(None, None, None, None, options=None)
    except TypeError as error:
        arguments = "its arguments are vectors, mask, own, generator and options"
        raise ParameterError(f"{module.__file__}: loss: {error}; {arguments}") from error
    return module
