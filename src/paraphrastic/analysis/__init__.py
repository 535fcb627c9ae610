"""The registry of analyses: functions from the artifacts of a run to a tidy table.

The analysis `unknown-words` is the function `unknown_words`. Its module is imported when the analysis is used, so that
torch is imported only for those that need it.
"""

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING

from paraphrastic.base.errors import ParameterError, unknown_name

if TYPE_CHECKING:  # `paraphrastic explain` runs without pandas
    import pandas as pd

    from paraphrastic.analysis.artifacts import Artifacts

_MODULES = {
    "cosine-gap": "cosine_gap",
    "gates": "gates",
    "length": "bins",
    "neighbors": "nearest_words",
    "norm-weights": "word_frequency",
    "norms": "word_frequency",
    "rare-words": "word_frequency",
    "rare-words-correlation": "word_frequency",
    "resamples": "resamples",
    "unknown-words": "bins",
}


def names() -> list[str]:
    """Return the names of all analyses in alphabetical order."""
    return sorted(_MODULES)


def analysis(name: str) -> Callable[["Artifacts"], "pd.DataFrame"]:
    """Return the analysis `name`: a function that returns a tidy table, with one row for each observation.

    Raises:
        ParameterError: there is no such analysis.
    """
    if name not in _MODULES:
        raise ParameterError(unknown_name("analysis", name, names()))
    module = import_module(f"paraphrastic.analysis.{_MODULES[name]}")
    function: Callable[[Artifacts], pd.DataFrame] = getattr(module, name.replace("-", "_"))
    return function
