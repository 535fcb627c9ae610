"""A repository with the scores of several runs, and one whose branch changes metrics."""

import shutil
from pathlib import Path

import pytest

from tests.helpers.metrics_project import create_project
from tests.helpers.scored_repository import create_repository


@pytest.fixture(scope="package")
def repository(tmp_path_factory):
    folder = tmp_path_factory.mktemp("repository")
    create_repository(folder)
    return folder


@pytest.fixture
def in_repository(repository, monkeypatch):
    monkeypatch.chdir(repository)


@pytest.fixture(scope="package")
def initial_project(tmp_path_factory):
    """The repository that every test copies, because creating one takes a second."""
    folder = tmp_path_factory.mktemp("initial")
    create_project(folder)
    return folder


@pytest.fixture
def project(initial_project, tmp_path, monkeypatch):
    """The working directory: a repository whose branch `change` starts at `main` and has no changes yet."""
    folder = Path(shutil.copytree(initial_project, tmp_path / "project"))
    monkeypatch.chdir(folder)
    return folder
