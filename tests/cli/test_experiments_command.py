"""The command `experiments`."""

import pytest
from typer.testing import CliRunner

from paraphrastic.cli.main import app
from tests.helpers.command_line import assert_refused
from tests.helpers.recorded_results import PARAMS, add_experiment, changed, commit, make_repository, write_results


@pytest.fixture
def experiments(tmp_path, monkeypatch):
    """Return a function that runs the command in a folder of a repository with one experiment."""
    folder = make_repository(tmp_path / "clone")
    (folder / "experiments").mkdir()
    (folder / "dvc.yaml").touch()
    write_results(folder)
    commit(folder)
    add_experiment(folder, "small", changed(PARAMS, "models.avg.dim", 50), score=60.0)
    monkeypatch.chdir(folder / "metrics")
    return lambda *arguments: CliRunner().invoke(app, ["experiments", *arguments])


def test_rows(experiments):
    lines = experiments().stdout.splitlines()
    assert lines == [
        "small\tavg\tsample\tdim=50\t60.00",
        "workspace\tavg\tsample\t\t50.00",
        "HEAD\tavg\tsample\t\t50.00",
    ]


def test_markdown(experiments):
    lines = experiments("--md", "--by", "words.simlex").stdout.splitlines()
    assert lines[0] == "| experiment | model | corpus | changed | words.simlex | STS |"
    assert lines[1] == "| --- | --- | --- | --- | ---: | ---: |"
    assert "| small | avg | sample | dim=50 | 2.50 | 60.00 |" in lines


def test_folder_that_is_no_clone(experiments, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert_refused(experiments(), f"{tmp_path}: no folder `experiments` here; run this in a clone of the repository")
