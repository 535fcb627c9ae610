"""Paraphrastic sentence encoders.

Example:
    model = paraphrastic.load("data/model")
    model.encode(["A sentence.", "Another one."])  # (2, dim) float32
    model.similarity(["A sentence."], ["Another one.", "A third."])  # (1, 2) float32

    model = paraphrastic.train("mine.csv", out="my-model")
    paraphrastic.evaluate(model, "my-sets/").metrics
"""

from importlib import import_module
from typing import Any

_MODULES = {
    "DataError": "base.errors",
    "Model": "inference.model",
    "ModelError": "base.errors",
    "ParameterError": "base.errors",
    "ParaphrasticError": "base.errors",
    "ProcessError": "base.errors",
    "SourceError": "base.errors",
    "evaluate": "training.standalone",
    "load": "inference.model_folder",
    "train": "training.standalone",
}

__all__ = ["__version__", *_MODULES]


def __getattr__(name: str) -> Any:
    """Import a public name on first use: every stage imports this package and needs none of them."""
    if name == "__version__":
        from importlib.metadata import version

        return version(__name__)
    if name in _MODULES:
        try:
            value = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
        except ModuleNotFoundError as error:
            from paraphrastic.base.errors import missing

            needs = missing(str(error.name), "pipeline")
            text = f"{__name__}.{name} needs the package {needs}"
            raise ModuleNotFoundError(text, name=error.name) from error
        return globals().setdefault(name, value)  # so that Python does not ask again
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
