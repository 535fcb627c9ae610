"""Averages of word vectors, read by the programs that they are exported for."""

import json

import numpy as np
import pyarrow as pa
import pytest
from safetensors.numpy import load_file
from tokenizers import Tokenizer

import paraphrastic
from paraphrastic.base.errors import ModelError
from paraphrastic.export import Format, export
from paraphrastic.export.compact import compact
from paraphrastic.export.tokenizer_json import word_level
from tests.helpers.encoder_variants import PROJ, WORD
from tests.helpers.small_models import ENCODERS, save_encoder, save_model, save_word_vectors
from tests.helpers.toy_training import SENTENCES, WORDS

TEXTS = [*SENTENCES.to_pylist(), f'"Again," said Mr. {WORDS[0].title()}: unknown {WORDS[1]}\'s', "xyzzy", ""]


def expected(model):
    """Return the means of word vectors, with that of unknown words where `encode` has zero."""
    known = model.unknown(TEXTS) < 1
    vectors = model.encode(TEXTS)
    vectors[~known] = model.scorer.embedding_array()[0]
    vectors[TEXTS.index("")] = 0
    return vectors


def test_vectors_of_static_embedding(average, tmp_path):
    package = pytest.importorskip("sentence_transformers", reason="needs the extra `external`")
    export(average, tmp_path / "out", Format.STATIC_EMBEDDING)
    vectors = package.SentenceTransformer(str(tmp_path / "out"), device="cpu").encode(TEXTS)
    np.testing.assert_allclose(vectors, expected(average), atol=1e-6)


def test_means_of_rows_of_static_embedding(average, tmp_path):
    # this is what sentence-transformers computes from the folder
    assert "the vector of unknown words, not zero" in export(average, tmp_path / "out", Format.STATIC_EMBEDDING)
    (module,) = json.loads((tmp_path / "out/modules.json").read_text())
    assert module["type"] == "sentence_transformers.models.StaticEmbedding"
    config = json.loads((tmp_path / "out/config_sentence_transformers.json").read_text())
    assert config["similarity_fn_name"] == "cosine"
    rows = load_file(tmp_path / "out/model.safetensors")["embedding.weight"]
    encodings = Tokenizer.from_file(str(tmp_path / "out/tokenizer.json")).encode_batch(TEXTS)
    vectors = [rows[encoding.ids].sum(axis=0) / max(1, len(encoding)) for encoding in encodings]
    np.testing.assert_allclose(vectors, expected(average), atol=1e-6)


def test_vectors_of_model2vec(average, tmp_path):
    package = pytest.importorskip("model2vec", reason="needs the extra `external`")
    export(average, tmp_path / "out", Format.MODEL2VEC)
    static = package.StaticModel.from_pretrained(tmp_path / "out")
    np.testing.assert_allclose(static.encode(TEXTS), expected(average), atol=1e-6)
    long = " ".join(WORDS[:20] * 100)
    np.testing.assert_allclose(static.encode(long), average.encode(long), atol=1e-6)


def test_means_of_rows_of_model2vec(average, tmp_path):
    # this is what model2vec computes from the folder: tokens without the one that stands for unknown ones
    assert "the vector of unknown words, not zero" in export(average, tmp_path / "out", Format.MODEL2VEC)
    rows = load_file(tmp_path / "out/model.safetensors")["embeddings"]
    tokenizer = Tokenizer.from_file(str(tmp_path / "out/tokenizer.json"))
    assert len(rows) == tokenizer.get_vocab_size()
    left_out = tokenizer.token_to_id(tokenizer.model.unk_token)
    ids = [[i for i in encoding.ids if i != left_out] for encoding in tokenizer.encode_batch(TEXTS)]
    vectors = [rows[each].sum(axis=0) / max(1, len(each)) for each in ids]
    np.testing.assert_allclose(vectors, expected(average), atol=1e-6)


def test_rows_of_compact_model(avg, tmp_path):
    compact(avg, tmp_path / "small", "int8")
    small = paraphrastic.load(tmp_path / "small")
    export(small, tmp_path / "out", Format.MODEL2VEC)
    rows = load_file(tmp_path / "out/model.safetensors")["embeddings"]
    assert rows.dtype == np.float32
    np.testing.assert_array_equal(rows[2:], small.embeddings())
    assert np.abs(rows[2:] - avg.embeddings()).max() > 0


WITH_LAYERS = {
    "proj": lambda folder: save_encoder(folder, "proj", PROJ, out_dim=5),
    "dan": lambda folder: save_encoder(folder, "dan", WORD | {"num_layers": 2, "activation": "tanh"}),
    "dan-relu": lambda folder: save_encoder(folder, "dan", WORD | {"num_layers": 1, "activation": "relu"}),
    "avg": lambda folder: save_encoder(folder, "avg", ENCODERS["avg"], boundary_tokens="both"),
    "sif": lambda folder: save_word_vectors(folder, "sif", components=2),
}
NO_MEANS = {name: lambda folder, name=name: save_model(folder, name) for name in ("lstmavg", "charagram", "overlap")}


@pytest.mark.parametrize("name", WITH_LAYERS)
def test_layers_of_static_embedding(tmp_path, name):
    model = WITH_LAYERS[name](tmp_path / "model")
    export(model, tmp_path / "out", Format.STATIC_EMBEDDING)
    package = pytest.importorskip("sentence_transformers", reason="needs the extra `external`")
    known = [text for text in TEXTS if text and model.unknown(text) < 1]
    vectors = package.SentenceTransformer(str(tmp_path / "out"), device="cpu").encode(known)
    np.testing.assert_allclose(vectors, model.encode(known), atol=1e-6)


@pytest.mark.parametrize("name", NO_MEANS | WITH_LAYERS)
def test_other_model(tmp_path, name):
    model = (NO_MEANS | WITH_LAYERS)[name](tmp_path / "model")
    pairs = "overlap compares pairs and has no sentence vectors; export an encoder$" if name == "overlap" else None
    with pytest.raises(
        ModelError, match=pairs or "with these options is not a plain average of word vectors; use --to"
    ):
        export(model, tmp_path / "out", Format.MODEL2VEC)
    if name in NO_MEANS:
        reason = "has other parts than a mean of word vectors and dense layers; "
        with pytest.raises(ModelError, match=pairs or f"{name} with these options {reason}"):
            export(model, tmp_path / "out", Format.STATIC_EMBEDDING)
    assert not (tmp_path / "out").exists()


def test_vocabulary_with_the_name_of_unknown_words(tmp_path):
    assert word_level(pa.array(["[UNK]", "a"])) == {
        "type": "WordLevel",
        "vocab": {"[[UNK]]": 0, "[UNK]": 1, "a": 2},
        "unk_token": "[[UNK]]",
    }
