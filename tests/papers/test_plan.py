"""Runs and their parameters: commands, as DVC takes them, and which differences count."""

import json
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from dvc.utils.cli_parse import to_path_overrides
from dvc.utils.hydra import apply_overrides, to_hydra_overrides
from ruamel.yaml import YAML

from paraphrastic.papers.experiments import Experiment, Experiments
from paraphrastic.papers.plan import ANY_FILE, Run, determining, differences, expected, needs_vectors, plan, read_all
from tests.helpers.parameter_files import write_parameters
from tests.helpers.recorded_results import PARAMS, RUN, changed

NUMBERS = [1e-05, 3e-05, 1e-300, 0.1, -0.5, 5, -3, 12345678901]
STRINGS = [
    "word", "sts.2012-MSRpar", "/a/b-c.txt", "/a b/c.txt", "true", "NULL", "nan", "Inf", "1e-5", "12", "", "a b", " a ",
    "it's", "'", "\\'", "a\\", "a\\b", "a\\'b", '"a"', "a,b", "[a]", "{a: b}", "a=b", "a:b", "f(x)", "~a", "+a", "# a",
    "é", "a\tb", "a\nb", "*", "@a", "%", "!a", "&a",
]  # fmt: skip
LISTS = [[], [1, 2.5, None, True], ["a b", "true", "1"], [["a"], []]]
MAPPINGS = [{}, {2: 5, 7: 3}, {"a": {"b": "c,d"}}, {"sick-entailment": {"rate": 1e-06}}]


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


def test_mapping_replaces_the_one_of_the_file_and_lists_of_tasks_and_analyses(applied):
    params = applied(Run("charcnn", {"models.charcnn.filters": {2: 5, 7: 3}}, 1))
    assert params["models"]["charcnn"]["filters"] == {2: 5, 7: 3}
    params = applied(Run("avg", {}, 1, tasks=("sst",), analyses=("norms",)))
    assert (params["finetune"]["tasks"], params["analyses"]) == (["sst"], ["norms"])


def test_folder_of_an_encoder_is_absolute_because_experiments_run_in_other_folders(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = f"models.yaml:external.path={tmp_path}/MiniLM"
    assert path in overrides(Run("external", {"models.external.path": "MiniLM"}, 1))


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


@pytest.mark.parametrize(("column", "family"), [("words.simlex", "words"), ("sick.pearson", "sick")])
def test_replicates_need_no_other_sets_than_those_of_the_columns(column, family):
    experiment = experiment_of([{"label": "avg", "model": "avg", "analyses": ["resamples"]}], value=column)
    (run,) = plan([experiment], Experiments({experiment.id: experiment}, {}, PARAMS), "open")
    assert run.families == {family}


def test_run_that_is_compared_with_another():
    rows = [{"label": name, "model": name} for name in ("avg", "proj")]
    experiment = experiment_of([rows[0], rows[1] | {"against": "avg", "analyses": ["length"]}], value="sts.mean")
    runs = plan([experiment], Experiments({experiment.id: experiment}, {}, PARAMS), "open")
    assert [(run.model, run.against) for run in runs] == [("avg", None), ("proj", runs[0])]


def experiment_of(rows: list[dict[str, Any]], **columns: str) -> Experiment:
    """Return an experiment with these rows, and columns by name."""
    declared = {"id": "acl2017-t1", "paper": "acl2017", "table": "T1", "title": "title", "caption": "caption"}
    corpus = {"open": ["open"], "paper": ["simpwiki"]}
    return Experiment.model_validate({**declared, "corpus": corpus, "rows": rows, "columns": columns})


AVG = "models.avg.vectors"
PAPER = replace(RUN, settings={**RUN.settings, "benchmarks": "full"}, data="paper")


def test_parameters_of_stages_of_the_chosen_model_and_of_tasks():
    assert determining(PARAMS, with_tasks=False) == {
        "corpus": ["sample"],
        "benchmarks": "open",
        "tokenize.drop_overlap": True,
        "vocabulary.min_count": 2,
        "model": "avg",
        "train.select": "test",
        "seed": 1,
        "models.avg.dim": 300,
        "models.avg.vectors": None,
        "models.avg.learning_rate": 1e-05,
    }
    added = determining(PARAMS, with_tasks=True).keys() - determining(PARAMS, with_tasks=False).keys()
    assert added == {"finetune.tagger", "finetune.epochs", "taggers.charagram.dim"}
    other = changed(changed(PARAMS, "models.avg.num_threads", 8), "train.device", "cpu")
    other = changed(other, "finetune.tasks", ["sts", "sample-qa"])
    assert determining(other, with_tasks=True) == determining(PARAMS, with_tasks=True)


def test_settings_of_a_run_replace_values_of_params_yaml():
    settings = {"model": "charcnn", "models.charcnn.dim": 10, "train.select": "none"}
    wanted = expected(PARAMS, Run("charcnn", settings, seed=7))
    assert (wanted["models.charcnn.dim"], wanted["train.select"], wanted["seed"]) == (10, "none", 7)
    assert PARAMS["models"]["charcnn"]["dim"] == 300
    wanted = expected(PARAMS, Run("charcnn", {"model": "charcnn", "models.charcnn.filters": {2: 5, 7: 3}}, 1))
    assert not differences(json.loads(json.dumps(wanted)), wanted)


@pytest.mark.parametrize(("option", "default", "other"), [("accumulate", 1, 4), ("temperature", None, 0.2)])
def test_option_that_a_block_leaves_to_its_default(option, default, other):
    without, key = expected(PARAMS, Run("avg", {"model": "avg"}, seed=7)), f"models.avg.{option}"
    assert differences(without, without | {key: other}) == differences(without | {key: other}, without) == [key]
    assert not differences(without | {key: default}, without)


@pytest.mark.parametrize(
    ("key", "value"),
    [("seed", 2), ("corpus", ["open"]), ("vocabulary.min_count", 3), ("finetune.epochs", 2), ("train.select", "none")],
)
def test_another_value_is_a_difference(key, value):
    found = determining(changed(PARAMS, key, value), with_tasks=True)
    assert differences(found, determining(PARAMS, with_tasks=True)) == [key]


def test_no_difference_of_a_list_of_one_corpus_and_of_a_parameter_that_an_earlier_version_lacks():
    assert not differences(determining(changed(PARAMS, "corpus", ["sample"]), False), determining(PARAMS, False))
    earlier = changed(PARAMS, "tokenize", {})
    assert not differences(determining(earlier, with_tasks=False), determining(PARAMS, with_tasks=False))


@pytest.mark.parametrize("filters", [{2: 175}, {2: 175, 3: 175, 4: 1}, {2: 175, 3: 1}, {}])
def test_a_mapping_with_other_keys_is_a_difference(filters):
    params = changed(PARAMS, "model", "charcnn")
    other = changed(params, "models.charcnn.filters", filters)
    assert differences(determining(other, False), determining(params, False)) == ["models.charcnn.filters"]


def test_vectors_and_encoders_are_compared_by_the_name_of_their_file_or_folder():
    params = changed(PARAMS, AVG, "/home/a/glove.txt")
    assert determining(params, with_tasks=False)[AVG] == "glove.txt"
    assert differences(determining(params, False), determining(changed(PARAMS, AVG, "other.txt"), False)) == [AVG]
    params = {**PARAMS, "model": "external", "models": {"external": {"path": "/home/a/MiniLM"}}}
    assert determining(params, with_tasks=False)["models.external.path"] == "MiniLM"


def test_initial_vectors_are_of_another_run_or_any_file_on_the_data_of_the_papers():
    wanted = expected(PARAMS, replace(RUN, start=RUN))
    assert wanted[AVG] == f"{RUN.name}.txt"
    assert differences(determining(PARAMS, with_tasks=False), wanted) == [AVG]
    assert not differences(determining(changed(PARAMS, AVG, f"/clone/{RUN.name}.txt"), with_tasks=False), wanted)
    wanted = expected(PARAMS, PAPER)
    full = changed(PARAMS, "benchmarks", "full")
    assert wanted[AVG] == ANY_FILE
    assert differences(determining(full, with_tasks=False), wanted) == [AVG]
    assert not differences(determining(changed(full, AVG, "/a/paragram.txt"), with_tasks=False), wanted)
    assert needs_vectors(PARAMS, PAPER)
    assert not needs_vectors(PARAMS, RUN)
    assert not needs_vectors(PARAMS, replace(PAPER, start=RUN))
    assert not needs_vectors(PARAMS, replace(PAPER, settings={**PAPER.settings, AVG: "glove.txt"}))
    assert not needs_vectors(PARAMS, replace(PAPER, model="overlap"))


def test_record_without_a_loss_is_of_the_margin_loss():
    wanted = {"model": "avg", "train.loss": "infonce", "train.loss_options": {"temperature": 0.05}}
    assert differences({"model": "avg"}, wanted) == ["train.loss", "train.loss_options"]
    assert not differences({"model": "avg"}, wanted | {"train.loss": "margin", "train.loss_options": None})
