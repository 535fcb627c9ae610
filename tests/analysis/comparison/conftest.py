"""A repository with the scores of several runs."""

import pytest

from tests.helpers.scored_repository import create_repository


@pytest.fixture(scope="package")
def repository(tmp_path_factory):
    folder = tmp_path_factory.mktemp("repository")
    create_repository(folder)
    return folder


@pytest.fixture
def in_repository(repository, monkeypatch):
    monkeypatch.chdir(repository)
