"""Every encoder as an ONNX graph, run by onnxruntime, with the vectors of `Model.encode`."""

import json
import sys
from unittest.mock import ANY

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tokenizers import Tokenizer

import paraphrastic
from paraphrastic.base.errors import ModelError, ParameterError
from paraphrastic.export import Format, export, onnx
from paraphrastic.export.compact import compact
from paraphrastic.inference.model import ModelInfo
from paraphrastic.inference.model_folder import write_model
from paraphrastic.scoring.neural import TrainedEncoder
from paraphrastic.text.tokenizer import tokenize
from tests.helpers.encoder_variants import REPRESENTATIVE, VARIANTS, variant_parameters
from tests.helpers.small_models import ENCODERS, save_encoder, save_word_vectors
from tests.helpers.toy_training import SENTENCES, prepare

TEXTS = [*SENTENCES.to_pylist()[:9], '"Again," he said.', "a", "", "日本 was", "xyzzy"]


@pytest.fixture
def runtime():
    """Return the package onnxruntime, where the package onnx is installed too."""
    pytest.importorskip("onnx", reason="needs the extra `external`")
    return pytest.importorskip("onnxruntime", reason="needs the extra `external`")


OTHER_NODES = (  # variants with nodes that those have not
    *("lstmavg-output_gate=False", "rnn-activation=relu", "dan-num_layers=2", "proj", "gran"),
    *("bilstmavg-output_gate=True-combine=sum", "charagram-words=False-bigrams=None-counts=sqrt"),
    "charcnn-filters={2:7,3:5}-filter_activation=tanh-dense=False",
)


def assert_same_vectors(model, out, runtime):
    note = "the vectors are those of the model to 1e-5; inputs.json says how ids are made"
    assert export(model, out, Format.ONNX) == note
    ragged = model.scorer.vocabulary.lookup(tokenize(pa.array(TEXTS)))
    inputs = {"ids": ragged.ids.astype(np.int64), "offsets": ragged.offsets}
    if ragged.counts is not None:
        inputs["counts"] = ragged.counts.astype(np.float32)
    session = runtime.InferenceSession(out / "model.onnx")
    (vectors,) = session.run(["vectors"], inputs)
    np.testing.assert_allclose(vectors, model.encode(TEXTS), atol=1e-5)
    description = json.loads((out / "inputs.json").read_text())
    assert description == {
        "model": model.name,
        "vocabulary": model.scorer.vocabulary_kind,
        "boundary_tokens": ANY,
        "inputs": {
            "ids": ANY,
            "offsets": "int64 (B + 1,), sentence i has ids[offsets[i]:offsets[i + 1]], B > 0",
            **({"counts": "float32 (N,), occurrences of each entry in its sentence"} if "counts" in inputs else {}),
        },
        "outputs": {"vectors": f"float32 (B, {model.dim}), zero for a sentence of which nothing is known"},
    }
    assert pq.read_table(out / "vocabulary.parquet")["text"].combine_chunks().equals(model.vocabulary)
    if ragged.counts is None:
        encodings = Tokenizer.from_file(str(out / "tokenizer.json")).encode_batch(TEXTS)
        assert [i for encoding in encodings for i in encoding.ids] == ragged.ids.tolist()
        assert [len(encoding) for encoding in encodings] == ragged.lengths.tolist()


@pytest.mark.parametrize(("name", "block"), variant_parameters(*REPRESENTATIVE, *OTHER_NODES))
def test_vectors_of_trained_encoders(tmp_path, name, block, runtime):
    assert_same_vectors(save_encoder(tmp_path / "model", name, block), tmp_path / "out", runtime)


@pytest.mark.parametrize("boundary_tokens", ["start", "both"])
@pytest.mark.parametrize("name", ["avg", "lstmavg"])
def test_vectors_with_boundary_tokens(tmp_path, name, boundary_tokens, runtime):
    model = save_encoder(tmp_path / "model", name, ENCODERS[name], boundary_tokens=boundary_tokens)
    assert_same_vectors(model, tmp_path / "out", runtime)


@pytest.mark.parametrize("components", [0, 2])
def test_vectors_of_sif(tmp_path, components, runtime):
    assert_same_vectors(save_word_vectors(tmp_path / "model", "sif", components), tmp_path / "out", runtime)


def test_vectors_of_compact_model(tmp_path, runtime):
    compact(save_encoder(tmp_path / "model", "charagram", ENCODERS["charagram"]), tmp_path / "small", "int8")
    assert_same_vectors(paraphrastic.load(tmp_path / "small"), tmp_path / "out", runtime)


def test_text_of_which_spaces_alone_are_known(tmp_path, runtime):
    encoder, _, config = prepare("charagram", ENCODERS["charagram"])
    texts = pa.array([" ", *encoder.texts.to_pylist()[1:]])
    encoder = TrainedEncoder(encoder.module, encoder.embeddings, texts)
    write_model(encoder, ModelInfo("charagram", config.model_dump()), tmp_path / "model")
    model = paraphrastic.load(tmp_path / "model")
    assert_same_vectors(model, tmp_path / "out", runtime)
    assert not model.encode("日本 日").any()


def test_all_encoders():
    assert onnx.ENCODERS.keys() | {"avg", "charagram"} == {name for name, _ in VARIANTS}  # both have a static form


def test_model_without_a_graph(tmp_path, monkeypatch):
    model = save_encoder(tmp_path / "model", "lstmavg", ENCODERS["lstmavg"])
    monkeypatch.delitem(onnx.ENCODERS, "lstmavg")
    with pytest.raises(
        ModelError, match=r"lstmavg has no graph; paraphrastic\.export\.onnx\.ENCODERS has bigran, .*; add it"
    ):
        export(model, tmp_path / "out", Format.ONNX)
    assert not (tmp_path / "out").exists()


def test_one_sentence_and_permissions(avg, tmp_path, runtime):
    export(avg, tmp_path / "out", Format.ONNX)
    session = runtime.InferenceSession(tmp_path / "out/model.onnx")
    (vectors,) = session.run(None, {"ids": np.array([1, 2]), "offsets": np.array([0, 2])})
    np.testing.assert_allclose(vectors, avg.scorer.embedding_array()[[1, 2]].mean(axis=0, keepdims=True), atol=1e-6)
    (empty,) = session.run(None, {"ids": np.array([], np.int64), "offsets": np.array([0, 0])})
    assert not empty.any()
    (tmp_path / "other").touch()
    assert {file.name for file in (tmp_path / "out").iterdir()} == {*onnx.FORMATS[Format.ONNX][0], "README.md"}
    assert {file.stat().st_mode for file in (tmp_path / "out").iterdir()} == {(tmp_path / "other").stat().st_mode}


def test_without_the_package_and_embeddings_that_are_too_large(avg, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ParameterError, match=r"needs the package onnx; .* pip install '\.\[external\]'"):
        export(avg, tmp_path / "out", Format.ONNX)
    monkeypatch.setattr(onnx, "_MAX_BYTES", 10)
    with pytest.raises(ModelError, match="the embeddings exceed the 2 GB of an ONNX file"):
        export(avg, tmp_path / "out", Format.ONNX)
    assert not (tmp_path / "out").exists()
