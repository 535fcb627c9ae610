"""Scores of commits, read from a real repository of git and DVC."""

import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest

from paraphrastic.comparison.revisions import SCORES_FILE, scores_of
from paraphrastic.errors import DataError, ParameterError
from paraphrastic.tables import SCORES, write_table
from tests.test_comparison import table

DVC = [sys.executable, "-m", "dvc"]
GIT = ["git", "-c", "user.name=test", "-c", "user.email=test@test"]


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    """Branches `one` and `two` with scores, and `bare` without."""
    folder = tmp_path_factory.mktemp("repository")

    def run(*command):
        subprocess.run(command, cwd=folder, check=True, capture_output=True)

    run(*GIT, "init", "--quiet")
    run(*DVC, "init", "--quiet")
    run(*GIT, "add", ".")
    run(*GIT, "commit", "--quiet", "-m", "bare")
    run(*GIT, "branch", "bare")
    for number, branch in enumerate(("one", "two")):
        scores = table("sts.2012.MSRpar", "similarity", np.arange(5.0), np.arange(5.0) + number)
        write_table(scores, folder / SCORES_FILE, SCORES)
        run(*DVC, "add", "--quiet", str(SCORES_FILE))
        run(*GIT, "add", ".")
        run(*GIT, "commit", "--quiet", "-m", branch)
        run(*GIT, "branch", branch)
    return folder


def test_scores_of_a_branch_and_of_the_workspace(repository, monkeypatch):
    monkeypatch.chdir(repository)
    one, two, here = (scores_of(name)["sts.2012.MSRpar"] for name in ("one", "two", "workspace"))
    assert one["score"].to_pylist() == [0, 1, 2, 3, 4]
    assert two["score"].to_pylist() == [1, 2, 3, 4, 5]
    assert here.equals(two)


def test_an_unknown_name_offers_the_nearest(repository, monkeypatch):
    monkeypatch.chdir(repository)
    with pytest.raises(ParameterError, match=r"no revision or experiment 'tow': did you mean 'two'\?"):
        scores_of("tow")


def test_a_revision_without_scores_says_so(repository, monkeypatch):
    monkeypatch.chdir(repository)
    with pytest.raises(DataError, match=r"bare: no data/scores\.parquet in the DVC cache"):
        scores_of("bare")


def test_damaged_scores_are_named(repository, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    write_table(pa.table({name: [] for name in SCORES.names}), SCORES_FILE, SCORES)
    SCORES_FILE.write_bytes(b"PAR1")
    with pytest.raises(DataError, match="not a readable parquet file"):
        scores_of("workspace")
