"""Scores of revisions, read from a repository of git and DVC."""

from shutil import copytree

import pytest

from paraphrastic.analysis.comparison.by_set import compare
from paraphrastic.analysis.comparison.revisions import SCORES_FILE, revisions, scores_of
from paraphrastic.base.errors import DataError, ParameterError
from tests.helpers.repository import run_git

# deprecation of a method of a library that DVC calls
pytestmark = pytest.mark.filterwarnings("ignore:_NoneStep.value:DeprecationWarning")

FETCH = "compare NAME, or, with a DVC remote, `dvc fetch --all-branches`"


@pytest.mark.usefixtures("in_repository")
class TestRepository:
    def test_scores_of_branches_and_of_workspace(self):
        one, two, workspace = map(scores_of, ("one", "two", "workspace"))
        assert one["sts.2012.MSRpar"]["score"].to_pylist() == [0.5, 0]
        assert set(two) == {"sts.2012.MSRpar", "sts.2013.FNWN", "words.simlex"}
        assert all(workspace[name].equals(two[name]) for name in two)

    def test_scores_in_a_remote_with_a_relative_address(self, repository, monkeypatch, tmp_path):
        copytree(repository, clone := tmp_path / "clone", symlinks=True)
        (clone / ".dvc/config").write_text("[core]\nremote = store\n['remote \"store\"']\nurl = ../../store\n")
        run_git(clone, "commit", "--quiet", "--all", "--message=A remote")
        (clone / ".dvc/cache").rename(tmp_path / "store")
        monkeypatch.chdir(clone)
        assert "sts.2012.MSRpar" in scores_of("HEAD")

    def test_scores_without_row_numbers_of_sentences(self):
        old, workspace = scores_of("old"), scores_of("workspace")
        assert old["sts.2012.MSRpar"]["score"].to_pylist() == [0.5, 0]
        assert [row.name for row in compare([old], [workspace], samples=10).rows] == ["sts.2012.MSRpar"]

    def test_scores_in_subfolder(self, repository, monkeypatch):
        monkeypatch.chdir(repository / SCORES_FILE.parent)
        workspace, two = (scores_of(name)["sts.2012.MSRpar"] for name in ("workspace", "two"))
        assert workspace.equals(two)

    def test_scores_with_a_damaged_page(self, repository, monkeypatch, tmp_path):
        copytree(repository, clone := tmp_path / "clone", symlinks=True)
        for path in (clone / ".dvc/cache").rglob("*"):
            if path.is_file() and (content := path.read_bytes()).startswith(b"PAR1"):
                path.chmod(0o644)
                path.write_bytes(content[:4] + bytes(byte ^ 0xFF for byte in content[4:200]) + content[200:])
        monkeypatch.chdir(clone)
        with pytest.raises(DataError, match=f"^two: {SCORES_FILE} is damaged; compute it again$"):
            scores_of("two")

    def test_experiment_of_an_earlier_commit(self, repository, monkeypatch, tmp_path):
        copytree(repository, clone := tmp_path / "clone", symlinks=True)
        head = run_git(clone, "rev-parse", "HEAD")
        run_git(clone, "update-ref", f"refs/exps/{head[:2]}/{head[2:]}/gsap-1", head)
        run_git(clone, "commit", "--quiet", "--allow-empty", "--message=later")
        monkeypatch.chdir(clone)
        assert "gsap-1" in revisions()

    def test_names_of_revisions(self, repository):
        run_git(repository, "tag", "v1")
        assert {"workspace", "main", "bare", "one", "two", "v1"} <= set(revisions())
        assert not any(name.startswith("refs/") for name in revisions())

    @pytest.mark.parametrize(
        ("name", "hint"), [("tow", "did you mean 'two'.$"), ("xyzzy", "`dvc exp show` and `git branch` list them$")]
    )
    def test_unknown_revision(self, name, hint):
        with pytest.raises(ParameterError, match=rf"no revision or experiment '{name}': {hint}"):
            scores_of(name)

    @pytest.mark.parametrize(
        ("branch", "message"),
        [
            (
                "bare",
                f"no {SCORES_FILE} in the DVC cache; check it out, run `dvc exp run --temp --name NAME`, and {FETCH}",
            ),
            ("broken", f"{SCORES_FILE} is damaged; compute it again"),
        ],
    )
    def test_missing_or_damaged_scores(self, branch, message):
        with pytest.raises(DataError, match=f"^{branch}: {message}$"):
            scores_of(branch)


_INIT, _COMMIT = ["init", "--initial-branch=main"], ["commit", "--allow-empty", "--message=empty"]


@pytest.mark.parametrize(
    ("commands", "reason"),
    [
        ([], "git rev-parse: not a git repository (or any"),
        ([_INIT], "git log: your current branch 'main' does not have any commits yet"),
        ([_INIT, _COMMIT], "no folder .dvc here or above it; run this in the folder of the project"),
    ],
)
def test_folder_without_dvc(monkeypatch, tmp_path, commands, reason):
    monkeypatch.chdir(tmp_path)
    for command in commands:
        run_git(tmp_path, *command, "--quiet")
    with pytest.raises(ParameterError) as caught:
        scores_of("main")
    assert str(caught.value).startswith(f"{tmp_path}: {reason}")


@pytest.mark.parametrize(("content", "message"), [(None, "no such file; run"), (b"PAR1", "not a readable parquet")])
def test_missing_or_damaged_scores_of_workspace(monkeypatch, tmp_path, content, message):
    monkeypatch.chdir(tmp_path)
    if content is not None:
        SCORES_FILE.parent.mkdir()
        SCORES_FILE.write_bytes(content)
    with pytest.raises(DataError, match=rf"scores\.parquet: {message}"):
        scores_of("workspace")
