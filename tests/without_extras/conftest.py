"""Model folders that are written without torch."""

import numpy as np
import pyarrow as pa
import pytest

from paraphrastic.inference import model_folder
from paraphrastic.nn.static_form import StaticForm
from paraphrastic.scoring.bags import OverlapScorer, TfidfScorer
from paraphrastic.scoring.static import StaticEncoder

DIM = 4
WORDS = pa.array(["a", "dog", "cat", "runs", "."])
NGRAMS = pa.array([" d", "do", "og", " dog ", " cat "])


def embeddings(rows):
    return np.random.default_rng(rows).normal(size=(rows, DIM)).astype(np.float32)


MEAN, SUM = StaticForm("words", "mean"), StaticForm("words+ngrams", "sum", counts="sqrt", activation="tanh")
TABLE = {"embeddings": embeddings(6)}
LAYERS = {"bias": embeddings(1)[0], "dense.W": embeddings(DIM), "dense.b": embeddings(2)[1]}
SCORERS = {
    "avg": StaticEncoder(MEAN, WORDS, TABLE),
    "sif": StaticEncoder(MEAN, WORDS, TABLE | {"directions": np.eye(1, DIM, dtype="f4")}),
    "charagram": StaticEncoder(SUM, NGRAMS, {"embeddings": embeddings(5)} | LAYERS),
    "tfidf-words": TfidfScorer("words", WORDS, np.arange(1.0, 6)),
    "tfidf-chars": TfidfScorer("ngrams", pa.array(["dog", "og ", "cat"]), np.arange(1.0, 4)),
    "overlap": OverlapScorer(),
}
ENCODERS = ["avg", "sif", "charagram"]


@pytest.fixture
def folder(tmp_path):
    """A function that writes a model and returns its folder."""

    def write(name):
        model_folder.write_model(SCORERS[name], model_folder.ModelInfo(name, {"dim": DIM}), tmp_path / name)
        return tmp_path / name

    return write
