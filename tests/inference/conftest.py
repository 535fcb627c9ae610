"""Saved and loaded models with random weights."""

import pytest

from tests.helpers.encoder_variants import PROJ
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


@pytest.fixture(scope="module")
def proj(tmp_path_factory):
    """Return a projection of embeddings of size 8 to vectors of size 5."""
    return save_encoder(tmp_path_factory.mktemp("proj"), "proj", PROJ, out_dim=5)


@pytest.fixture
def overlap(tmp_path):
    """Return word overlap, which has no sentence vectors."""
    return save_baseline(tmp_path, "overlap")
