"""The report on a branch, in a real repository."""

import subprocess
import sys

import pytest

from paraphrastic.base.errors import ParameterError
from tests.helpers.metrics_project import (
    METRICS,
    OPTIONS,
    PARAMS,
    REPORT,
    SETS,
    branch_report,
    report_lines,
    write_project,
    write_worse_project,
)
from tests.helpers.recorded_results import commit
from tests.helpers.repository import isolated_environment, run_git

NO_CHANGE = "no parameter changed, no metric changed, no score of a set changed by more than 0.5 points"


def test_worse_model(project):
    write_worse_project(project)
    commit(project, "worse")
    base = run_git(project, "rev-parse", "main")[:10]
    assert report_lines() == [
        "worse: sample.sts.mean −16.00 (−23.90 … −7.98)",
        "",
        f"Compared with {base}, the merge base with `main`.",
        "",
        "| parameter | old | new |",
        "| --- | --- | --- |",
        "| models.yaml:avg.margin | `0.6` | `0.9` |",
        "",
        "| metric | n | old | new | change | 95 % |  |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
        "| sample.sts.mean | 2 sets | 60.20 | 44.20 | −16.00 | −23.90 … −7.98 | ▼ worse |",
        "",
        "The interval is from n, as if both versions had other items: wider than from scores (none: `no "
        "data/scores.parquet here`). It is over items, not over seeds: another seed of the same parameters may change "
        "a number as much.",
        "",
        "<details><summary>scores of single sets that changed by more than 0.5 points: 1</summary>",
        "",
        "| set | n | old | new | change | 95 % |  |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
        "| sample.roles.pearson | 400 | 41.05 | 9.05 | −32.00 | −44.56 … −19.15 | ▼ worse |",
        "",
        "</details>",
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
        "| gates.tag.NN.norm | 9 | 5.00 | 7.00 | +2.00 |  |  |",
        "| length.≤ 4.pearson | 3 | 50.00 | 49.00 | −1.00 |  | no interval |",
        "| norms.all.n | 3 | — | 3 |  |  | new |",
        "| norms.all.spearman | 3 | — | 20.00 |  |  | new |",
    ]


def test_options_of_supervised_tasks(project):
    options = project / "finetune/params.yaml"
    options.parent.mkdir()
    options.write_text("epochs: 10\ninit: scratch\n")
    commit(project, "tasks")
    options.write_text("epochs: 10\ninit: frozen\n")
    assert "| finetune/params.yaml:init | `scratch` | `frozen` |" in report_lines("HEAD")
    assert "epochs" not in branch_report("HEAD")


def test_scores_of_the_merge_base_are_not_in_the_cache(project):
    write_worse_project(project)
    (project / "data").mkdir()
    (project / "data/scores.parquet").touch()
    assert "wider than from scores (none: `" in branch_report("main")
    assert "no data/scores.parquet in the DVC cache" in branch_report("main")


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
    write_project(
        project,
        metrics=metrics,
        sets=SETS.replace("sample.typos", "sample.negation").replace("5.76,54.47,,1", "5.00,50.00,,"),
    )
    lines = report_lines()
    unknown = "no interval: sample.sts.mean +0.80, sample.qa.map −6.86"  # the means are not over the same sets
    assert lines[0] == f"{unknown}; new: sample.qa.a??? b; changed: sample.sts.sets −1; removed: sample.words"
    for row in (
        "| sample.sts.mean |  | 60.20 | 61.00 | +0.80 |  | no interval |",
        "| sample.sts.sets |  | 5 | 4 | −1 |  |  |",
        "| sample.qa.a??? b |  | — | 80 |  |  | new |",
        "| sample.words |  | 38.50 | — |  |  | removed |",
        "| sample.typos.pearson | 400 | 55.76 | — |  |  | removed |",
        "| sample.negation.oov | 400 | — | 4.58 |  |  | new |",
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
    assert "| finetune.sts.epoch |  | 9 | 4 | −5 |  |  |" in lines
    assert not any("worse" in line or "better" in line for line in lines)


@pytest.mark.slow
def test_order_and_limits_of_many_changes(project):
    write_project(project, metrics={f"set{i:03}": 50.0 for i in range(120)} | {"good": 1.0})
    commit(project, "many")
    write_project(project, metrics={f"set{i:03}": 49.0 - i for i in range(120)} | {"good": 2.0})
    lines = report_lines("HEAD")
    assert lines[0] == "no interval: good +1.00, set000 −1.00, set001 −2.00, 118 more"
    found = [line.split(" ")[1] for line in lines if line.startswith("| set")]
    assert found == [f"set{i:03}" for i in range(99)]
    assert "… and 21 more" in lines


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
    assert lines[0].startswith("**stale**: all metrics, computed before the last change of metrics/evaluate.json; ")
    assert lines[0].endswith("; removed: sample.sts.mean, sample.qa.map, sample.sts.sets, 1 more")


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
    assert done.stdout.startswith("worse: sample.sts.mean −16.00")
    with subprocess.Popen([*REPORT, "--base=main"], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        assert process.stderr.read() == b""


def test_folder_without_git(tmp_path):
    done = subprocess.run(REPORT, cwd=tmp_path, env=isolated_environment(), capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(f"error: {tmp_path}: git log: not a git repository")
    assert done.stderr.count("\n") == 1


def test_script_without_installed_packages(project):
    write_worse_project(project)
    hide = "import sys; sys.modules['numpy'] = None; sys.argv[1:] = ['--base=main']; import runpy; "
    command = [sys.executable, "-c", f"{hide}runpy.run_path({str(REPORT[1])!r}, run_name='__main__')"]
    done = subprocess.run(command, env=isolated_environment(), capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert done.stderr.endswith("install the package: pip install .\n")
