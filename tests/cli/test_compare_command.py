"""The command compare."""

import json

import pytest

from tests.helpers.command_line import assert_refused


def test_comparison_as_table_markdown_and_json(run):
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


@pytest.mark.parametrize("revisions", ["main,", "", ",workspace", "workspace, ,workspace"])
def test_empty_name_of_revision(run, revisions):
    assert_refused(run("compare", revisions), f"'{revisions}': a name is empty; give revisions or experiments")
    assert_refused(run("compare", "workspace", revisions), f"'{revisions}': a name is empty")


def test_spaces_around_names_of_revisions(run):
    assert run("compare", "workspace, workspace", " workspace").exit_code == 0


def test_workspace_without_scores(run, tmp_path):
    (tmp_path / "data/scores.parquet").unlink()
    assert_refused(run("compare", "workspace"), "data/scores.parquet: no such file; run `dvc repro` to create it")
