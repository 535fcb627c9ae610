"""A project in its repository, which may be a subfolder of it; reasons of git and DVC."""

import json
import shutil
import subprocess

import numpy as np
import pytest
from dvc.api import metrics_show
from dvc.repo import Repo

from paraphrastic.analysis.comparison.plots import plots_page
from paraphrastic.analysis.comparison.repository import git, path_in, project_root
from paraphrastic.analysis.comparison.revisions import SCORES_FILE, scores_of
from paraphrastic.base.errors import DataError, ParameterError
from paraphrastic.base.tables import SCORES, write_table
from paraphrastic.papers.project import find_project
from paraphrastic.papers.records import entries, records
from tests.helpers.metrics_project import branch_report
from tests.helpers.recorded_results import add_experiment, commit, write_results
from tests.helpers.repository import DVC, isolated_environment, run_git
from tests.helpers.score_tables import score_table

# deprecation of a method of a library that DVC calls
pytestmark = pytest.mark.filterwarnings("ignore:_NoneStep.value:DeprecationWarning")

NAME = "encodeurs à nous"  # git quotes such a path where it is not told otherwise
DVC_YAML = "metrics: [metrics/evaluate.json]\n"


@pytest.fixture(scope="module", params=["dvc in the subfolder", "dvc above it"])
def initial(request, tmp_path_factory):
    """A repository with a project in a subfolder, which has two commits and an experiment, beside another project."""
    top = tmp_path_factory.mktemp("initial") / "mono"
    project, other = top / NAME, top / "other"
    for folder in (project / "experiments", other / "metrics"):
        folder.mkdir(parents=True)
        (folder.parent / "dvc.yaml").write_text(DVC_YAML)
    (project / "experiments/presets.toml").touch()
    run_git(top, "init", "--quiet", "--initial-branch=main")
    is_above = request.param == "dvc above it"
    with Repo.init(str(top if is_above else project), subdir=not is_above) as repo:
        for score in (65.25, 50.0):
            (other / "metrics/evaluate.json").write_text(json.dumps({"other": score}))
            write_results(project, score=score)
            scores = score_table("sts.2012.MSRpar", "similarity", np.arange(9.0), np.arange(9.0) * score)
            write_table(scores, project / SCORES_FILE, SCORES)
            repo.add(str(project / SCORES_FILE))
            commit(top)
    add_experiment(project, "better", score=80.0)
    return top


@pytest.fixture
def mono(initial, tmp_path):
    return shutil.copytree(initial, tmp_path / "mono")


@pytest.fixture
def project(mono, monkeypatch):
    """The project; the working directory is a subfolder of it."""
    monkeypatch.chdir(mono / NAME / "metrics")
    return mono / NAME


def names():
    with records(find_project().root) as found:
        return {entry.name: entry.metrics["sts.mean"] for entry in entries(found)}


def test_path_in_the_repository(tmp_path):
    assert [path_in(str(tmp_path), tmp_path / name) for name in (".", "a/b")] == ["", "a/b"]


def test_project_in_a_subfolder(project):
    assert project_root() == project
    lines = branch_report("HEAD~1").splitlines()
    assert lines[0] == "worse: sts.mean −15.25 (−22.06 … −8.51); no interval: finetune.sts.test.pearson −15.25"
    assert any(line.startswith("| sts.2012.MSRpar.pearson | 750 | 65.25 | 50.00 | −15.25") for line in lines)
    assert not any("other:" in line or "| other" in line for line in lines)
    assert any("confidence intervals and p" in line for line in lines)
    assert lines[-3].startswith("Bold: p < 0.05; p of single sets is corrected for their number (Holm)")
    assert names() == {"better": 80.0, "workspace": 50.0, "HEAD": 50.0}
    assert [scores_of(rev)["sts.2012.MSRpar"]["score"][1].as_py() for rev in ("HEAD~1", "main")] == [65.25, 50.0]
    with pytest.raises(DataError, match="Plots: workspace, main: no data"):
        plots_page(["workspace", "main"], {})


def test_dvc_itself_in_a_subfolder(project):
    # the project leaves reading and comparing of single metrics to DVC
    assert metrics_show()["sts"]["mean"] == 50.0
    assert metrics_show(rev="HEAD~1")["sts"]["mean"] == 65.25
    command = [*DVC, "metrics", "diff", "HEAD~1"]
    done = subprocess.run(command, cwd=project, env=isolated_environment(), capture_output=True, text=True)
    assert [line.split()[-1] for line in done.stdout.splitlines() if "sts.mean" in line] == ["-15.25"]


@pytest.mark.parametrize("branch", ["other", "--detach"])
def test_worktree(mono, tmp_path, monkeypatch, branch):
    run_git(mono, "worktree", "add", "--quiet", *(["-b", branch] if branch == "other" else [branch]), "../tree")
    monkeypatch.chdir(tmp_path / "tree" / NAME)
    write_results(project_root(), score=49.0)
    assert branch_report("HEAD~1").startswith("worse: sts.mean −16.25 (−23.12 … −9.45)")
    assert names() == {"better": 80.0, "workspace": 49.0, "HEAD": 50.0}
    with pytest.raises(DataError, match=r"main: no data/scores.parquet in the DVC cache"):
        scores_of("main")


def test_shallow_clone(mono, tmp_path, monkeypatch):
    run_git(tmp_path, "clone", "--quiet", "--depth=1", mono.as_uri(), "shallow")
    monkeypatch.chdir(tmp_path / "shallow" / NAME)
    assert names() == {"workspace": 50.0, "HEAD": 50.0}
    with pytest.raises(ParameterError, match="base 'HEAD~1': no such commit here; `git fetch` it"):
        branch_report("HEAD~1")


REMEDY = "run this in a clone of the project"
USES = {"report": lambda: branch_report("main"), "experiments": names, "compare": lambda: scores_of("main")}


@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_reasons_of_git(project, monkeypatch, use):
    repository = project.parent / ".git"
    cases = (
        ("config", "[core", "bad config line"),
        ("HEAD", "nonsense", f"not a git repository (or any of the parent directories): .git; {REMEDY}"),
    )
    for path, content, reason in cases:
        before = (repository / path).read_text()
        (repository / path).write_text(content)
        with pytest.raises(ParameterError) as caught:
            use()
        assert str(caught.value).startswith(f"{project}: git ")
        assert reason in str(caught.value)
        assert ("run this in a clone" in str(caught.value)) == ("run this in a clone" in reason)
        (repository / path).write_text(before)
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    with pytest.raises(ParameterError, match=r"dubious ownership .* git config --global --add safe\.directory"):
        use()
    monkeypatch.setenv("PATH", "")
    with pytest.raises(ParameterError, match="git: No such file or directory; install git"):
        use()


def test_branch_without_commits(project):
    run_git(project, "symbolic-ref", "HEAD", "refs/heads/new")
    for use in (USES["report"], USES["experiments"]):
        with pytest.raises(ParameterError, match="git log: your current branch 'new' does not have any commits yet"):
            use()


def test_project_without_git(project):
    shutil.rmtree(project.parent / ".git")
    assert scores_of("workspace")
    for use in USES.values():
        with pytest.raises(ParameterError, match=f"{project}: git .*: not a git repository .*; {REMEDY}$"):
            use()


def test_git_repository_above_the_project(project, mono, monkeypatch):
    monkeypatch.chdir(mono / "other")
    shutil.rmtree(mono / ".dvc", ignore_errors=True)
    with pytest.raises(ParameterError, match=f"{mono}/other: no folder .dvc here or above it; run this in the folder"):
        branch_report("main")


def test_reason_of_a_failing_command(tmp_path):
    run_git(tmp_path, "init", "--quiet")
    with pytest.raises(ParameterError, match=f"^{tmp_path}: git log: .*bad revision 'nowhere'"):
        git(tmp_path, "log", "nowhere", "--")
