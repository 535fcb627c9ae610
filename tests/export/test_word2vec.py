"""Word embeddings as word2vec text and binary."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import paraphrastic
from paraphrastic.base.errors import ModelError
from paraphrastic.export import Format, export
from paraphrastic.inference.model import Model, ModelInfo
from paraphrastic.inference.model_folder import write_model
from paraphrastic.scoring.baseline import pretrained_mean
from paraphrastic.vocabulary.pretrained import read_vectors
from tests.helpers.encoder_variants import PROJ
from tests.helpers.small_models import ENCODERS, save_baseline, save_encoder


def save_mean_of(words: list[str], folder: Path) -> Model:
    """Save the mean of unit vectors of `words`; the last direction is that of unknown words."""
    options = {"vectors": "v.txt", "dim": len(words) + 1}
    scorer = pretrained_mean(pa.array(words), np.roll(np.eye(len(words) + 1, dtype=np.float32), 1, axis=0))
    write_model(scorer, ModelInfo("vectors", options), folder)
    return paraphrastic.load(folder)


def test_entries_with_spaces(tmp_path):
    model = save_mean_of(["a", "new york", "b", "at name@domain.com"], tmp_path / "model")
    assert export(model, tmp_path / "v.txt", Format.WORD2VEC).endswith(", and 2 entries with white space")
    assert (tmp_path / "v.txt").read_text() == "3 5\nUUUNKKK 0 0 0 0 1\na 1 0 0 0 0\nb 0 0 1 0 0\n"


def test_text_of_averages(average, tmp_path):
    note = export(average, tmp_path / "v.txt", Format.WORD2VEC)
    assert note == "the file does not keep how the model composes word vectors"
    words, table = read_vectors(tmp_path / "v.txt", 8)
    assert words.equals(average.vocabulary)
    np.testing.assert_array_equal(table, average.scorer.embedding_array())
    assert (tmp_path / "v.txt").read_text().startswith(f"{len(words) + 1} 8\nUUUNKKK ")


@pytest.mark.parametrize(("name", "block"), [("lstmavg", ENCODERS["lstmavg"]), ("proj", PROJ)])
def test_text_of_torch_model(tmp_path, name, block):
    model = save_encoder(tmp_path / "model", name, block)
    export(model, tmp_path / "v.txt", Format.WORD2VEC)
    words, table = read_vectors(tmp_path / "v.txt", 8)
    assert words.equals(model.vocabulary)
    np.testing.assert_array_equal(table, model.scorer.embedding_array())


def test_bytes_of_binary(tmp_path):
    model = save_mean_of(["a", "new york", "日"], tmp_path / "model")
    export(model, tmp_path / "v.bin", Format.WORD2VEC_BINARY)
    rows = np.array([[0, 0, 0, 1], [1, 0, 0, 0], [0, 0, 1, 0]], "<f4")
    words = zip(["UUUNKKK", "a", "日"], rows, strict=True)
    lines = (word.encode() + b" " + row.tobytes() + b"\n" for word, row in words)
    assert (tmp_path / "v.bin").read_bytes() == b"3 4\n" + b"".join(lines)


@pytest.mark.parametrize("to", [Format.WORD2VEC, Format.WORD2VEC_BINARY])
def test_keyed_vectors_of_gensim(average, tmp_path, to):
    models = pytest.importorskip("gensim.models", reason="needs the extra `external`")
    export(average, tmp_path / "v", to)
    binary = to is Format.WORD2VEC_BINARY
    vectors = models.KeyedVectors.load_word2vec_format(tmp_path / "v", binary=binary)
    assert vectors.index_to_key == ["UUUNKKK", *average.vocabulary.to_pylist()]
    np.testing.assert_array_equal(vectors.vectors, average.scorer.embedding_array())


@pytest.mark.parametrize("to", [Format.WORD2VEC, Format.WORD2VEC_BINARY])
def test_model_without_word_embeddings(tmp_path, to):
    charagram = save_encoder(tmp_path / "c", "charagram", ENCODERS["charagram"])
    remedy = "export a model whose vocabulary is words alone, such as avg"
    for model in (charagram, save_baseline(tmp_path / "o", "overlap")):
        with pytest.raises(ModelError, match=f"{model.name} has no word embeddings; {remedy}$"):
            export(model, tmp_path / "v.txt", to)
    assert not (tmp_path / "v.txt").exists()
