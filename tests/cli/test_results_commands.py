"""The commands experiments, compare, analyze and plots."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from paraphrastic.analysis.comparison import two_runs
from paraphrastic.cli.main import app
from paraphrastic.papers import configurations
from tests.helpers.command_line import assert_refused
from tests.helpers.recorded_results import PARAMS, add_experiment, changed, commit, make_repository, write_results
from tests.helpers.run_artifacts import write_corpus, write_run
from tests.helpers.score_tables import noisy_run


@pytest.fixture
def experiments(tmp_path, monkeypatch):
    """Return a function that runs the command in a folder of a repository with one experiment."""
    folder = make_repository(tmp_path / "clone")
    (folder / "experiments").mkdir()
    (folder / "dvc.yaml").touch()
    write_results(folder)
    commit(folder)
    add_experiment(folder, "small", changed(PARAMS, "models.avg.dim", 50), score=60.0)
    monkeypatch.chdir(folder / "metrics")
    return lambda *arguments: CliRunner().invoke(app, ["experiments", *arguments])


def test_experiments(experiments):
    lines = experiments().stdout.splitlines()
    assert lines == [
        "experiment\tmodel\tcorpus\tchanged\tSTS",
        "small\tavg\tsample\tdim=50\t60.00",
        "workspace\tavg\tsample\t\t50.00",
        "HEAD\tavg\tsample\t\t50.00",
    ]
    lines = experiments("--md", "--by", "words.simlex").stdout.splitlines()
    assert lines[0] == "| experiment | model | corpus | changed | words.simlex | STS |"
    assert lines[1] == "| --- | --- | --- | --- | ---: | ---: |"
    assert "| small | avg | sample | dim=50 | 2.50 | 60.00 |" in lines
    assert experiments("sm*", "--csv").stdout == "experiment,model,corpus,changed,STS\nsmall,avg,sample,dim=50,60.00\n"
    assert_refused(experiments("--md", "--csv"), "--md and --csv exclude each other; give one of them")
    assert_refused(experiments("smal", "small"), "unknown experiment 'smal': did you mean 'small'?")


def test_experiments_by_configuration(experiments, monkeypatch):
    states = {"ended": {"small", "old"}, "failed": {"broken"}, "running": set(), "queued": {"waiting"}}
    monkeypatch.setattr(configurations, "by_state", lambda root: states)
    done = experiments("--by-configuration")
    assert done.stdout == "configuration\tn\tSTS\navg dim=50\t1\t60.00\n"
    assert done.stderr.splitlines() == ["failed: broken", "queued: waiting", "no metrics of its parameters: old"]
    assert experiments("sm*", "--by-configuration", "--md").stderr == ""
    assert experiments("--by-configuration", "--csv").stdout == (
        "configuration,n,sts.mean,sts.mean sd\navg dim=50,1,60.0,\n"
    )
    assert "avg dim=50 & 1 & 60.00 \\\\\n" in experiments("--by-configuration", "--tex").stdout
    assert experiments("wait*", "--against", "small").stderr.startswith("differences are from avg dim=50")


def test_folder_that_is_no_clone(experiments, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert_refused(experiments(), f"{tmp_path}: no folder `experiments` here; run this in a clone of the repository")


def test_comparison_as_table_markdown_and_json(run):
    plain, markdown, as_json = (run("compare", "workspace", *form) for form in ((), ("--md",), ("--json",)))
    rows = [line.split("\t") for line in plain.stdout.splitlines()]
    assert rows[0] == ["set", "metric", "n", "A", "B", "B − A", "95 %", "p (Holm)"]
    assert rows[1][:2] == ["sts.2012.MSRpar", "pearson"]
    assert markdown.stdout.startswith("| set | metric |")
    content = json.loads(as_json.stdout)
    assert content["rows"][0]["difference"] == 0
    assert (content["left_out"], content["not_defined"]) == ([], {})
    assert_refused(run("compare", "workspace", "--md", "--json"), "--json and --md exclude each other")
    rows = json.loads(run("compare", "workspace,workspace", "workspace", "--json").stdout)["rows"]
    assert [len(row["a"]) for row in rows] == [2]
    assert [len(row["b"]) for row in rows] == [1]


def test_whole_output_of_a_comparison(run, monkeypatch):
    runs = {"a": noisy_run(1.0, 1), "b": noisy_run(1.0, 2, ("words.wordsim", "sts.2013.FNWN"))}
    monkeypatch.setattr("paraphrastic.analysis.comparison.revisions.scores_of", runs.get)
    result = run("compare", "a", "b", "--md")
    assert result.stdout == (
        "| set | metric | n | A | B | B − A | 95 % | p (Holm) |\n"
        "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |\n"
        "| sts.2013.FNWN | pearson | 200 | 73.45 | 67.10 | -6.34 | -15.08 … +2.45 | 0.153 |\n"
    )
    assert result.stderr.splitlines() == [
        "p of single sets is corrected for their number (Holm); intervals and p of means are not",
        "not in all runs, left out: sts.2012.MSRpar, words.simlex, words.wordsim",
    ]


@pytest.mark.parametrize("revisions", [["main"], ["workspace", "main"], ["main,other", "workspace"]])
def test_folder_outside_of_dvc_repository(run, tmp_path, revisions):
    result = run("compare", *revisions)
    assert_refused(result, f"{tmp_path}: git rev-parse: not a git repository")


@pytest.mark.parametrize("revisions", ["main,", "", ",workspace", "workspace, ,workspace"])
def test_empty_name_of_revision(run, revisions):
    assert_refused(run("compare", revisions), f"'{revisions}': a name is empty; give revisions or experiments")
    assert_refused(run("compare", "workspace", revisions), f"'{revisions}': a name is empty")


def test_spaces_around_names_of_revisions(run):
    assert run("compare", "workspace, workspace", " workspace").exit_code == 0


@pytest.mark.parametrize(
    ("a", "b", "row", "status", "verdict"),
    [
        ("noisy", "precise", "mean", 0, "mean of 2 sets: better"),
        ("precise", "noisy", "sts.2013.FNWN", 3, "sts.2013.FNWN: worse"),
        ("noisy", "noisy", "mean of 2 sets", 4, "mean of 2 sets: undecided"),
    ],
)
def test_exit_status_that_decides(run, monkeypatch, a, b, row, status, verdict):
    runs = {"noisy": noisy_run(1.5, 1), "precise": noisy_run(0.5, 2)}
    monkeypatch.setattr("paraphrastic.analysis.comparison.revisions.scores_of", runs.get)
    assert run("compare", a, b).exit_code == 0
    decided = run("compare", a, b, "--decide", row)
    assert (decided.exit_code, decided.stderr.splitlines()[-1]) == (status, verdict)
    assert decided.stdout == run("compare", a, b).stdout
    assert_refused(run("compare", a, b, "--decide", "sts.2013.FNWM"), "unknown row", "did you mean 'sts.2013.FNWN'")


def test_workspace_without_scores(run, tmp_path):
    (tmp_path / "data/scores.parquet").unlink()
    assert_refused(run("compare", "workspace"), "data/scores.parquet: no such file; run `dvc repro` to create it")


@pytest.mark.parametrize(
    ("revisions", "names"),
    [([], {}), (["small", "small-s2"], {"small": "avg dim=50", "small-s2": "avg dim=50"}), (["HEAD", "small"], {})],
)
def test_page_of_plots(experiments, run, monkeypatch, tmp_path, revisions, names):
    monkeypatch.chdir(tmp_path / "clone")
    add_experiment(Path(), "small-s2", changed(changed(PARAMS, "models.avg.dim", 50), "seed", 2))
    monkeypatch.setattr("paraphrastic.analysis.comparison.plots.plots_page", lambda *given: str(given))
    done = run("plots", *revisions, "--out", "page.html")
    assert Path("page.html").read_text() == str((revisions, names))
    assert done.stderr == f"page.html: plots of {', '.join(revisions) or 'workspace'}\n"
    assert_refused(run("plots", "--out", "absent/page.html"), "absent: no such folder")


def test_names_of_analyses(run):
    assert {"length", "agreement", "errors"} <= set(run("analyze").stdout.splitlines())


def test_table_as_csv_and_as_columns(run, tmp_path):
    write_run(tmp_path / "run", ["a b", "a c"], [("sts.2012.MSRpar", "test", 0, 1, 3.0)])
    assert run("analyze", "length", "--data", "run", "--csv").stdout == "length,n,pearson\n≤ 4,1,\n"
    assert run("analyze", "length", "--data", "run").stdout == "length\tn\tpearson\n≤ 4\t1\t\n"
    write_run(tmp_path / "run", ["a b", "a c"], [("sample.roles", "test", 0, 1, 3.0)])
    write_corpus(tmp_path / "run", ["a b"])
    assert run("analyze", "rare-words", "--data", "run").stdout.endswith("\nsample.roles\t1\t100.0\t100.0\t\t\t\n")
    table = run("analyze", "rare-words", "--data", "run", "--csv").stdout
    assert table.endswith("\nsample.roles,1,100.0,100.0,,,\n")


def test_table_in_a_subfolder(run, tmp_path, monkeypatch):
    write_run(tmp_path / "data", ["a b", "a c"], [("sts.2012.MSRpar", "test", 0, 1, 3.0)])
    (tmp_path / ".dvc").mkdir()
    monkeypatch.chdir(tmp_path / "data")
    assert run("analyze", "length").stdout.endswith("\n≤ 4\t1\t\n")


def test_unknown_analysis_and_missing_run(run, tmp_path):
    assert_refused(run("analyze", "lenght"), "unknown analysis 'lenght': did you mean 'length'?")
    assert_refused(run("analyze", "length", "--data", "nowhere"), "nowhere/scores.parquet: no such file")


def test_analyses_of_two_runs(run, tmp_path):
    pairs = [("sts.2012.MSRpar", "test", 0, 1, 3.0), ("sts.2012.MSRpar", "test", 0, 2, 1.0)]
    write_run(tmp_path / "data", ["a b", "a c", "d"], pairs)
    for runs in (["workspace"], ["workspace", "workspace"]):
        agreement = run("analyze", "agreement", *runs, "--csv").stdout.splitlines()
        assert agreement[:2] == ["set,n,pearson,spearman", "sts.2012.MSRpar,2,100.0,100.0"]
        errors = run("analyze", "errors", *runs, "--csv").stdout
        assert errors == "wrong,estimate,set,text1,text2,gold,score_a,score_b,error_a,error_b\n"


def test_arguments_of_analyses_of_one_run_and_of_two(run):
    assert_refused(run("analyze", "errors"), "errors compares two runs: give two revisions or experiments")
    assert_refused(run("analyze", "errors", "main", "--data", "data"), "errors compares two runs", "leave --data")
    assert_refused(run("analyze", "length", "main"), "length analyzes one run, that of --data; leave 'main' out")
    assert_refused(run("analyze", "agrement"), "unknown analysis 'agrement': did you mean 'agreement'?")


def test_sets_that_only_one_run_has(run, tmp_path, monkeypatch):
    write_run(tmp_path / "data", ["a b", "a c"], [("sts.2012.MSRpar", "test", 0, 1, 3.0)])
    pairs, _ = two_runs.pairs_of_two_runs("workspace", "workspace")
    monkeypatch.setattr(two_runs, "pairs_of_two_runs", lambda a, b: (pairs, ["pit2015", "sick.relatedness"]))
    result = run("analyze", "agreement", "main")
    assert result.stderr.splitlines() == [
        "not in both runs, left out: pit2015, sick.relatedness",
        "empty pearson and spearman: not defined, for fewer than two rows or equal values",
    ]
    assert result.stdout.splitlines()[1].startswith("sts.2012.MSRpar\t1\t")
