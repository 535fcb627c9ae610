"""What changed on a branch: verdicts, metrics that are stale or renamed, intervals from n and from scores."""

import numpy as np
import pytest
from dvc.repo import Repo

from paraphrastic.base.errors import ParameterError
from paraphrastic.base.tables import SCORES, write_table
from tests.helpers.metrics_project import (
    METRICS,
    OPTIONS,
    PARAMS,
    SETS,
    branch_report,
    report_lines,
    rows_of,
    write_project,
    write_worse_project,
)
from tests.helpers.recorded_results import commit
from tests.helpers.score_tables import score_table

# Spearman's ρ of 250 pairs, which is lower by 5.64 points after another seed
WORDS = SETS + "sample.words,similarity,250,,38.50,,1.0\n"
LOWER_WORDS = {"sample": METRICS["sample"] | {"words": 32.86}}


def test_change_inside_the_noise_is_not_worse(project):
    write_project(project, sets=WORDS)
    commit(project, "words")
    write_project(project, PARAMS + "window: 5\n", LOWER_WORDS, WORDS.replace("38.50", "32.86"))
    lines = report_lines("HEAD")
    assert lines[0] == "in the noise: sample.words −5.64 (−21.43 … +10.22)"
    assert rows_of(lines)[1] == "| sample.words | 250 | 38.50 | 32.86 | −5.64 | −21.43 … +10.22 | in the noise |"


def test_another_seed_alone_is_neither_worse_nor_better(project):
    write_worse_project(project)
    write_project(project, options=OPTIONS)
    commit(project, "first seed")
    write_worse_project(project)
    write_project(project, PARAMS.replace("seed: 1", "seed: 2"), sets=SETS.replace("41.05", "9.05"))
    assert report_lines("HEAD")[0] == "no metric changed"
    assert rows_of(report_lines("HEAD"))[-1].endswith("−32.00 | −44.56 … −19.15 | another seed |")
    (project / "src/code.py").write_text("new = True")
    write_project(project, PARAMS.replace("seed: 1", "seed: 2"), sets=SETS.replace("41.05", "9.05"))
    assert rows_of(report_lines("HEAD"))[-1].endswith("▼ worse |")


@pytest.mark.parametrize(
    ("file", "old", "new", "cause"),
    [
        ("params.yaml", "seed: 1", "seed: 2", "params.yaml:seed"),
        ("models.yaml", "margin: 0.6", "margin: 0.9", "models.yaml:avg"),
        ("src/code.py", "", "new = True", "src/code.py"),
        ("dvc.yaml", 'cmd: "true"\n    deps', 'cmd: "false"\n    deps', "the command of train"),
        ("metrics/sets.csv", "41.05", "61.05", "metrics/sets.csv"),
    ],
)
def test_metrics_of_other_parameters_or_code_are_stale(project, file, old, new, cause):
    path = project / file
    path.write_text(path.read_text().replace(old, new, 1))
    commit(project, "no dvc repro")
    remedy = "run `dvc repro --all-pipelines`"
    assert report_lines()[0] == f"**stale**: all metrics, computed before the last change of {cause}; {remedy}"


def test_stale_metrics_are_neither_worse_nor_better(project):
    write_worse_project(project)
    (project / "src/code.py").write_text("new = True")
    assert report_lines()[0].endswith("stale: sample.sts.mean −16.00 (−23.90 … −7.98)")
    assert "worse" not in branch_report("main")


def test_stale_metrics_of_a_supervised_task(project):
    stages = "stages: {finetune: {matrix: {task: [sts, sick]}, cmd: 'true', deps: ['${key}.txt']}}"
    (project / "finetune").mkdir()
    (project / "finetune/dvc.yaml").write_text(stages)
    for name in ("sts", "sick"):
        (project / f"finetune/{name}.txt").write_text("1")
    with Repo(str(project)) as repo:
        repo.commit("finetune/dvc.yaml", force=True)
    (project / "metrics/finetune").mkdir()
    (project / "metrics/finetune/sts.json").write_text('{"finetune": {"sts": {"r": 1.0}, "sick": {"r": 1.0}}}')
    commit(project, "tasks")
    (project / "finetune/sts.txt").write_text("2")
    (project / "metrics/finetune/sts.json").write_text('{"finetune": {"sts": {"r": 9.0}, "sick": {"r": 9.0}}}')
    remedy = "run `dvc repro --all-pipelines`; no interval: finetune.sick.r +8.00; stale: finetune.sts.r +8.00"
    assert report_lines("HEAD")[0].startswith("**stale**: finetune.sts, computed before the last change of ")
    assert report_lines("HEAD")[0].endswith(remedy)


def test_renamed_metric_and_set(project):
    metrics = {"sample": {"sts": {"average": 60.2, "sets": 5}, "qa": {"map": 76.86}, "words": 38.5}}
    write_project(project, metrics=metrics, sets=SETS.replace("sample.typos", "sample.misspelt"))
    lines = report_lines()
    assert lines[0] == "renamed: sample.sts.mean → sample.sts.average"
    assert "| sample.sts.mean → sample.sts.average |  | 60.20 | 60.20 |  |  | renamed |" in lines
    assert "| sample.typos.pearson → sample.misspelt.pearson | 400 | 55.76 | 55.76 |  |  | renamed |" in lines
    metrics["sample"]["sts"]["median"] = 60.2  # which of both is it?
    write_project(project, metrics=metrics)
    assert report_lines()[0] == "removed: sample.sts.mean; new: sample.sts.average, sample.sts.median"


@pytest.mark.parametrize("file", ["dvc.lock", "metrics/evaluate.json"])
def test_merge_conflict_is_one_line(project, file):
    text = (project / file).read_text()
    (project / file).write_text(f"<<<<<<< HEAD\n{text}\n=======\n{text}\n>>>>>>> main\n")
    with pytest.raises(ParameterError, match=f"^merge conflict in {file}: take one side of each, then `dvc repro"):
        branch_report("main")


def test_main_metric_is_first_and_shares_of_unknown_words_are_apart(project):
    write_project(
        project,
        metrics={"sample": {"qa": {"map": 70.0}, "sts": {"mean": 60.0, "sets": 5}, "a": 1.0, "words": 38.5}},
        sets=SETS.replace("14.58", "16.58").replace("42.94", "42.34"),
    )
    visible, of_sets, of_words = branch_report("main").split("<details>")
    names = [row.split(" ")[1] for row in rows_of(visible.splitlines())]
    assert names == ["sample.sts.mean", "sample.a", "sample.qa.map"]
    assert [row.split(" ")[1] for row in rows_of(of_sets.splitlines())] == ["sample.roles.spearman"]
    assert of_words.startswith("<summary>shares of unknown words")
    assert rows_of(of_words.splitlines()) == ["| sample.typos.oov | 400 | 14.58 | 16.58 | +2.00 |  |  |"]


@pytest.fixture
def scores(project, tmp_path):
    """Files of the scores of two runs that differ by little, and their metrics in the project."""
    gold, noise = np.random.default_rng(1).normal(size=(2, 400))
    runs = [gold + 1.5 * noise, gold + 1.65 * noise]
    values = [f"{100 * np.corrcoef(gold, run)[0, 1]:.2f}" for run in runs]
    files = [tmp_path / "old.parquet", tmp_path / "new.parquet"]
    for file, run, value in zip(files, runs, values, strict=True):
        write_table(score_table("sample.roles", "similarity", gold, run), file, SCORES)
        write_project(project, PARAMS + f"window: {value}\n", sets=SETS.replace("41.05", value))
        commit(project, "scores")
    return files


def test_intervals_from_scores_are_those_of_a_paired_test(project, scores):
    (row,) = [row for row in rows_of(branch_report("HEAD~1", scores).splitlines()) if "roles.pearson" in row]
    low, high = (float(end.replace("−", "-")) for end in row.split("|")[6].split("…"))
    change = float(row.split("|")[5].replace("−", "-"))
    assert low < change < high < 0
    assert row.endswith("▼ worse |")
    (wide,) = [row for row in rows_of(branch_report("HEAD~1").splitlines()) if "roles.pearson" in row]
    assert wide.endswith("in the noise |")


def test_scores_of_another_run_are_not_used(project, scores):
    rows = rows_of(branch_report("HEAD~1", [scores[0], scores[0]]).splitlines())
    assert set(rows_of(branch_report("HEAD~1").splitlines())) < set(rows)


def test_reason_for_missing_scores_is_whole(project, scores):
    missing = project / ("folder" * 40) / "scores.parquet"
    assert f"{missing}" in branch_report("HEAD~1", [missing, missing])
