"""A repository of git and DVC with the scores of several runs."""

from pathlib import Path

from dvc.repo import Repo

from paraphrastic.base.tables import SCORES, read_table, write_table
from tests.helpers.recorded_results import make_repository
from tests.helpers.repository import run_git
from tests.helpers.run_artifacts import write_run

TEXTS = ["a b", "a c", "d", "a b d"]
MSRPAR = [("sts.2012.MSRpar", "test", 0, 1, 3.0), ("sts.2012.MSRpar", "test", 0, 2, 1.0)]
OTHER = [("sts.2013.FNWN", "test", 3, 0, 4.0), ("words.simlex", "test", 0, 1, 1.0)]


def create_repository(folder: Path) -> None:
    """Create a repository with scores of `MSRPAR` on the branch `one`, and of `OTHER` too on `two`, the workspace.

    The sentences of `two` have another order. Scores on the branch `old` have no row numbers of sentences, those on
    `broken` are damaged, and `bare` has none.
    """
    scores = folder / "data/scores.parquet"

    def commit(branch: str, *files: Path) -> None:
        repo.add([str(file) for file in files])
        run_git(folder, "add", ".")
        run_git(folder, "commit", "--quiet", f"--message={branch}")
        run_git(folder, "branch", branch)

    with Repo(str(make_repository(folder))) as repo:
        commit("bare")
        scores.parent.mkdir()
        scores.write_bytes(b"PAR1")
        commit("broken", scores)
        reversed_rows = [(*row[:2], 3 - row[2], 3 - row[3], row[4]) for row in MSRPAR + OTHER]
        for branch, texts, pairs in (
            ("old", TEXTS, MSRPAR),
            ("one", TEXTS, MSRPAR),
            ("two", TEXTS[::-1], reversed_rows),
        ):
            write_run(folder / "data", texts, pairs)
            if branch == "old":
                write_table(read_table(scores, SCORES), scores, SCORES.remove(SCORES.get_field_index("left")))
            commit(branch, scores, folder / "data/benchmarks")
