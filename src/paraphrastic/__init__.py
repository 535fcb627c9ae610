"""Paraphrastic sentence encoders.

Example:
    model = paraphrastic.load("data/model")
    model.encode(["A sentence.", "Another one."])  # (2, dim) float32
    model.similarity(["A sentence."], ["Another one."])  # (1,) float32
"""

from importlib import import_module
from typing import Any

__all__ = ["Model", "load"]  # defined in inference/model.py


def __getattr__(name: str) -> Any:
    """Import `Model` and `load` on first use: every stage imports this package and needs neither."""
    if name in __all__:
        return getattr(import_module(f"{__name__}.inference.model"), name)
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
