"""The comment on a pull request: the script of comment.yaml, run by node with a stand-in for GitHub's API."""

import json
import os
import shutil

import pytest

from tests.helpers.metrics_project import create_project, write_worse_project
from tests.helpers.recorded_results import commit
from tests.helpers.repository import ROOT, isolated_environment, run
from tests.helpers.workflows import scripts_of

# Prints the calls that the script makes, as a list of [name, argument]
NODE_PROGRAM = """
const [script, payload, pull, comments] = JSON.parse(process.env.SCENE);
const calls = [];
const call = (name) => async (argument) => { calls.push([name, argument]); return { data: pull }; };
const github = {
  rest: { pulls: { get: call("get") }, issues: { updateComment: call("update"), createComment: call("create") } },
  paginate: async () => comments,
};
const core = { setFailed: (text) => calls.push(["failed", text]), warning: (text) => calls.push(["warning", text]) };
const context = { repo: { owner: "o", repo: "r" }, payload: { workflow_run: payload } };
const AsyncFunction = (async () => {}).constructor;
new AsyncFunction("github", "context", "core", "require", script)(github, context, core, require)
  .catch((error) => calls.push(["failed", error.message]))
  .then(() => console.log(JSON.stringify(calls)));
"""
RUN = {"head_sha": "abc", "head_repository": {"id": 7}, "html_url": "https://run", "name": "report"} | {
    "conclusion": "success"
}
PULL_REQUEST = {"number": 12, "head": {"sha": "abc", "repo": {"id": 7}}}


def run_script(runner_temp, comments=(), pull_request=PULL_REQUEST):
    """Return the calls that the script makes to GitHub's API, given the existing comments."""
    if not shutil.which("node"):
        pytest.skip("needs node, which runs the script of comment.yaml")
    scene = json.dumps([*scripts_of("comment"), RUN, pull_request, comments])
    environment = os.environ | {"SCENE": scene, "RUNNER_TEMP": str(runner_temp)}
    return json.loads(run("node", "-e", NODE_PROGRAM, env=environment, check=True).stdout)


@pytest.fixture
def artifact(tmp_path):
    """The folder of the downloaded artifact, in the runner's temporary folder."""
    folder = tmp_path / "runner/report"
    folder.mkdir(parents=True)
    (folder / "number").write_text("12\n")
    (folder / "report.md").write_text("worse: map −1.20, says @somebody\n")
    return folder


@pytest.mark.slow
def test_report_of_worse_model(tmp_path):
    project = tmp_path / "project"
    create_project(project)
    write_worse_project(project)
    commit(project, "worse")
    (project / ".ci").symlink_to(ROOT / ".ci")
    (script,) = [script for script in scripts_of("report") if "report.py" in script]
    files = {"RUNNER_TEMP": str(tmp_path), "GITHUB_STEP_SUMMARY": str(tmp_path / "summary")}
    environment = isolated_environment() | files | {"BASE": "main", "NUMBER": "12"}
    run("bash", "-e", "-c", script, cwd=project, env=environment, check=True)
    assert (tmp_path / "summary").read_text().startswith("worse: sample.sts.mean −16.00 (−23.90 … −7.98)\n")
    (_, (call, argument)) = run_script(tmp_path)
    assert (call, argument["issue_number"]) == ("create", 12)
    assert "\nworse: sample.sts.mean −16.00 (−23.90 … −7.98)\n" in argument["body"]
    assert "| sample.sts.mean | 2 sets | 60.20 | 44.20 | −16.00 | −23.90 … −7.98 | ▼ worse |" in argument["body"]


def test_update_of_previous_comment(artifact):
    (_, (_, first)) = run_script(artifact.parent)
    previous = {"id": 5, "user": {"login": "github-actions[bot]"}, "body": first["body"]}
    others = [
        {"id": 3, "user": {"login": "somebody"}, "body": first["body"]},
        {"id": 4, "user": {"login": "github-actions[bot]"}, "body": "a comment of another workflow"},
        {"id": 6, "user": None, "body": None},
    ]
    (_, (call, argument)) = run_script(artifact.parent, [*others, previous])
    assert (call, argument["comment_id"], argument["body"]) == ("update", 5, first["body"])
    assert run_script(artifact.parent, others)[1][0] == "create"


def test_mention_in_report(artifact):
    (_, (_, argument)) = run_script(artifact.parent)
    assert "somebody" in argument["body"]
    assert "@somebody" not in argument["body"]


def test_long_report(artifact):
    (artifact / "report.md").write_text("x" * 70_000)
    (_, (_, argument)) = run_script(artifact.parent)
    assert 60_000 < len(argument["body"]) < 65_536
    assert argument["body"].endswith("<sub>[report: success](https://run), abc</sub>")


@pytest.mark.parametrize("number", ["", "12\n13", "12; rm", "../12", "1e3", "0x1", "1234567890", "１２"])
def test_invalid_number_of_pull_request(artifact, number):
    (artifact / "number").write_text(number)
    assert run_script(artifact.parent) == [["failed", "number: not the number of a pull request"]]


@pytest.mark.parametrize("head", [{"sha": "other", "repo": {"id": 7}}, {"sha": "abc", "repo": {"id": 8}}])
def test_pull_request_of_another_run(artifact, head):
    (_, (call, text)) = run_script(artifact.parent, pull_request=PULL_REQUEST | {"head": head})
    assert (call, text) == ("warning", "#12: its head is not the commit that the run tested")


def test_symbolic_link_in_artifact(artifact, tmp_path):
    (tmp_path / "secret").write_text("token")
    (artifact / "report.md").unlink()
    (artifact / "report.md").symlink_to(tmp_path / "secret")
    assert run_script(artifact.parent)[-1] == ["failed", "report.md: not a regular file"]
