"""The report on a branch, in a real repository."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from paraphrastic.analysis.comparison.branch import branch_report
from paraphrastic.base.errors import ParameterError
from tests.helpers.metrics_project import (
    METRICS,
    OPTIONS,
    PARAMS,
    REPORT,
    SETS,
    create_project,
    write_project,
    write_worse_project,
)
from tests.helpers.recorded_results import commit
from tests.helpers.repository import isolated_environment, run_git

NO_CHANGE = "no parameter changed, no metric changed, no score of a set changed by more than 0.5 points"


@pytest.fixture(scope="module")
def initial_project(tmp_path_factory):
    """The repository that every test copies, because creating one takes a second."""
    folder = tmp_path_factory.mktemp("initial")
    create_project(folder)
    return folder


@pytest.fixture
def project(initial_project, tmp_path, monkeypatch):
    """The working directory: a repository whose branch `change` starts at `main` and has no changes yet."""
    folder = Path(shutil.copytree(initial_project, tmp_path / "project"))
    monkeypatch.chdir(folder)
    return folder


def report_lines(base="main"):
    return branch_report(base).splitlines()


def test_worse_model(project):
    write_worse_project(project)
    commit(project, "worse")
    base = run_git(project, "rev-parse", "main")[:10]
    assert report_lines() == [
        "worse: sample.sts.mean −1.20",
        "",
        f"Compared with {base}, the merge base with `main`. Both have the seed `1`.",
        "",
        "| parameter | old | new |",
        "| --- | --- | --- |",
        "| models.yaml:avg.margin | `0.6` | `0.9` |",
        "",
        "| metric | old | new | change |  |",
        "| --- | ---: | ---: | ---: | ---: |",
        "| sample.sts.mean | 60.20 | 59.00 | −1.20 | ▼ worse |",
        "",
        "<details><summary>scores of single sets that changed by more than 0.5 points: 1</summary>",
        "",
        "| set | old | new | change |  |",
        "| --- | ---: | ---: | ---: | ---: |",
        "| sample.roles.pearson | 41.05 | 36.05 | −5.00 | ▼ worse |",
        "",
        "</details>",
        "",
        "No confidence intervals: no data/scores.parquet here.",
    ]


def test_score_of_a_set_that_is_a_metric_is_not_repeated(project):
    sets = SETS + "sample.words,words,400,30.0,38.5,,1.0\n"
    write_project(project, sets=sets)
    commit(project, "words")
    metrics = {"sample": METRICS["sample"] | {"words": 30.5, "qa": {"map": 70.0}}}
    write_project(project, metrics=metrics, sets=sets.replace("38.5", "30.5").replace("76.86", "70.00"))
    rows = [line for line in report_lines("HEAD") if line.startswith("| sample")]
    assert rows == [
        "| sample.words | 38.50 | 30.50 | −8.00 | ▼ worse |",
        "| sample.qa.map | 76.86 | 70.00 | −6.86 | ▼ worse |",
    ]


def test_numbers_of_analyses(project):
    folder = project / "metrics/analysis"
    folder.mkdir()
    (folder / "length.csv").write_text("length,n,pearson\n≤ 4,3,50.0\n5,3,50.0\n")
    (folder / "gates.csv").write_text("kind,label,n,norm\ntag,NN,9,5.0\ntag,JJ,9,5.0\n")
    commit(project, "analyses")
    (folder / "length.csv").write_text("length,n,pearson\n≤ 4,3,49.0\n5,3,50.4\n")
    (folder / "gates.csv").write_text("kind,label,n,norm\ntag,NN,9,7.0\ntag,JJ,9,5.0\n")
    (folder / "norms.csv").write_text("occurrences,n,spearman\nall,3,20.0\n")
    (folder / "resamples.csv").write_text("transfer.mean,sts.2016\n60.0,70.0\n61.0,71.0\n")
    lines = report_lines("HEAD")
    assert "<details><summary>numbers of analyses that changed by more than 0.5 points: 4</summary>" in lines
    assert [line for line in lines if line.startswith("| ")][2:] == [
        "| length.≤ 4.pearson | 50.00 | 49.00 | −1.00 | ▼ worse |",
        "| gates.tag.NN.norm | 5.00 | 7.00 | +2.00 |  |",
        "| norms.all.n | — | 3 |  | new |",
        "| norms.all.spearman | — | 20.00 |  | new |",
    ]


def test_options_of_supervised_tasks(project):
    options = project / "finetune/params.yaml"
    options.parent.mkdir()
    options.write_text("epochs: 10\ninit: scratch\n")
    commit(project, "tasks")
    options.write_text("epochs: 10\ninit: frozen\n")
    assert "| finetune/params.yaml:init | `scratch` | `frozen` |" in report_lines("HEAD")
    assert "epochs" not in branch_report("HEAD")


def test_names_have_a_file_only_if_two_files_have_them(project):
    stages = (project / "dvc.yaml").read_text()
    task = "  finetune: {cmd: 'true', metrics: [metrics/task.json: {cache: false}]}\n"
    (project / "dvc.yaml").write_text(stages + task)
    (project / "metrics/task.json").write_text('{"sample": {"words": 1.0}, "finetune": {"dev": 1.0}}')
    names = {line.split(" | ")[0] for line in report_lines() if line.startswith("| ")}
    assert {"| finetune.dev", "| metrics/task.json:sample.words"} <= names


def test_scores_of_the_merge_base_are_not_in_the_cache(project):
    write_worse_project(project)
    (project / "data").mkdir()
    (project / "data/scores.parquet").touch()
    last = report_lines()[-1]
    assert last.startswith("No confidence intervals: `")
    assert "no data/scores.parquet in the DVC cache" in last


def test_number_of_sets_of_a_year(project):
    write_project(project, metrics={"sts": {"2013": 60.0, "2013_sets": 4}})
    commit(project, "four sets")
    run_git(project, "branch", "four-sets")
    write_project(project, metrics={"sts": {"2013": 60.0, "2013_sets": 3}})
    assert report_lines("four-sets")[0] == "changed: sts.2013_sets −1"


@pytest.mark.slow
def test_later_commits_of_main_and_small_change_of_set(project):
    (project / "README.md").write_text("New words.\n")
    write_project(project, sets=SETS.replace("41.05", "41.55"))
    commit(project, "words")
    run_git(project, "switch", "--quiet", "main")
    write_worse_project(project)
    commit(project, "later")
    run_git(project, "switch", "--quiet", "change")
    assert branch_report("main") == NO_CHANGE


@pytest.mark.slow
def test_uncommitted_change_against_origin_from_subfolder(project, tmp_path):
    run_git(project, "switch", "--quiet", "main")
    run_git(tmp_path, "clone", "--quiet", str(project), "clone")
    write_worse_project(tmp_path / "clone")
    (tmp_path / "clone/deep").mkdir()
    environment = isolated_environment()
    done = subprocess.run(REPORT, cwd=tmp_path / "clone/deep", env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert "the merge base with `origin/main`" in done.stdout
    assert "▼ worse" in done.stdout


def test_new_and_removed_metrics_and_mean_over_fewer_sets(project):
    metrics = {"sample": {"sts": {"mean": 61.0, "sets": 4}, "qa": {"map": 70.0, "a|\n# b": 80}, "words": float("nan")}}
    write_project(project, metrics=metrics, sets=SETS.replace("sample.typos", "sample.negation"))
    lines = report_lines()
    better, worse = "better: sample.sts.mean +0.80", "worse: sample.qa.map −6.86"
    assert lines[0] == f"{worse}; {better}; removed: sample.words; new: sample.qa.a??? b; changed: sample.sts.sets −1"
    for row in (
        "| sample.sts.mean | 60.20 | 61.00 | +0.80 | ▲ better |",
        "| sample.sts.sets | 5 | 4 | −1 |  |",
        "| sample.qa.a??? b | — | 80 |  | new |",
        "| sample.words | 38.50 | — |  | removed |",
        "| sample.typos.pearson | 55.76 | — |  | removed |",
        "| sample.negation.n | — | 400 |  | new |",
    ):
        assert row in lines
    assert not any("roles" in line or "kind" in line for line in lines)


@pytest.mark.slow
def test_best_epoch_is_not_rated(project):
    def metrics(epoch):
        return METRICS | {"finetune": {"sts": {"epoch": epoch, "dev": {"pearson": 70.0}}}}

    write_project(project, metrics=metrics(9))
    commit(project, "epoch 9")
    write_project(project, metrics=metrics(4))
    lines = report_lines("HEAD")
    assert "| finetune.sts.epoch | 9 | 4 | −5 |  |" in lines
    assert not any("worse" in line or "better" in line for line in lines)


@pytest.mark.slow
def test_order_and_limits_of_many_changes(project):
    write_project(project, metrics={f"set{i:03}": 50.0 for i in range(120)} | {"good": 1.0})
    commit(project, "many")
    write_project(project, metrics={f"set{i:03}": 49.0 - i for i in range(120)} | {"good": 2.0})
    lines = report_lines("HEAD")
    assert lines[0] == "worse: set119 −120.00, set118 −119.00, set117 −118.00, 117 more; better: good +1.00"
    found = [line.split(" ")[1] for line in lines if line.startswith("| set")]
    assert found == [f"set{i:03}" for i in range(119, 19, -1)]
    assert lines[-3] == "… and 21 more"


@pytest.mark.slow
def test_parameters_of_the_chosen_model(project):
    options = OPTIONS.replace("max_grad_norm: 1.0", "max_grad_norm: 2.0").replace("[2, 3]", "[2, 4]")
    options = options.replace("vectors: ", 'vectors: "a|b`c\\n<img src=x>"')
    write_project(project, PARAMS.replace("seed: 1", "seed: true"), options=options)
    lines = report_lines()
    assert lines[0] == "no metric changed"
    assert [line for line in lines if line.startswith("| ")][2:] == [
        "| models.yaml:avg.orders | `[2, 3]` | `[2, 4]` |",
        "| models.yaml:avg.vectors | — | `a\\|b'c <img src=x>` |",
        "| seed | `1` | `true` |",
    ]


@pytest.mark.slow
def test_other_model_and_seed(project):
    write_project(project, PARAMS.replace("model: avg", "model: gran").replace("seed: 1", "seed: 2"))
    visible, _, collapsed = branch_report("main").partition("<details>")
    assert "the merge base with `main`. The seed was `1` and is `2`.\n" in visible
    rows = [line for line in visible.splitlines() if line.startswith("| ")][2:]
    assert rows == ["| model | `avg` | `gran` |", "| seed | `1` | `2` |"]
    assert collapsed.startswith("<summary>options of both models: 4</summary>")
    assert "| models.yaml:gran.margin | — | `0.4` |" in collapsed.splitlines()


@pytest.mark.slow
def test_long_value(project):
    write_project(project, options=OPTIONS.replace("vectors: ", f"vectors: {'x' * 200}"))
    assert f"| models.yaml:avg.vectors | — | `{'x' * 120}…` |" in report_lines()


@pytest.mark.slow
def test_damaged_metrics_file(project):
    (project / "metrics/evaluate.json").write_text("{")
    lines = report_lines()
    assert lines[0] == "removed: sample.qa.map, sample.sts.mean, sample.sts.sets, 1 more"
    assert "`DVC failed to load some metrics for following revisions: 'workspace'.`" in lines


@pytest.mark.parametrize("base", ["nowhere", "--all", "main:params.yaml"])
def test_unknown_base(project, base):
    with pytest.raises(ParameterError, match=rf"base '{base}': no such commit here; `git fetch` it"):
        branch_report(base)


def test_base_without_common_history(project):
    run_git(project, "switch", "--quiet", "--orphan", "other")
    run_git(project, "commit", "--quiet", "--allow-empty", "--message=other")
    with pytest.raises(ParameterError, match="no commit in common with HEAD; fetch its history"):
        branch_report("main")


def test_terminal_that_is_not_utf8_and_reader_that_has_gone(project):
    write_worse_project(project)
    environment = {**isolated_environment(), "PYTHONIOENCODING": "ascii"}
    done = subprocess.run([*REPORT, "--base=main"], env=environment, capture_output=True, encoding="utf-8")
    assert done.stdout.startswith("worse: sample.sts.mean −1.20\n")
    with subprocess.Popen([*REPORT, "--base=main"], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        assert process.stderr.read() == b""


def test_folder_without_git(tmp_path):
    done = subprocess.run(REPORT, cwd=tmp_path, env=isolated_environment(), capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(f"error: {tmp_path}: git log: not a git repository")
    assert done.stderr.count("\n") == 1


def test_script_without_installed_packages():
    # CI runs the report with DVC alone installed, which runs in a process of its own; -S hides installed packages
    load = f"import runpy; runpy.run_path({str(REPORT[1])!r})"
    subprocess.run([sys.executable, "-S", "-c", load], env=isolated_environment(), check=True)
