"""Exported models, read by the programs that they are exported for."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from safetensors.numpy import load_file
from tokenizers import Tokenizer

import paraphrastic
from paraphrastic.errors import ModelError
from paraphrastic.inference import model_folder
from paraphrastic.inference.export import to_sentence_transformers, to_word2vec, tokenizer_json
from paraphrastic.inference.model import Model
from paraphrastic.models import config_class
from paraphrastic.scoring.pretrained_mean import pretrained_mean
from paraphrastic.text.tokenizer import tokenize
from paraphrastic.vocabulary.pretrained import read_vectors
from tests.helpers.encoder_variants import PROJ
from tests.helpers.small_models import ENCODERS, save_baseline, save_encoder, save_word_vectors
from tests.helpers.toy_training import SENTENCES

RAW = ["The abc isn't here -- it's 3,000 AT&T fans!", "Twenty-one `` quoted '' words , unknown ...", "again"]
TEXTS = [*SENTENCES.to_pylist(), "again unknown words", "xyzzy"]
AVERAGES = {
    "avg": lambda folder: save_encoder(folder, "avg", ENCODERS["avg"]),
    "vectors": lambda folder: save_word_vectors(folder, "vectors"),
    "sif": lambda folder: save_word_vectors(folder, "sif", components=0),
}

TORCH_MODELS = {
    "lstmavg": lambda folder: save_encoder(folder, "lstmavg", ENCODERS["lstmavg"]),
    "proj": lambda folder: save_encoder(folder, "proj", PROJ, out_dim=5),
}


@pytest.fixture(params=AVERAGES)
def average(request, tmp_path):
    """Return each kind of plain average of word vectors."""
    return AVERAGES[request.param](tmp_path / "model")


def test_vectors_of_sentence_transformers(average, tmp_path):
    package = pytest.importorskip("sentence_transformers", reason="needs the extra `external`")
    to_sentence_transformers(average, tmp_path / "out")
    vectors = package.SentenceTransformer(str(tmp_path / "out"), device="cpu").encode(TEXTS)
    np.testing.assert_allclose(vectors, average.scorer.encode(pa.array(TEXTS)), atol=1e-5)


def test_means_of_exported_rows(average, tmp_path):
    # this is what sentence-transformers computes from the folder
    to_sentence_transformers(average, tmp_path / "out")
    rows = load_file(tmp_path / "out/model.safetensors")["embedding.weight"]
    encodings = Tokenizer.from_file(str(tmp_path / "out/tokenizer.json")).encode_batch(TEXTS)
    vectors = [rows[encoding.ids].mean(axis=0) for encoding in encodings]
    np.testing.assert_allclose(vectors, average.scorer.encode(pa.array(TEXTS)), atol=1e-5)


def test_files_of_sentence_transformers(avg, tmp_path):
    lost = to_sentence_transformers(avg, tmp_path / "out")
    assert "abbreviations" in lost
    (module,) = json.loads((tmp_path / "out/modules.json").read_text())
    assert module["type"] == "sentence_transformers.models.StaticEmbedding"
    config = json.loads((tmp_path / "out/config_sentence_transformers.json").read_text())
    assert config["similarity_fn_name"] == "cosine"


def test_folder_after_failed_export(avg, tmp_path, monkeypatch):
    def fail(*arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("paraphrastic.inference.export.write_arrays", fail)
    with pytest.raises(OSError, match="No space"):
        to_sentence_transformers(avg, tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_tokens_of_exported_tokenizer():
    expected = tokenize(pa.array(RAW)).to_pylist()
    words = sorted({word for text in expected for word in text.split()})
    vocabulary = {"[UNK]": 0} | {word: row for row, word in enumerate(words, 1)}
    tokenizer = Tokenizer.from_str(json.dumps(tokenizer_json(vocabulary, "[UNK]")))
    assert [" ".join(encoding.tokens) for encoding in tokenizer.encode_batch(RAW)] == expected


def save_mean_of(words: list[str], folder: Path) -> Model:
    """Save the mean of unit vectors of `words`; the last direction is that of unknown words."""
    config = config_class("vectors")(vectors=None, dim=len(words) + 1)
    scorer = pretrained_mean(pa.array(words), np.roll(np.eye(len(words) + 1, dtype=np.float32), 1, axis=0))
    model_folder.save(scorer, "vectors", config, folder)
    return paraphrastic.load(folder)


def test_vocabulary_with_unknown_token(tmp_path):
    to_sentence_transformers(save_mean_of(["[UNK]", "a"], tmp_path / "model"), tmp_path / "out")
    tokenizer = Tokenizer.from_file(str(tmp_path / "out/tokenizer.json"))
    assert tokenizer.get_vocab() == {"[[UNK]]": 0, "[UNK]": 1, "a": 2}
    assert tokenizer.encode("xyzzy a").ids == [0, 2]


def test_permissions_of_exported_files(avg, tmp_path):
    to_sentence_transformers(avg, tmp_path / "out")
    (tmp_path / "other").touch()
    expected = (tmp_path / "other").stat().st_mode
    assert {file.stat().st_mode for file in (tmp_path / "out").iterdir()} == {expected}


@pytest.mark.parametrize("token", ["u.s.", "mr.", "c++", ":)", "@user", "***"])
def test_tokens_that_exported_tokenizer_splits(avg, tmp_path, token):
    assert tokenize(pa.array([token])).to_pylist() == [token]
    tokenizer = Tokenizer.from_str(json.dumps(tokenizer_json({"[UNK]": 0, token: 1}, "[UNK]")))
    assert tokenizer.encode(token).ids == [0] * len(tokenizer.encode(token)) != [0]
    assert "several tokens, in tokenized text too" in to_sentence_transformers(avg, tmp_path / "out")


def test_word2vec_text_of_entries_with_spaces(tmp_path):
    model = save_mean_of(["a", "new york", "b", "at name@domain.com"], tmp_path / "model")
    assert to_word2vec(model, tmp_path / "v.txt").endswith("; 2 entries with white space")
    assert (tmp_path / "v.txt").read_text() == "3 5\nUUUNKKK 0 0 0 0 1\na 1 0 0 0 0\nb 0 0 1 0 0\n"


def test_word2vec_text_of_averages(average, tmp_path):
    lost = to_word2vec(average, tmp_path / "v.txt")
    assert lost == "how the model composes word vectors"
    words, table = read_vectors(tmp_path / "v.txt", 8)
    assert words.equals(average.vocabulary)
    np.testing.assert_array_equal(table, average.scorer.embedding_array())
    assert (tmp_path / "v.txt").read_text().startswith(f"{len(words) + 1} 8\nUUUNKKK ")


@pytest.mark.parametrize("name", ["lstmavg", "proj"])
def test_word2vec_text_of_torch_model(tmp_path, name):
    model = TORCH_MODELS[name](tmp_path / "model")
    to_word2vec(model, tmp_path / "v.txt")
    words, table = read_vectors(tmp_path / "v.txt", 8)
    assert words.equals(model.vocabulary)
    np.testing.assert_array_equal(table, model.scorer.embedding_array())


NO_AVERAGES = TORCH_MODELS | {
    "charagram": lambda folder: save_encoder(folder, "charagram", ENCODERS["charagram"]),
    "avg": lambda folder: save_encoder(folder, "avg", ENCODERS["avg"], boundary_tokens="both"),
    "sif": lambda folder: save_word_vectors(folder, "sif", components=1),
    "overlap": lambda folder: save_baseline(folder, "overlap"),
}


@pytest.mark.parametrize("name", NO_AVERAGES)
def test_sentence_transformers_of_no_average(tmp_path, name):
    message = f"{name} with these options is not a plain average of word vectors"
    with pytest.raises(ModelError, match=message):
        to_sentence_transformers(NO_AVERAGES[name](tmp_path / "model"), tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", ["charagram", "overlap"])
def test_word2vec_text_of_model_without_word_embeddings(tmp_path, name):
    with pytest.raises(ModelError, match=f"{name} has no word embeddings; export a model that reads words"):
        to_word2vec(NO_AVERAGES[name](tmp_path / "model"), tmp_path / "v.txt")
    assert not (tmp_path / "v.txt").exists()


def test_export_to_folder_with_files(avg, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out/file").touch()
    with pytest.raises(ModelError, match="out: is not empty; name a new folder"):
        to_sentence_transformers(avg, tmp_path / "out")
    assert [file.name for file in (tmp_path / "out").iterdir()] == ["file"]
