"""`paraphrastic analyze`."""

from paraphrastic.analysis.comparison import two_runs
from tests.helpers.command_line import assert_refused
from tests.helpers.run_artifacts import write_corpus, write_run


def test_names(run):
    assert {"length", "agreement", "errors"} <= set(run("analyze").stdout.splitlines())


def test_table_as_csv_and_as_columns(run, tmp_path):
    write_run(tmp_path / "run", ["a b", "a c"], [("sts.2012.MSRpar", "test", 0, 1, 3.0)])
    assert run("analyze", "length", "--data", "run", "--csv").stdout == "length,n,pearson\n≤ 4,1,0.0\n"
    assert run("analyze", "length", "--data", "run").stdout == "≤ 4\t1\t0.0\n"


def test_empty_cells(run, tmp_path):
    write_run(tmp_path / "run", ["a b", "a c"], [("sample.roles", "test", 0, 1, 3.0)])
    write_corpus(tmp_path / "run", ["a b"])
    assert run("analyze", "rare-words", "--data", "run").stdout == "sample.roles\t1\t100.0\t100.0\t0.0\t\t\n"
    assert run("analyze", "rare-words", "--data", "run", "--csv").stdout.endswith(
        "\nsample.roles,1,100.0,100.0,0.0,,\n"
    )


def test_table_in_a_subfolder(run, tmp_path, monkeypatch):
    write_run(tmp_path / "data", ["a b", "a c"], [("sts.2012.MSRpar", "test", 0, 1, 3.0)])
    (tmp_path / ".dvc").mkdir()
    monkeypatch.chdir(tmp_path / "data")
    assert run("analyze", "length").stdout == "≤ 4\t1\t0.0\n"


def test_unknown_name_and_missing_run(run, tmp_path):
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
    assert_refused(
        run("analyze", "errors", "main", "--data", "data"), "errors compares two runs, A and B; leave --data"
    )
    assert_refused(run("analyze", "length", "main"), "length analyzes one run, that of --data; leave 'main' out")
    assert_refused(run("analyze", "agrement"), "unknown analysis 'agrement': did you mean 'agreement'?")


def test_sets_that_only_one_run_has(run, tmp_path, monkeypatch):
    write_run(tmp_path / "data", ["a b", "a c"], [("sts.2012.MSRpar", "test", 0, 1, 3.0)])
    pairs, _ = two_runs.pairs_of_two_runs("workspace", "workspace")
    monkeypatch.setattr(two_runs, "pairs_of_two_runs", lambda a, b: (pairs, ["pit2015", "sick.relatedness"]))
    result = run("analyze", "agreement", "main")
    assert result.stderr == "not in both runs, left out: pit2015, sick.relatedness\n"
    assert result.stdout.startswith("sts.2012.MSRpar\t1\t")
