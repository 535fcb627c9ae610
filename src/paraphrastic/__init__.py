"""Paraphrastic sentence encoders: the library behind the pipeline.

Example:
    model = paraphrastic.load("data/model")
    model.encode(["A sentence.", "Another one."])  # (2, dim) float32
    model.similarity(["A sentence."], ["Another one."])  # (1,) float32
"""

from importlib import import_module
from typing import Any

__all__ = ["Model", "load"]  # both of model.py


def __getattr__(name: str) -> Any:
    """What `model.py` offers, imported when it is asked for: every stage and command imports this package."""
    if name in __all__:
        return getattr(import_module(f"{__name__}.model"), name)
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
