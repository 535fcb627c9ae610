"""A repository with parameters and metrics for each test."""

import shutil
from pathlib import Path

import pytest

from tests.helpers.metrics_project import create_project


@pytest.fixture(scope="session")
def initial_project(tmp_path_factory):
    """The repository that every test copies, because creating one takes a second."""
    folder = tmp_path_factory.mktemp("initial")
    create_project(folder)
    return folder


@pytest.fixture
def project(initial_project, tmp_path):
    """A repository whose branch `change` starts at `main` and has no changes yet."""
    return Path(shutil.copytree(initial_project, tmp_path / "project"))
