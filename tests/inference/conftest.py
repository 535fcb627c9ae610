"""Saved and loaded models with random weights."""

import pytest

from tests.helpers.small_models import ENCODERS, save_baseline, save_encoder


@pytest.fixture(scope="module", params=ENCODERS)
def model(request, tmp_path_factory):
    return save_encoder(tmp_path_factory.mktemp(request.param), request.param, ENCODERS[request.param])


@pytest.fixture(scope="module")
def avg(tmp_path_factory):
    return save_encoder(tmp_path_factory.mktemp("avg"), "avg", ENCODERS["avg"])


@pytest.fixture(scope="module")
def charagram(tmp_path_factory):
    return save_encoder(tmp_path_factory.mktemp("charagram"), "charagram", ENCODERS["charagram"])


@pytest.fixture
def overlap(tmp_path):
    """Return word overlap, which has no sentence vectors."""
    return save_baseline(tmp_path, "overlap")
