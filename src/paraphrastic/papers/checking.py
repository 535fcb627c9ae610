"""Check that everything that the declarations name exists."""

from collections.abc import Mapping
from itertools import product
from typing import Any

from paraphrastic.analysis import names as analyses
from paraphrastic.base.errors import DataError, ParameterError, unknown_name
from paraphrastic.base.parameters import place
from paraphrastic.papers.experiments import Data, Experiments
from paraphrastic.papers.plan import Run, runs_of_row
from paraphrastic.sources.catalogue import corpus, suite

_KINDS: tuple[Data, ...] = ("open", "paper")


def check(declared: Experiments, params: Mapping[str, Any]) -> None:
    """Check the names in declarations: models, keys of params.yaml, corpora, suites and analyses.

    Args:
        declared: the declarations.
        params: content of params.yaml.

    Raises:
        DataError: there is no such name.
    """
    rows = [(experiment, row) for experiment in declared.by_id.values() for row in experiment.rows]
    for (experiment, row), data in product(rows, _KINDS):
        try:
            _check_run(runs_of_row(experiment, row, declared, data)[0], params)
        except ParameterError as error:
            raise DataError(f"experiments/{experiment.id}.toml: row '{row.all_labels[0]}': {error}") from error


def _check_run(run: Run, params: Mapping[str, Any]) -> None:
    if run.model not in params["models"]:
        raise ParameterError(unknown_name("model", run.model, params["models"]))
    for key in (*run.settings, *([f"models.{run.model}.vectors"] if run.start else [])):
        _check_key(key, params)
    corpus(run.settings["corpus"])
    suite(run.settings["benchmarks"])
    for name in run.analyses:
        if name not in analyses():
            raise ParameterError(unknown_name("analysis", name, analyses()))


def _check_key(key: str, params: Mapping[str, Any]) -> None:
    block: Any = params
    for name in key.split("."):
        if not isinstance(block, Mapping) or name not in block:
            known = block if isinstance(block, Mapping) else ()
            raise ParameterError(f"no parameter '{place(key)}': {unknown_name('key', name, known)}")
        block = block[name]
