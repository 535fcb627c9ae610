"""Pairs that two runs have scored, with their texts."""

import shutil

import pandas as pd
import pytest
from dvc.repo import Repo

from paraphrastic.analysis.comparison.two_runs import SENTENCES_FILE, pairs_of_two_runs
from paraphrastic.base.errors import DataError, ParameterError
from paraphrastic.base.tables import SCORES, SENTENCES, read_table, write_table
from tests.helpers.repository import run_git
from tests.helpers.run_artifacts import write_run

# deprecation of a method of a library that DVC calls
pytestmark = pytest.mark.filterwarnings("ignore:_NoneStep.value:DeprecationWarning")

TEXTS = ["a b", "a c", "d", "a b d"]
MSRPAR = [("sts.2012.MSRpar", "test", 0, 1, 3.0), ("sts.2012.MSRpar", "test", 0, 2, 1.0)]
OTHER = [("sts.2013.FNWN", "test", 3, 0, 4.0), ("words.simlex", "test", 0, 1, 1.0)]


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    """Return a repository with scores of `MSRPAR` on the branch `one`, and of `OTHER` too on `two`, the workspace.

    The sentences of `two` have another order. Branch `old` has scores without row numbers of sentences.
    """
    folder = tmp_path_factory.mktemp("repository")
    run_git(folder, "init", "--quiet", "--initial-branch=main")
    with Repo.init(str(folder)) as repo:
        for branch, texts, pairs in (
            ("old", TEXTS, MSRPAR),
            ("one", TEXTS, MSRPAR),
            ("two", TEXTS[::-1], [(*row[:2], 3 - row[2], 3 - row[3], row[4]) for row in MSRPAR + OTHER]),
        ):
            write_run(folder / "data", texts, pairs)
            if branch == "old":
                path = folder / "data/scores.parquet"
                schema = SCORES.remove(SCORES.get_field_index("left"))
                write_table(read_table(path, SCORES), path, schema)
            repo.add([str(folder / "data/scores.parquet"), str(folder / "data/benchmarks")])
            run_git(folder, "add", ".")
            run_git(folder, "commit", "--quiet", f"--message={branch}")
            run_git(folder, "branch", branch)
    return folder


@pytest.fixture(autouse=True)
def in_repository(repository, monkeypatch):
    monkeypatch.chdir(repository)


@pytest.mark.parametrize("b", ["two", "workspace"])
def test_pairs_of_sets_that_both_runs_have(b):
    pairs, left_out = pairs_of_two_runs("one", b)
    assert left_out == ["sts.2013.FNWN"]
    assert pairs.columns.tolist() == ["set", "text1", "text2", "gold", "score_a", "score_b"]
    expected = [["sts.2012.MSRpar", "a b", "a c", 3.0, 0.5, 0.5], ["sts.2012.MSRpar", "a b", "d", 1.0, 0.0, 0.0]]
    assert pairs.to_numpy().tolist() == expected
    pd.testing.assert_frame_equal(pairs_of_two_runs(b, "one")[0], pairs)


def test_unknown_revision():
    with pytest.raises(ParameterError, match=r"no revision or experiment 'tow': did you mean 'two'\?"):
        pairs_of_two_runs("tow", "one")


def test_scores_without_row_numbers_of_sentences():
    message = r"^old: data/scores\.parquet has no column left; check it out and run `dvc repro`$"
    with pytest.raises(DataError, match=message):
        pairs_of_two_runs("one", "old")


class TestWorkspace:
    @pytest.fixture(autouse=True)
    def in_copy(self, repository, tmp_path, monkeypatch):
        shutil.copytree(repository, tmp_path / "copy", symlinks=True)
        monkeypatch.chdir(tmp_path / "copy")

    @pytest.mark.parametrize("pairs", [MSRPAR[::-1], [*MSRPAR, MSRPAR[0]], [MSRPAR[0], (*MSRPAR[1][:4], 2.0)]])
    def test_other_pairs(self, tmp_path, pairs):
        write_run(tmp_path / "copy/data", TEXTS, pairs)
        message = r"^sts\.2012\.MSRpar: the runs have different pairs; evaluate both with the same data$"
        with pytest.raises(DataError, match=message):
            pairs_of_two_runs("one", "workspace")

    def test_other_texts_of_the_same_row_numbers(self, tmp_path):
        write_run(tmp_path / "copy/data", ["a b", "a c", "e", "f"], MSRPAR)
        with pytest.raises(DataError, match="the runs have different pairs"):
            pairs_of_two_runs("one", "workspace")

    def test_no_set_in_common(self, tmp_path):
        write_run(tmp_path / "copy/data", TEXTS, OTHER)
        message = "^one and workspace have no set of sentences in common: evaluate both with the same `benchmarks`$"
        with pytest.raises(DataError, match=message):
            pairs_of_two_runs("one", "workspace")

    def test_scores_of_other_benchmarks(self, tmp_path):
        write_run(tmp_path / "copy/data", TEXTS, OTHER)
        write_table(read_table(SENTENCES_FILE, SENTENCES).slice(0, 3), SENTENCES_FILE, SENTENCES)
        with pytest.raises(
            DataError, match=r"^workspace: data/scores.parquet has scores of other benchmarks; run `dvc"
        ):
            pairs_of_two_runs("workspace", "one")
