"""Encoders of other packages as scorers."""

import json
import subprocess
import sys
from types import ModuleType

import numpy as np
import pyarrow as pa
import pytest
from tokenizers import Tokenizer, pre_tokenizers
from tokenizers.models import WordLevel

from paraphrastic import models
from paraphrastic.errors import ModelError, ParameterError
from paraphrastic.models import external

TEXTS = pa.array(["a", "b b", ""])
INSTALL = "pip install '.[external]'"


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
    package.disable_progress_bar = lambda: None
    for name in (request.param, "transformers.utils.logging"):
        monkeypatch.setitem(sys.modules, name, package)
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


def test_a_folder_of_model2vec_gives_the_vectors_that_it_gives_itself(tmp_path):
    model2vec = pytest.importorskip("model2vec", reason=INSTALL)
    tokenizer = Tokenizer(WordLevel({"[UNK]": 0, "a": 1, "b": 2}, "[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    vectors = np.random.default_rng(0).normal(size=(3, 4)).astype(np.float32)
    model2vec.StaticModel(vectors, tokenizer).save_pretrained(str(tmp_path))
    found = external.MODEL.fit(external.Config(path=str(tmp_path), batch_size=2), TEXTS).encode(TEXTS)
    theirs = model2vec.StaticModel.from_pretrained(str(tmp_path)).encode(TEXTS.to_pylist())
    np.testing.assert_array_equal(found, theirs)
    np.testing.assert_allclose(found, [vectors[1], vectors[2], np.zeros(4)], rtol=1e-6)


@pytest.fixture
def bert(tmp_path):
    """A folder of sentence-transformers with a very small BERT."""
    sentence_transformers = pytest.importorskip("sentence_transformers", reason=INSTALL)
    from transformers import BertConfig, BertModel, BertTokenizerFast

    (tmp_path / "vocab.txt").write_text("\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "b"]))
    size = {"vocab_size": 7, "hidden_size": 4, "num_hidden_layers": 1, "num_attention_heads": 1, "intermediate_size": 4}
    for part in (BertModel(BertConfig(**size)), BertTokenizerFast(str(tmp_path / "vocab.txt"))):
        part.save_pretrained(tmp_path / "bert")
    sentence_transformers.SentenceTransformer(str(tmp_path / "bert"), device="cpu").save(str(tmp_path / "whole"))
    return tmp_path / "whole"


def test_no_progress_bar_in_a_log(bert):
    code = "import sys, pyarrow as pa; from paraphrastic.models.external import *; "
    code += "print(MODEL.fit(Config(path=sys.argv[1], batch_size=2), None).encode(pa.array(['a b'])).shape)"
    done = subprocess.run([sys.executable, "-c", code, str(bert)], capture_output=True, text=True)
    assert done.stdout == "(1, 4)\n"
    assert "Loading weights" not in done.stderr
    assert "%|" not in done.stderr
