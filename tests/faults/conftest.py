"""Fixtures of the tests of faults, which `pytest -m faults` runs."""

import pytest

from tests.helpers.tries import Tries


@pytest.fixture
def tries(request: pytest.FixtureRequest, record_property) -> Tries:
    """How much a test tries."""
    return Tries(request.config.getoption("--tries"), record_property)
