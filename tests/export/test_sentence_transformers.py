"""Every encoder in sentence-transformers, with the vectors of `Model.encode`."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import paraphrastic
from paraphrastic.base.errors import ModelError
from paraphrastic.export import Format, export
from paraphrastic.inference.model import ModelInfo
from paraphrastic.inference.model_folder import write_model
from paraphrastic.scoring.external_encoder import ExternalEncoder
from tests.helpers.encoder_variants import REPRESENTATIVE, variant_parameters
from tests.helpers.small_models import save_encoder, save_model, save_word_vectors
from tests.helpers.toy_training import SENTENCES

TEXTS = [*SENTENCES.to_pylist()[:9], '"Again," he said.', "xyzzy", ""]


def assert_same_vectors(model, out):
    """Compare a model with its export, loaded with and without the flag for classes of other packages."""
    export(model, out, Format.SENTENCE_TRANSFORMERS)
    np.testing.assert_array_equal(paraphrastic.load(out).encode(TEXTS), model.encode(TEXTS))
    package = pytest.importorskip("sentence_transformers", reason="needs the extra `external`")
    from paraphrastic.export.sentence_transformers import load

    for loaded in (load(out), package.SentenceTransformer(str(out), trust_remote_code=True, device="cpu")):
        vectors = loaded.encode(TEXTS, batch_size=4)
        np.testing.assert_allclose(vectors, model.encode(TEXTS), atol=1e-6)
        assert loaded.get_embedding_dimension() == model.dim


@pytest.mark.parametrize(("name", "block"), variant_parameters(*REPRESENTATIVE))
def test_vectors_of_trained_encoders(tmp_path, name, block):
    assert_same_vectors(save_encoder(tmp_path / "model", name, block), tmp_path / "out")


@pytest.mark.parametrize(("name", "components"), [("vectors", 0), ("sif", 1)])
def test_vectors_of_untrained_encoders(tmp_path, name, components):
    assert_same_vectors(save_word_vectors(tmp_path / "model", name, components), tmp_path / "out")


def test_use_in_sentence_transformers(avg, tmp_path):
    evaluation = pytest.importorskip("sentence_transformers.sentence_transformer.evaluation")
    from sentence_transformers import SentenceTransformer

    from paraphrastic.export.sentence_transformers import load

    loaded = load(avg.folder, prompts={"query": "again "})
    np.testing.assert_allclose(loaded.encode("was", prompt_name="query"), avg.encode("again was"), atol=1e-6)
    evaluator = evaluation.EmbeddingSimilarityEvaluator(TEXTS[:4], TEXTS[4:8], [0.1, 0.5, 0.3, 0.9])
    assert evaluator(loaded)["spearman_cosine"] == pytest.approx(evaluator(avg)["spearman_cosine"])
    loaded.save(str(tmp_path / "again"))
    again = SentenceTransformer(str(tmp_path / "again"), trust_remote_code=True)
    np.testing.assert_allclose(again.encode(TEXTS), avg.encode(TEXTS), atol=1e-6)


def test_files(avg, tmp_path):
    export(avg, tmp_path / "out", Format.SENTENCE_TRANSFORMERS)
    (module,) = json.loads((tmp_path / "out/modules.json").read_text())
    assert module["type"] == "paraphrastic.export.sentence_transformers.EncoderModule"
    assert module["path"] == "0_EncoderModule"
    copy = paraphrastic.load(tmp_path / "out/0_EncoderModule")
    np.testing.assert_array_equal(copy.encode(TEXTS), avg.encode(TEXTS))


@pytest.mark.parametrize("to", [Format.SENTENCE_TRANSFORMERS, Format.ONNX])
@pytest.mark.parametrize("name", ["ldc", "overlap", "tfidf-words"])
def test_model_without_sentence_vectors(tmp_path, name, to):
    model = save_model(tmp_path / "model", name)
    with pytest.raises(ModelError, match=f"{name} compares pairs and has no sentence vectors; export an encoder"):
        export(model, tmp_path / "out", to)
    assert not (tmp_path / "out").exists()


def test_encoder_of_another_package(tmp_path):
    options = {"path": "elsewhere", "batch_size": 8}
    write_model(ExternalEncoder(Path("elsewhere"), 8), ModelInfo("external", options), tmp_path / "model")
    for to in (Format.SENTENCE_TRANSFORMERS, Format.ONNX):
        with pytest.raises(ModelError, match="is an encoder of another package; copy the folder `path` of it"):
            export(paraphrastic.load(tmp_path / "model"), tmp_path / "out", to)


def test_without_the_package():
    code = """
import sys
sys.modules["sentence_transformers"] = None
import paraphrastic.export.sentence_transformers as module
for use in (lambda: module.EncoderModule, lambda: module.load("data/model")):
    try:
        use()
    except Exception as error:
        print(type(error).__name__, error)
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    first, second = result.stdout.splitlines()
    assert first == second
    assert first.startswith("ParameterError this needs sentence_transformers; ")
    assert "pip install '.[external]' in its folder" in first
