"""Fixtures of the tests of faults, which `pytest -m faults` runs."""

from pathlib import Path

import pytest

from tests.helpers.commands_that_write import make_inputs
from tests.helpers.tries import Tries


@pytest.fixture
def tries(request: pytest.FixtureRequest, record_property) -> Tries:
    """How much a test tries."""
    return Tries(request.config.getoption("--tries"), record_property)


@pytest.fixture(scope="session")
def inputs(tmp_path_factory) -> Path:
    """Return a folder with what the commands read that write files, and with outputs of earlier ones."""
    return make_inputs(tmp_path_factory.mktemp("commands") / "inputs")
