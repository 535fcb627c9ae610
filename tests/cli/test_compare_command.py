"""The command compare."""

import json

import pytest

from tests.helpers.command_line import assert_refused


def test_three_forms(run):
    plain, markdown, as_json = (run("compare", "workspace", *form) for form in ((), ("--md",), ("--json",)))
    assert "sts.2012.MSRpar" in plain.stdout
    assert markdown.stdout.startswith("| set | metric |")
    assert json.loads(as_json.stdout)["rows"][0]["difference"] == 0


def test_several_seeds_of_one_model(run):
    rows = json.loads(run("compare", "workspace,workspace", "workspace", "--json").stdout)["rows"]
    assert [len(row["a"]) for row in rows] == [2]
    assert [len(row["b"]) for row in rows] == [1]


@pytest.mark.parametrize("revisions", [["main"], ["workspace", "main"], ["main,other", "workspace"]])
def test_folder_outside_of_dvc_repository(run, tmp_path, revisions):
    result = run("compare", *revisions)
    assert_refused(result, f"{tmp_path}: not a DVC repository with commits; run this in a clone")


def test_workspace_without_scores(run, tmp_path):
    (tmp_path / "data/scores.parquet").unlink()
    assert_refused(run("compare", "workspace"), "data/scores.parquet: no such file; run `dvc repro` to create it")
