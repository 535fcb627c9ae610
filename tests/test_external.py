"""Encoders of other packages as scorers."""

import json
import sys
from types import ModuleType

import numpy as np
import pyarrow as pa
import pytest

from paraphrastic import models
from paraphrastic.errors import ModelError, ParameterError
from paraphrastic.models import external

TEXTS = pa.array(["a", "b b", ""])


class Lengths:
    """Stands for an encoder of either package: a text's vector is its number of words, and 1."""

    def __init__(self, path=None):
        self.path = path

    @classmethod
    def from_pretrained(cls, path):
        return cls(path)

    def encode(self, texts, batch_size, show_progress_bar):
        return np.array([[len(text.split()), 1] for text in texts])


@pytest.fixture(params=["sentence_transformers", "model2vec"])
def folder(request, tmp_path, monkeypatch):
    """A folder as the package writes it, and the package itself."""
    package = ModuleType(request.param)
    package.SentenceTransformer = package.StaticModel = Lengths
    monkeypatch.setitem(sys.modules, request.param, package)
    name = "modules.json" if request.param == "sentence_transformers" else "config.json"
    content = {"model_type": "model2vec"}
    (tmp_path / name).write_text(json.dumps(content))
    return tmp_path


def test_scores_are_cosines_of_its_vectors(folder, tmp_path_factory):
    config = external.Config(path=str(folder), batch_size=2)
    scorer = external.MODEL.fit(config, TEXTS)
    assert scorer.score(TEXTS, np.array([0, 0]), np.array([0, 1])) == pytest.approx([1, 3 / 10**0.5])
    assert scorer.unknown(TEXTS).tolist() == [0, 0, 0]
    saved = tmp_path_factory.mktemp("model")
    models.save(scorer, "external", config, saved)
    np.testing.assert_array_equal(models.load(saved).encode(TEXTS), scorer.encode(TEXTS))


def test_a_package_that_is_not_installed_is_named(folder, monkeypatch):
    for package in ("sentence_transformers", "model2vec"):
        monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ParameterError, match=r"reading it needs (sentence_transformers|model2vec); pip install"):
        external.MODEL.fit(external.Config(path=str(folder), batch_size=2), TEXTS)


@pytest.mark.parametrize("content", [None, "{", "[]", '{"model_type": "bert"}'])
def test_a_folder_without_an_encoder_is_refused(tmp_path, content):
    if content is not None:
        (tmp_path / "config.json").write_text(content)
    with pytest.raises(ModelError, match="no encoder of sentence-transformers or model2vec"):
        external.MODEL.fit(external.Config(path=str(tmp_path), batch_size=2), TEXTS)


def test_a_missing_path_is_told():
    with pytest.raises(ParameterError, match="`path` of the model names no folder"):
        external.MODEL.fit(external.Config(path=None, batch_size=2), TEXTS)
