"""The registry of analyses: functions from the artifacts of a run to a tidy table.

The analysis `unknown-words` is the function `analyze` of `analysis/unknown_words.py`. Its module is imported when the
analysis is used, so that torch is imported only for those that need it.
"""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from paraphrastic.base.errors import ParameterError, unknown_name

if TYPE_CHECKING:  # `paraphrastic explain` runs without pandas
    import pandas as pd

    from paraphrastic.analysis.artifacts import Artifacts

NOT_ANALYSES = ("__init__", "artifacts", "binning", "explain", "published")


def names() -> list[str]:
    """Return the names of all analyses in alphabetical order."""
    files = (path.stem for path in Path(__file__).parent.glob("*.py"))
    return sorted(stem.replace("_", "-") for stem in files if stem not in NOT_ANALYSES)


def analysis(name: str) -> Callable[["Artifacts"], "pd.DataFrame"]:
    """Return the analysis `name`: a function that returns a tidy table, with one row for each observation.

    Raises:
        ParameterError: there is no such analysis.
    """
    if name not in names():
        raise ParameterError(unknown_name("analysis", name, names()))
    module = import_module(f"paraphrastic.analysis.{name.replace('-', '_')}")
    function: Callable[[Artifacts], pd.DataFrame] = module.analyze
    return function
