"""Scores of revisions, read from a repository of git and DVC."""

import numpy as np
import pyarrow as pa
import pytest
from dvc.repo import Repo

from paraphrastic.analysis.comparison.by_set import compare
from paraphrastic.analysis.comparison.revisions import SCORES_FILE, revisions, scores_of
from paraphrastic.base.errors import DataError, ParameterError
from paraphrastic.base.tables import SCORES, write_table
from tests.helpers.repository import run_git
from tests.helpers.score_tables import score_table

# deprecation of a method of a library that DVC calls
pytestmark = pytest.mark.filterwarnings("ignore:_NoneStep.value:DeprecationWarning")


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    """Return a repository with scores on the branches `one` and `two`, and none on `bare`.

    Those on `broken` are damaged; those on `old` have no row numbers of sentences.
    """
    folder = tmp_path_factory.mktemp("repository")

    def commit(branch: str) -> None:
        run_git(folder, "add", ".")
        run_git(folder, "commit", "--quiet", f"--message={branch}")
        run_git(folder, "branch", branch)

    run_git(folder, "init", "--quiet", "--initial-branch=main")
    with Repo.init(str(folder)) as repo:
        commit("bare")
        (folder / SCORES_FILE).parent.mkdir()
        (folder / SCORES_FILE).write_bytes(b"PAR1")
        repo.add(str(folder / SCORES_FILE))
        commit("broken")
        for number, branch in enumerate(("old", "one", "two"), start=-1):
            scores = score_table("sts.2012.MSRpar", "similarity", np.arange(5.0), np.arange(5.0) + number)
            schema = pa.schema([f for f in SCORES if f.name not in ("left", "right")]) if branch == "old" else SCORES
            write_table(scores, folder / SCORES_FILE, schema)
            repo.add(str(folder / SCORES_FILE))
            commit(branch)
    return folder


@pytest.fixture
def in_repository(repository, monkeypatch):
    monkeypatch.chdir(repository)


@pytest.mark.usefixtures("in_repository")
class TestRepository:
    def test_scores_of_branches_and_of_workspace(self):
        one, two, workspace = (scores_of(name)["sts.2012.MSRpar"] for name in ("one", "two", "workspace"))
        assert one["score"].to_pylist() == [0, 1, 2, 3, 4]
        assert two["score"].to_pylist() == [1, 2, 3, 4, 5]
        assert workspace.equals(two)

    def test_scores_without_row_numbers_of_sentences(self):
        old, workspace = scores_of("old"), scores_of("workspace")
        assert old["sts.2012.MSRpar"]["score"].to_pylist() == [-1, 0, 1, 2, 3]
        assert [row.name for row in compare([old], [workspace], samples=10).rows] == ["sts.2012.MSRpar"]

    def test_scores_in_subfolder(self, repository, monkeypatch):
        monkeypatch.chdir(repository / SCORES_FILE.parent)
        workspace, two = (scores_of(name)["sts.2012.MSRpar"] for name in ("workspace", "two"))
        assert workspace.equals(two)

    def test_names_of_revisions(self):
        assert {"workspace", "main", "bare", "one", "two"} <= set(revisions())

    def test_unknown_revision(self):
        with pytest.raises(ParameterError, match=r"no revision or experiment 'tow': did you mean 'two'\?"):
            scores_of("tow")

    def test_unknown_revision_without_similar_name(self):
        message = r"no revision or experiment 'xyzzy': `dvc exp show` and `git branch` list them"
        with pytest.raises(ParameterError, match=message):
            scores_of("xyzzy")

    def test_revision_without_scores(self):
        with pytest.raises(DataError, match=r"^bare: no data/scores\.parquet in the DVC cache; check it out and run"):
            scores_of("bare")

    def test_damaged_scores_of_revision(self):
        with pytest.raises(DataError, match=r"broken: data/scores\.parquet is damaged; compute it again"):
            scores_of("broken")


def test_folder_outside_of_dvc_repository(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ParameterError, match=r": not a DVC repository with commits; run this in a clone") as caught:
        scores_of("main")
    assert str(caught.value).startswith(str(tmp_path))
    assert "\n" not in str(caught.value)


def test_git_repository_without_commits(monkeypatch, tmp_path):
    run_git(tmp_path, "init", "--quiet")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ParameterError, match="not a DVC repository with commits") as caught:
        scores_of("main")
    assert "\n" not in str(caught.value)


def test_git_repository_without_dvc(monkeypatch, tmp_path):
    run_git(tmp_path, "init", "--quiet", "--initial-branch=main")
    run_git(tmp_path, "commit", "--quiet", "--allow-empty", "--message=empty")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ParameterError, match="not a DVC repository with commits") as caught:
        scores_of("main")
    assert "\n" not in str(caught.value)


def test_workspace_without_scores(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DataError, match=r"scores\.parquet: no such file; run `dvc repro`"):
        scores_of("workspace")


def test_damaged_scores_of_workspace(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    SCORES_FILE.parent.mkdir()
    SCORES_FILE.write_bytes(b"PAR1")
    with pytest.raises(DataError, match="not a readable parquet file"):
        scores_of("workspace")
