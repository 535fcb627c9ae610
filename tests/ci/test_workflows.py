"""The GitHub workflows: they follow GitHub's schema, and no code of a pull request runs with a token that can write."""

import re
import tomllib

import pytest

from tests.helpers.repository import ROOT, isolated_environment, run
from tests.helpers.workflows import FILES, load_workflow, scripts_of, steps_of


def test_workflows_in_the_folder():
    assert set(FILES.values()) == set((ROOT / ".github/workflows").iterdir())
    run("zizmor", "--offline", ".", cwd=ROOT, env=isolated_environment(), check=True)


def test_actions_are_pinned_by_commit():
    used = [line for file in FILES.values() for line in file.read_text().splitlines() if "uses:" in line]
    pinned = [re.search(r"uses: ([\w/-]+)@([0-9a-f]{40}) # (v\d+\.\d+\.\d+)$", line) for line in used]
    assert all(pinned), used
    commits = {match.groups() for match in pinned}
    assert len(commits) == len({action for action, _, _ in commits})  # the same commit everywhere


def test_ci_can_only_read():
    for name in ("ci", "report"):
        workflow = load_workflow(name)
        assert workflow["permissions"] == {"contents": "read"}
        assert "pull_request_target" not in workflow["on"]
        assert "secrets." not in FILES[name].read_text()
        for job in workflow["jobs"].values():
            assert {*job.get("permissions", {}).values()} <= {"read"}
            checkout = job["steps"][0]
            assert checkout["uses"].startswith("actions/checkout@")
            assert checkout["with"]["persist-credentials"] is False
    workflow = load_workflow("comment")
    assert workflow["permissions"] == {}
    (job,) = workflow["jobs"].values()
    assert job["permissions"] == {"actions": "read", "pull-requests": "write"}
    names = [load_workflow(name)["name"] for name in ("report", "ci")]
    assert workflow["on"] == {"workflow_run": {"workflows": names, "types": ["completed"]}}
    used = [step["uses"].partition("@")[0] for step in steps_of("comment")]
    assert used == ["actions/download-artifact", "actions/github-script"]


@pytest.mark.parametrize("name", FILES)
def test_scripts_without_expressions(name):
    # GitHub substitutes ${{ … }} before the shell parses a script, so text of an event could become code
    assert scripts_of(name)
    assert not any("${{" in script for script in scripts_of(name))


def test_python_versions_of_base_package_and_release():
    base, test = load_workflow("ci")["jobs"]["base"], load_workflow("release")["jobs"]["test"]
    assert base["strategy"]["matrix"] == test["strategy"]["matrix"] == {"python": ["3.11", "3.12", "3.13"]}
    _, setup, command = base["steps"]
    assert setup["with"] == {"python-version": "${{ matrix.python }}"}
    assert command == {"run": '.ci/base "$VERSION"', "env": {"VERSION": "${{ matrix.python }}"}}
    assert test["steps"][-1]["run"] == 'WHEEL=$(echo dist/*.whl) .ci/base "$VERSION"'


def test_upload_of_a_release():
    workflow = load_workflow("release")
    jobs = workflow["jobs"]
    assert (workflow["on"], workflow["permissions"]) == ({"push": {"tags": ["v*"]}, "workflow_dispatch": None}, {})
    assert {name: job["permissions"] for name, job in jobs.items()} == {
        **{name: {"contents": "read"} for name in ("build", "test", "sbom")},
        "publish": {"id-token": "write"},
        "attach": {"contents": "write"},
    }
    publish = jobs["publish"]
    assert (publish["if"], publish["environment"]) == ("github.ref_type == 'tag'", "pypi")
    assert (publish["needs"], jobs["attach"]["needs"]) == (["test", "sbom"], "publish")
    assert [step["uses"].partition("@")[0] for step in publish["steps"]] == [
        "actions/download-artifact",
        "pypa/gh-action-pypi-publish",
    ]
    assert "secrets." not in FILES["release"].read_text()


@pytest.mark.parametrize(("tag", "status"), [("v0.3.0", 0), ("v0.3.1", 1), ("v0.3", 1), ("0.3.0-rc1", 1)])
def test_tag_of_a_release_is_its_version(tmp_path, tag, status):
    (tmp_path / "dist").mkdir()
    (tmp_path / "dist/paraphrastic-0.3.0.tar.gz").touch()
    (step,) = [step for step in steps_of("release") if "GITHUB_REF_NAME#v" in step.get("run", "")]
    assert step["if"] == load_workflow("release")["jobs"]["publish"]["if"]
    environment = isolated_environment() | {"GITHUB_REF_NAME": tag}
    done = run("bash", "-e", "-c", step["run"], cwd=tmp_path, env=environment)
    assert (done.returncode, done.stderr.count("\n")) == (status, status)


def test_packages_that_workflows_install_are_those_of_the_extras():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    (install,) = [script for script in scripts_of("release") if script.startswith("pip install")]
    names = ("build>", "check-wheel-contents", "setuptools", "twine")
    assert re.findall(r"'(.*?)'", install) == [each for each in extras["dev"] if each.startswith(names)]
    setuptools = next(each for each in extras["dev"] if each.startswith("setuptools"))
    assert f"'{setuptools}'" in (ROOT / "docs/how-to/air-gapped.md").read_text()
    dvc, scipy = (each for each in extras["pipeline"] if each.startswith(("dvc", "scipy")))
    for name in ("ci", "report"):
        assert f"pip install --quiet . '{dvc}' '{scipy}'" in scripts_of(name)


@pytest.mark.parametrize(
    "script", [path.name for path in (ROOT / ".ci").iterdir() if path.is_file() and not path.suffix]
)
def test_script_is_executable(script):
    assert (ROOT / ".ci" / script).stat().st_mode & 0o100


def test_report_waits_for_no_test():
    (job,) = load_workflow("report")["jobs"].values()
    assert "needs" not in job
    assert not any(word in script for script in scripts_of("report") for word in (".ci/run", "pytest", "repro"))
    assert job["timeout-minutes"] <= 5


def test_scores_that_the_tests_have_computed_are_those_of_the_report():
    jobs = load_workflow("ci")["jobs"]
    upload = jobs["test"]["steps"][-1]["with"]
    assert upload["path"] == next(step["env"]["SCORES"] for step in jobs["test"]["steps"] if "SCORES" in str(step))
    downloads = [step["with"] for step in jobs["report"]["steps"] if "download-artifact" in step.get("uses", "")]
    assert [(each["name"], each["path"].rpartition("/")[2]) for each in downloads] == [
        ("scores", "new"),
        ("scores", "old"),
    ]
    (script,) = [script for script in scripts_of("ci") if "report.py" in script]
    assert '--scores "$RUNNER_TEMP"/{old,new}/scores.parquet' in script
