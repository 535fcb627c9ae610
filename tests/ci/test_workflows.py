"""The GitHub workflows: they follow GitHub's schema, and no code of a pull request runs with a token that can write."""

import subprocess
import sys
import tomllib

import pytest

from tests.helpers.repository import ROOT
from tests.helpers.workflows import FILES, load_workflow, scripts_of, steps_of


def test_workflows_against_the_schema_of_github():
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.github-workflows"]
    done = subprocess.run([*command, *FILES.values()], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_workflows_in_the_folder():
    assert set(FILES.values()) == set((ROOT / ".github/workflows").iterdir())


def test_ci_can_only_read():
    workflow = load_workflow("ci")
    assert workflow["permissions"] == {"contents": "read"}
    assert not any("permissions" in job for job in workflow["jobs"].values())
    assert "pull_request_target" not in workflow["on"]
    assert "secrets." not in FILES["ci"].read_text()
    for job in workflow["jobs"].values():
        checkout = job["steps"][0]
        assert checkout["uses"].startswith("actions/checkout@")
        assert checkout["with"]["persist-credentials"] is False


def test_comment_runs_no_code_of_pull_request():
    workflow = load_workflow("comment")
    assert workflow["permissions"] == {"actions": "read", "pull-requests": "write"}
    assert workflow["on"] == {"workflow_run": {"workflows": [load_workflow("ci")["name"]], "types": ["completed"]}}
    used = [step["uses"].partition("@")[0] for step in steps_of("comment")]
    assert used == ["actions/download-artifact", "actions/github-script"]


@pytest.mark.parametrize("name", FILES)
def test_scripts_without_expressions(name):
    # GitHub substitutes ${{ … }} before the shell parses a script, so text of an event could become code
    assert scripts_of(name)
    assert not any("${{" in script for script in scripts_of(name))


def test_python_versions_of_base_package():
    job = load_workflow("ci")["jobs"]["base"]
    assert job["strategy"]["matrix"] == {"python": ["3.11", "3.12", "3.13"]}
    _, setup, run = job["steps"]
    assert setup["with"] == {"python-version": "${{ matrix.python }}"}
    assert run == {"run": '.ci/base "$VERSION"', "env": {"VERSION": "${{ matrix.python }}"}}


def test_first_steps_of_the_job_test():
    job = load_workflow("ci")["jobs"]["test"]
    assert job["steps"][0]["with"]["fetch-depth"] == 0
    assert job["steps"][1]["with"] == {"python-version": "3.11"}
    assert job["steps"][2]["run"] == ".ci/run"


@pytest.mark.parametrize("script", ["run", "base"])
def test_script_is_executable(script):
    assert (ROOT / ".ci" / script).stat().st_mode & 0o100


def test_dvc_version_of_report():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    (dvc,) = [requirement for requirement in extras["pipeline"] if requirement.startswith("dvc")]
    assert f"pip install --quiet '{dvc}'" in scripts_of("ci")
