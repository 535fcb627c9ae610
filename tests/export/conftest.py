"""Plain averages of word vectors, and texts that are hard to tokenize."""

import pytest

from tests.helpers.small_models import ENCODERS, save_encoder, save_word_vectors

AVERAGES = {
    "avg": lambda folder: save_encoder(folder, "avg", ENCODERS["avg"]),
    "vectors": lambda folder: save_word_vectors(folder, "vectors"),
    "sif": lambda folder: save_word_vectors(folder, "sif", components=0),
}


@pytest.fixture(params=AVERAGES)
def average(request, tmp_path):
    """Return each kind of plain average of word vectors."""
    return AVERAGES[request.param](tmp_path / "model")


@pytest.fixture(scope="session")
def avg(tmp_path_factory):
    return AVERAGES["avg"](tmp_path_factory.mktemp("avg") / "model")
