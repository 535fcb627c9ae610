"""Results in the records of DVC: experiments, commits and the workspace, also as a table."""

import time
from dataclasses import replace
from types import SimpleNamespace

import pytest
from ruamel.yaml import YAML

from paraphrastic.base.errors import ParameterError
from paraphrastic.papers.plan import determining
from paraphrastic.papers.records import Entry, _of_sets, entries, records, table
from tests.helpers.parameter_files import write_parameters
from tests.helpers.recorded_results import (
    PARAMS,
    RUN,
    add_experiment,
    changed,
    commit,
    make_repository,
    write_results,
    write_yaml,
)
from tests.helpers.repository import run_git

ALL = replace(RUN, tasks=("sts",), analyses=("length",))


@pytest.fixture
def folder(tmp_path):
    return make_repository(tmp_path / "clone")


def named(folder, name):
    with records(folder) as found:
        return next(each for each in found if each.name == name)


def workspace(folder, run=RUN):
    with records(folder) as found:
        return found[0].result(run)


@pytest.fixture
def results(folder):
    """Return a repository whose workspace and last commit have results."""
    write_results(folder)
    commit(folder)
    return folder


def test_values_of_metrics_and_of_sets(results):
    result = workspace(results)
    assert result.version == "0.3.0"
    assert result.values == {
        "sts.mean": 50.0,
        "sts.sets": 2,
        "sts.2012.MSRpar": 50.0,
        "sts.2012.MSRpar.n": 750,
        "sts.2012.MSRpar.pearson": 50.0,
        "sts.2012.MSRpar.spearman": 1e-05,
        "sts.2012.MSRpar.oov": 0.5,
        "words.simlex": 2.5,  # rank correlation is the main metric of sets of words
        "words.simlex.n": 999,
        "words.simlex.pearson": 1,
        "words.simlex.spearman": 2.5,
    }
    assert result.curves == {"selection": [[1, 20.0], [2, 50.0]]}
    assert result.tables == {}


def test_sets_whose_main_metric_is_of_ranks():
    rows = [["set", "n", "pearson", "spearman"], ["paraphrase.annotated-ppdb", 9, 1.0, 2.0], ["sts.a", 9, 1.0, 2.0]]
    found = dict(_of_sets([*rows, ["words.few", 2, "", ""]]))
    assert (found["paraphrase.annotated-ppdb"], found["sts.a"], "words.few" in found) == (2.0, 1.0, False)


def test_tasks_and_analyses_of_the_run_only(results):
    result = workspace(results, ALL)
    assert result.values["finetune.sts.test.pearson"] == 50.0
    assert result.curves == {"selection": [[1, 20.0], [2, 50.0]], "sts": [[0.5, 50.0]]}
    assert result.tables == {"length": [["length", "neighbor", "pearson"], ["≤ 4", "200", 50.0], ["≥ 5", "nan", 3]]}
    assert workspace(results, replace(RUN, tasks=("sts", "sample-qa"))) is None
    assert workspace(results, replace(RUN, analyses=("rare-words",))) is None
    (results / "metrics/evaluate.json").unlink()
    run = replace(RUN, tasks=("sts",), sets=False)
    assert set(workspace(results, run).values) == {"finetune.sts.epoch", "finetune.sts.test.pearson"}
    assert workspace(results, replace(run, sets=True)) is None


def test_names_and_parameters_of_records(results):
    params = changed(PARAMS, "seed", 2)
    add_experiment(results, "avg-1", params, score=60.0)
    run_git(results, "branch", "other", "refs/heads/main")
    with records(results) as found:
        assert [each.name for each in found] == ["workspace", "HEAD", "avg-1"]
        assert found[1].parameters == determining(PARAMS, with_tasks=True)
        assert found[2].parameters == determining(params, with_tasks=True)
        assert [each.result(RUN).values["sts.mean"] for each in found] == [50.0, 50.0, 60.0]
        assert [each.rev for each in found[:2]] == [None, run_git(results, "rev-parse", "HEAD")]


def test_branches_and_experiments_of_earlier_commits(results):
    add_experiment(results, "avg-1", score=60.0)
    run_git(results, "switch", "--quiet", "--create", "other")
    write_results(results, score=70.0)
    commit(results)
    run_git(results, "switch", "--quiet", "main")
    commit(results, "later")
    assert named(results, "avg-1").result(RUN).values["sts.mean"] == 60.0
    assert named(results, "other").result(RUN).values["sts.mean"] == 70.0
    add_experiment(results, "avg-1", score=60.0)
    commit(results, "later")
    time.sleep(1.1)  # git notes seconds
    add_experiment(results, "avg-1", score=61.0)
    assert named(results, "avg-1").result(RUN).values["sts.mean"] == 61.0


@pytest.mark.parametrize(
    ("key", "value"),
    [("corpus", "open"), ("models.avg.dim", 10), ("seed", 2), ("train.select", "none"), ("tokenize", {})],
)
def test_parameters_edited_after_the_run(results, key, value):
    write_parameters(results, changed(PARAMS, key, value))
    assert workspace(results) is None
    assert named(results, "HEAD").result(RUN) is not None


@pytest.mark.parametrize(
    ("key", "value"), [("finetune.epochs", 2), ("finetune.tasks", ["sts", "sample-qa"]), ("taggers.charagram.dim", 9)]
)
def test_task_with_edited_parameters(results, key, value):
    write_parameters(results, changed(PARAMS, key, value))
    assert workspace(results) is not None
    assert workspace(results, ALL) is None


@pytest.mark.parametrize(
    "path", ["metrics/evaluate.json", "metrics/sets.csv", "metrics/finetune/sts.json", "metrics/analysis/length.csv"]
)
def test_metrics_that_are_not_those_of_the_lock_file(results, path):
    (results / path).write_text((results / path).read_text().replace("50.0", "99.0"))
    assert workspace(results, ALL) is None
    (results / path).write_bytes(b"\xff")
    assert workspace(results, ALL) is None
    (results / path).unlink()
    assert workspace(results, ALL) is None


def test_curves_that_are_not_those_of_the_lock_file(results):
    for path in ("metrics/selection.csv", "metrics/finetune/sts.csv"):
        (results / path).write_text("epoch,score\n1,99.0\n")
    assert workspace(results, ALL).curves == {}


@pytest.mark.parametrize("path", ["finetune/dvc.lock", "analyze/dvc.lock"])
def test_metrics_of_another_model(results, path):
    committed = (results / path).read_text()
    write_results(results, changed(PARAMS, "models.avg.dim", 10))
    assert workspace(results, ALL) is not None
    (results / path).write_text(committed)  # the task or the analysis was not repeated with the new model
    assert workspace(results) is not None
    assert workspace(results, ALL) is None


@pytest.mark.parametrize("stage", ["tokenize", "train"])
def test_lock_file_without_an_earlier_stage(results, stage):
    content = YAML(typ="safe", pure=True).load(results / "dvc.lock")
    del content["stages"][stage]
    write_yaml(results / "dvc.lock", content)
    assert workspace(results) is None


@pytest.mark.parametrize("path", ["params.yaml", "dvc.lock", "finetune/dvc.lock", "pyproject.toml"])
@pytest.mark.parametrize("content", ["", "a: [", "- 1", "stages: 1", "stages: {a: 1}", "<<<<<<< HEAD", "model: avg"])
def test_damaged_files_are_not_results(results, path, content):
    (results / path).write_text(content)
    assert workspace(results, ALL) is None
    with records(results) as found:
        assert path != "params.yaml" or found[0].parameters == {}


def test_folder_that_is_no_repository_or_has_no_commit(tmp_path, folder):
    with pytest.raises(ParameterError, match="git rev-parse: not a git repository"), records(tmp_path):
        pass
    with pytest.raises(ParameterError, match="branch 'main' does not have any commits yet"), records(folder):
        pass


KEY = "sample.sts.mean"
HEADER = ["experiment", "model", "corpus", "changed"]


def listed(folder, by=None):
    with records(folder) as found:
        return entries(found, by)


def test_experiment_that_ran_a_task_alone(results):
    lock = YAML(typ="safe", pure=True).load(results / "dvc.lock")
    del lock["stages"]["evaluate"]
    write_yaml(results / "dvc.lock", lock)
    (entry,) = [each for each in listed(results, "finetune.sts.test.pearson") if each.name == "workspace"]
    assert entry.metrics == {"finetune.sts.epoch": 3, "finetune.sts.test.pearson": 50.0}
    (results / "metrics/finetune/sts.json").unlink()
    assert "workspace" not in [each.name for each in listed(results)]


def test_best_first_with_what_is_not_as_in_the_last_commit(results):
    params = changed(changed(PARAMS, "models.avg.dim", 50), "vocabulary.min_count", 3)
    add_experiment(results, "small", changed(params, "seed", 2), score=60.0)
    add_experiment(results, "worse", changed(PARAMS, "corpus", ["sample", "open"]), score=40.0)
    found = listed(results)
    assert [entry.name for entry in found] == ["small", "workspace", "HEAD", "worse"]
    assert [entry.changed for entry in found] == ["dim=50 seed=2 vocabulary.min_count=3", "", "", ""]
    assert [entry.corpus for entry in found] == ["sample", "sample", "sample", "sample+open"]
    with pytest.raises(ParameterError, match=r"'sts\.meen': did you mean 'sts\.mean'\?$"):
        listed(results, "sts.meen")
    with pytest.raises(ParameterError, match=r"'xyz': metrics/evaluate\.json and metrics/sets\.csv have them$"):
        listed(results, "xyz")


def test_files_of_the_user_among_the_training_pairs(results):
    mapping = {"path": "mine/other.tsv", "quotes": False}
    add_experiment(results, "both", changed(PARAMS, "corpus", ["sample", mapping]))
    add_experiment(results, "alone", changed(PARAMS, "corpus", mapping))
    found = {entry.name: (entry.corpus, entry.changed) for entry in listed(results)}
    assert (found["both"], found["alone"]) == (("sample+mine/other.tsv", ""), ("mine/other.tsv", ""))


def test_another_model_is_compared_with_its_block_in_the_last_commit(results):
    other = changed(PARAMS, "model", "charcnn")
    add_experiment(results, "same", other)
    add_experiment(results, "filters", changed(other, "models.charcnn.filters", {2: 7}))
    found = {entry.name: entry for entry in listed(results)}
    assert (found["same"].model, found["same"].changed) == ("charcnn", "")
    assert found["filters"].changed == "filters={'2':7}"


def test_record_whose_metrics_are_of_other_parameters_is_left_out(results):
    options = (results / "models.yaml").read_text()
    (results / "models.yaml").write_text(options.replace("dim: 300", "dim: 301"))
    assert [entry.name for entry in listed(results)] == ["HEAD"]
    (results / "params.yaml").write_text("[]")
    assert [entry.name for entry in listed(results)] == ["HEAD"]


def test_columns_are_the_metrics_that_there_are():
    found = [
        Entry("a", "avg", "open", "dim=5 seed=2", {"sts.mean": 50.0, "sts.2016": 40.125, "words.simlex": 1.0}),
        Entry("b", "gran", "open", "", {"sts.mean": 49.0}),
    ]
    rows = [["a", "avg", "open", "dim=5 seed=2", "50.00", "40.12"], ["b", "gran", "open", "", "49.00", ""]]
    assert table(found) == ([*HEADER, "STS", "STS 2016"], rows)
    header, rows = table(found, "words.simlex")
    assert header == [*HEADER, "words.simlex", "STS", "STS 2016"]
    assert [row[4] for row in rows] == ["1.00", ""]
    assert table([]) == (HEADER, [])


def test_experiments_on_the_sample_are_sorted_by_its_mean():
    def record(name, score):
        return SimpleNamespace(name=name, parameters={"model": "avg", "corpus": ["sample"]}, values={KEY: score})

    assert [entry.name for entry in entries([record("a", 1.0), record("b", 2.0)])] == ["b", "a"]
    assert table(entries([record("a", 1.0)])) == ([*HEADER, "sample"], [["a", "avg", "sample", "", "1.00"]])
