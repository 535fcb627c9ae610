"""Runs: their commands, as DVC takes them."""

from itertools import pairwise
from typing import Any

import pytest
from dvc.utils.cli_parse import to_path_overrides
from dvc.utils.hydra import apply_overrides, to_hydra_overrides
from ruamel.yaml import YAML

from paraphrastic.papers.experiments import Experiment, Experiments
from paraphrastic.papers.plan import Run, plan, read_all
from tests.helpers.parameter_files import write_parameters
from tests.helpers.recorded_results import PARAMS, changed

NUMBERS = [1e-05, 3e-05, 1e-300, 0.1, -0.5, 5, -3, 12345678901]
STRINGS = [
    "word", "sts.2012-MSRpar", "/a/b-c.txt", "/a b/c.txt", "true", "NULL", "nan", "Inf", "1e-5", "12", "", "a b", " a ",
    "it's", "'", "\\'", "a\\", "a\\b", "a\\'b", '"a"', "a,b", "[a]", "{a: b}", "a=b", "a:b", "f(x)", "~a", "+a", "# a",
    "é", "a\tb", "a\nb", "*", "@a", "%", "!a", "&a",
]  # fmt: skip
LISTS = [[], [1, 2.5, None, True], ["a b", "true", "1"], [["a"], []]]
MAPPINGS = [{}, {2: 5, 7: 3}, {"a": {"b": "c,d"}}]


def overrides(run: Run) -> list[str]:
    """Return the arguments of `-S` in the command of a run."""
    command = run.command(None)
    return [value for option, value in pairwise(command) if option == "-S"]


@pytest.fixture
def applied(tmp_path):
    """Return the parameters after `dvc exp run` with the command of a run."""
    write_parameters(tmp_path, PARAMS)

    def apply(run):
        for name, values in to_path_overrides(overrides(run)).items():
            assert not any(each.is_sweep_override() for each in to_hydra_overrides(values))
            apply_overrides(tmp_path / name, values)
        return read_all(lambda name: YAML(typ="safe", pure=True).load(tmp_path / name))

    return apply


@pytest.mark.parametrize("value", [None, True, False, *NUMBERS, *STRINGS, *LISTS, *MAPPINGS])
def test_every_value_reaches_its_file(value, applied):
    params = applied(Run("avg", {"models.avg.dim": value, "train.select": "none"}, 3))
    assert params == changed(changed(changed(PARAMS, "models.avg.dim", value), "train.select", "none"), "seed", 3)
    assert type(params["models"]["avg"]["dim"]) is type(value)


def test_mapping_replaces_the_one_of_the_file(applied):
    params = applied(Run("charcnn", {"models.charcnn.filters": {2: 5, 7: 3}}, 1))
    assert params["models"]["charcnn"]["filters"] == {2: 5, 7: 3}


def test_tasks_and_analyses(applied):
    params = applied(Run("avg", {}, 1, tasks=("sst",), analyses=("norms",)))
    assert (params["finetune"]["tasks"], params["analyses"]) == (["sst"], ["norms"])


def test_stages_are_not_forced_so_that_experiments_share_data():
    assert "--force" not in Run("avg", {}, 1).command(None)
    assert "-f" not in Run("avg", {}, 1).command(None)


def test_rows_that_differ_by_nothing_but_defaults_are_one_run():
    rows = [
        {"label": "avg", "model": "avg"},
        {"label": "default", "model": "avg", "options": {"dim": PARAMS["models"]["avg"]["dim"]}, "tasks": ["sst"]},
        {"label": "other", "model": "avg", "options": {"dim": 7}},
    ]
    experiment = experiment_of(rows)
    first, other = plan([experiment], Experiments({experiment.id: experiment}, {}, PARAMS), "open")
    assert (first.tasks, other.settings["models.avg.dim"]) == (("sst",), 7)
    assert set(first.settings) == {"model", "corpus", "benchmarks"}


@pytest.mark.parametrize(
    ("column", "analyses", "targets"),
    [
        ("finetune.sst.test.accuracy", [], ["finetune/dvc.yaml"]),
        ("finetune.sst.test.accuracy", ["length"], ["evaluate", "finetune/dvc.yaml", "analyze/dvc.yaml"]),
        ("transfer.mean", [], ["evaluate", "finetune/dvc.yaml"]),
    ],
)
def test_evaluation_sets_are_scored_for_rows_that_show_them(column, analyses, targets):
    experiment = experiment_of([{"label": "avg", "model": "avg", "tasks": ["sst"], "analyses": analyses}], value=column)
    (run,) = plan([experiment], Experiments({experiment.id: experiment}, {}, PARAMS), "open")
    assert run.command(None)[6 : 6 + len(targets) + 1] == [*targets, "-S"]


def test_run_of_two_rows_scores_the_evaluation_sets_if_one_of_them_shows_them():
    tasks = [{"label": "task", "model": "avg", "tasks": ["sst"], "columns": ["task"]}]
    sets = [{"label": "sets", "model": "avg", "columns": ["mean"]}]
    experiment = experiment_of([*tasks, *sets], task="finetune.sst.test.accuracy", mean="transfer.mean")
    (run,) = plan([experiment], Experiments({experiment.id: experiment}, {}, PARAMS), "open")
    assert run.sets
    assert run.tasks == ("sst",)


def experiment_of(rows: list[dict[str, Any]], **columns: str) -> Experiment:
    """Return an experiment with these rows, and columns by name."""
    declared = {"id": "acl2017-t1", "paper": "acl2017", "table": "T1", "title": "title", "caption": "caption"}
    corpus = {"open": ["open"], "paper": ["simpwiki"]}
    return Experiment.model_validate({**declared, "corpus": corpus, "rows": rows, "columns": columns})
