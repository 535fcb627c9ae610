"""Initial embeddings: scaled by inverse document frequency, and read from a file of word vectors."""

import numpy as np
import pytest

from tests.helpers.encoder_variants import WORD
from tests.helpers.toy_training import WORDS, prepare


def test_lengths_with_idf():
    model, _, _ = prepare("avg", WORD, init="idf", dim=200)
    lengths = dict(zip(model.texts.to_pylist(), model.embeddings[1:].norm(dim=1).tolist(), strict=True))
    assert not model.embeddings[0].any()
    assert lengths["the"] == pytest.approx(np.log(41 / 40), rel=0.3)
    assert lengths[WORDS[30]] == pytest.approx(np.log(41 / 1), rel=0.3)


def test_embeddings_with_vector_file(tmp_path):
    (tmp_path / "vectors.txt").write_text("again 1 2 3\nnew 4 5 6\n")
    model, _, _ = prepare("avg", WORD, dim=3, vectors=str(tmp_path / "vectors.txt"))
    rows = {text: row for row, text in enumerate(model.texts.to_pylist(), 1)}
    assert model.embeddings[rows["again"]].tolist() == [1, 2, 3]
    assert model.embeddings[rows["new"]].tolist() == [4, 5, 6]
