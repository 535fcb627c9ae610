"""Initial embeddings: scaled by inverse document frequency, and read from a file of word vectors."""

import numpy as np
import pyarrow as pa
import pytest

from paraphrastic.inference import model_folder
from tests.helpers.encoder_variants import CHARAGRAM, WORD
from tests.helpers.toy_training import SENTENCES, WORDS, prepare


def test_lengths_with_idf():
    model, _, _ = prepare("avg", WORD, init="idf", dim=200)
    lengths = dict(zip(model.texts.to_pylist(), model.embeddings[1:].norm(dim=1).tolist(), strict=True))
    assert not model.embeddings[0].any()
    assert lengths["the"] == pytest.approx(np.log(41 / 40), rel=0.3)
    assert lengths[WORDS[30]] == pytest.approx(np.log(41 / 1), rel=0.3)


@pytest.mark.parametrize("init", ["random", "idf"])
def test_pairs_of_words_start_at_zero(init):
    model, _, _ = prepare("charagram", CHARAGRAM, words=True, bigrams=2, init=init)
    lengths = dict(zip(model.texts.to_pylist(), model.embeddings.norm(dim=1).tolist(), strict=True))
    pairs = {text for text in lengths if len(text.split()) == 2 and text[0] == text[-1] == " "}
    assert " was the " in pairs
    assert {text for text, length in lengths.items() if length == 0} == pairs


@pytest.mark.parametrize("init", ["random", "idf"])
@pytest.mark.parametrize("boundary_tokens", ["none", "both"])
@pytest.mark.parametrize(("unknown", "line"), [([0, 0, 0], ""), ([7, 8, 9], "UUUNKKK 7 8 9\n")])
def test_embeddings_with_vector_file(tmp_path, init, boundary_tokens, unknown, line):
    (tmp_path / "vectors.txt").write_text(f"again 1 2 3\n{line}new 4 5 6\n")
    options = {"dim": 3, "init": init, "boundary_tokens": boundary_tokens}
    model, _, _ = prepare("avg", WORD, vectors=str(tmp_path / "vectors.txt"), **options)
    rows = {text: row for row, text in enumerate(model.texts.to_pylist(), 1)}
    assert model.embeddings[0].tolist() == unknown
    assert [model.embeddings[rows[text]].tolist() for text in ("again", "new")] == [[1, 2, 3], [4, 5, 6]]
    assert "UUUNKKK" not in rows
    assert len(model.embeddings) == len(rows) + 1


def test_vector_of_unknown_words_with_torch_and_without(tmp_path):
    (tmp_path / "vectors.txt").write_text("again 1 2 3\nUUUNKKK 7 8 9\n")
    model, _, config = prepare("avg", WORD, dim=3, vectors=str(tmp_path / "vectors.txt"))
    model_folder.write_model(model, model_folder.ModelInfo("avg", config.model_dump()), tmp_path / "model")
    texts = pa.array(["again other", "other", *SENTENCES.to_pylist()])
    vectors = model_folder.load_scorer(tmp_path / "model").encode(texts)
    np.testing.assert_allclose(vectors, model.encode(texts), atol=1e-6)
    np.testing.assert_allclose(vectors[:2], [[4, 5, 6], [7, 8, 9]])
