"""Encoders of sentence-transformers and model2vec as scorers."""

import json
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pyarrow as pa
import pytest
import torch
from pydantic import ValidationError
from tokenizers import Tokenizer, pre_tokenizers
from tokenizers.models import WordLevel

import paraphrastic
from paraphrastic.base.errors import ModelError, ParameterError
from paraphrastic.inference import model_folder
from paraphrastic.models import external
from paraphrastic.scoring.external_encoder import ExternalEncoder, usable_device, usable_processes
from tests.helpers.pretended_device import DEVICE, gpu

TEXTS = pa.array(["a", "b b", ""])
INSTALL = "pip install '.[external]'"


def fit(folder: Path) -> ExternalEncoder:
    """Return the encoder in `folder`."""
    return external.MODEL.fit(external.Config(path=str(folder), batch_size=2), TEXTS)


class WordCountEncoder:
    """Replaces the encoder of either package: the vector of a text is its number of words, and 1."""

    def __init__(self, path: str, device: str | None = None) -> None:
        self.path, self.device, self.precision = path, device, "float32"

    @classmethod
    def from_pretrained(cls, path: str) -> "WordCountEncoder":
        return cls(path)

    def bfloat16(self) -> "WordCountEncoder":
        self.precision = "bfloat16"
        return self

    def encode(self, texts: list[str], batch_size: int, show_progress_bar: bool) -> np.ndarray:
        assert texts, "neither package has a shape for the vectors of no text"
        assert (batch_size, show_progress_bar) == (2, False)
        return np.array([[len(text.split()), 1] for text in texts])


@pytest.fixture(params=["sentence_transformers", "model2vec"])
def encoder_folder(request, tmp_path, monkeypatch):
    """Return a folder that looks as if the package had written it, and replace the package."""
    package = ModuleType(request.param)
    package.SentenceTransformer = package.StaticModel = WordCountEncoder
    package.disable_progress_bar = lambda: None
    for name in (request.param, "transformers.utils.logging"):
        monkeypatch.setitem(sys.modules, name, package)
    (tmp_path / "encoder").mkdir()
    if request.param == "sentence_transformers":
        (tmp_path / "encoder/modules.json").write_text(json.dumps([{"type": "sentence_transformers.models.Pooling"}]))
    else:
        (tmp_path / "encoder/config.json").write_text(json.dumps({"model_type": "model2vec"}))
    return tmp_path / "encoder"


def test_scores_of_external_vectors(encoder_folder):
    scorer = fit(encoder_folder)
    assert scorer.score(TEXTS, np.array([0, 0]), np.array([0, 1])) == pytest.approx([1, 3 / 10**0.5])
    assert scorer.encode(TEXTS).dtype == np.float32
    assert scorer.oov_share(TEXTS).tolist() == [0, 0, 0]


def test_all_sentences_are_known(encoder_folder):
    vectors, known = fit(encoder_folder).encode_known(TEXTS)
    np.testing.assert_array_equal(vectors, fit(encoder_folder).encode(TEXTS))
    assert known.tolist() == [True] * len(TEXTS)


def test_vectors_after_loading(encoder_folder, tmp_path):
    model_folder.write_model(
        fit(encoder_folder),
        model_folder.ModelInfo("external", external.Config(path="e", batch_size=2).model_dump()),
        tmp_path / "model",
    )
    loaded = model_folder.load_scorer(tmp_path / "model")
    assert [file.name for file in (tmp_path / "model").iterdir()] == ["config.json"]
    np.testing.assert_array_equal(loaded.encode(TEXTS), [[1, 1], [2, 1], [0, 1]])
    model = paraphrastic.load(tmp_path / "model")
    assert model.dim == 2
    assert model.encode([]).shape == (0, 2)
    assert model.encode("A dog!").tolist() == [3, 1]


@pytest.mark.parametrize("encoder_folder", ["sentence_transformers"], indirect=True)
@pytest.mark.parametrize(("device", "wanted"), [("auto", None), ("cpu", "cpu"), ("cuda", str(DEVICE))])
def test_device_of_sentence_transformers(encoder_folder, device, wanted):
    with gpu():
        encoder = ExternalEncoder(encoder_folder, 2, device)
        encoder.encode(TEXTS)
    assert encoder._encoder.device == wanted  # it chooses itself for None
    assert usable_device(encoder_folder, "cuda:1") == "cuda:1"


@pytest.mark.parametrize(
    ("device", "has_gpu", "wanted"),
    [("cpu", True, 6), ("auto", False, 6), ("auto", True, 1), ("cuda", True, 1), ("cuda:1", True, 1)],
)
def test_processes(tmp_path, monkeypatch, device, has_gpu, wanted):
    monkeypatch.setattr(pa, "cpu_count", lambda: 6)
    monkeypatch.setattr(torch.accelerator, "is_available", lambda: has_gpu)
    assert usable_processes(tmp_path, device) == 1  # it has no layers
    (tmp_path / "modules.json").write_text("[]")
    assert usable_processes(tmp_path, device) == wanted
    monkeypatch.setattr(pa, "cpu_count", lambda: 64)
    assert usable_processes(tmp_path, "cpu") == 8
    with (tmp_path / "model.safetensors").open("wb") as file:
        file.truncate(1 << 30)
    assert usable_processes(tmp_path, "cpu") == 1


@pytest.mark.parametrize("encoder_folder", ["model2vec"], indirect=True)
@pytest.mark.parametrize("device", ["auto", "cpu", "cuda", "gpu"])
def test_device_of_model2vec(encoder_folder, device):
    encoder = ExternalEncoder(encoder_folder, 2, device)
    if device in ("auto", "cpu"):
        encoder.encode(TEXTS)
    else:
        reason = f"{encoder_folder} is computed on the CPU"
        message = "should be auto, cpu, cuda or cuda:N" if device == "gpu" else reason
        with pytest.raises(ParameterError, match=re.escape(f"device '{device}': {message}")):
            encoder.encode(TEXTS)
    assert usable_device(encoder_folder, device) == "cpu"


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_precision(encoder_folder, precision):
    encoder = ExternalEncoder(encoder_folder, 2, precision=precision)
    if precision == "bfloat16" and (encoder_folder / "config.json").exists():
        with pytest.raises(ParameterError, match=r"encoder: model2vec has no layers to compute in bfloat16; set"):
            encoder.encode(TEXTS)
    else:
        encoder.encode(TEXTS)
        assert encoder._encoder.precision == precision


def test_package_not_installed(encoder_folder, monkeypatch):
    for package in ("sentence_transformers", "model2vec"):
        monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ParameterError, match=r"reading it needs (sentence_transformers|model2vec); .*pip install"):
        fit(encoder_folder)


@pytest.mark.parametrize("config", [None, "{", "[]", '{"model_type": "bert"}'])
def test_folder_without_encoder(tmp_path, config):
    if config is not None:
        (tmp_path / "config.json").write_text(config)
    with pytest.raises(ModelError, match="no encoder of sentence-transformers or model2vec"):
        fit(tmp_path)


POOLING = {"type": "sentence_transformers.models.Pooling"}


@pytest.mark.parametrize(
    ("modules", "message"),
    [
        ([POOLING, {"type": "code.Encoder"}], "Encoder is code of another"),
        ([{}], "None is code of another package, which is not run"),
        (POOLING, "not a list of modules"),
        ([1], "not a list of modules"),
        ([{"type": "sentence_transformers.SentenceTransformer"}], "SentenceTransformer is code of another package"),
        ([{"type": "sentence_transformers.models.Router"}], "Router is code of another"),  # its file names classes
        ([{"type": "sentence_transformers.models.WordEmbeddings"}], "WordEmbeddings is code of another"),
        ([{"type": "sentence_transformers.models.Pooling\nos.Pooling"}], "Pooling os.Pooling is code of another"),
        *(([POOLING | {"path": path}], f"path {path!r} is outside of") for path in ("../other", "/etc", 1)),
    ],
)
def test_code_in_the_folder_is_not_run(tmp_path, modules, message):
    (tmp_path / "modules.json").write_text(json.dumps(modules))
    with pytest.raises(ModelError, match=message):
        fit(tmp_path)


def test_vectors_of_model2vec(tmp_path):
    model2vec = pytest.importorskip("model2vec", reason=INSTALL)
    pytest.importorskip("sentence_transformers", reason=INSTALL)  # which reads what model2vec 0.10 and later write
    tokenizer = Tokenizer(WordLevel({"[UNK]": 0, "a": 1, "b": 2}, "[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    embeddings = np.random.default_rng(0).normal(size=(3, 4)).astype(np.float32)
    model2vec.StaticModel(embeddings, tokenizer).save_pretrained(str(tmp_path))
    vectors = fit(tmp_path).encode(TEXTS)
    expected = model2vec.StaticModel.from_pretrained(str(tmp_path)).encode(TEXTS.to_pylist())
    np.testing.assert_array_equal(vectors, expected)
    np.testing.assert_allclose(vectors, [embeddings[1], embeddings[2], np.zeros(4)], rtol=1e-6)


@pytest.fixture
def bert_folder(tmp_path):
    """Return a folder of sentence-transformers with a very small BERT."""
    sentence_transformers = pytest.importorskip("sentence_transformers", reason=INSTALL)
    from transformers import BertConfig, BertModel, BertTokenizerFast

    (tmp_path / "vocab.txt").write_text("\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "b"]))
    size = {"vocab_size": 7, "hidden_size": 4, "num_hidden_layers": 1, "num_attention_heads": 1, "intermediate_size": 4}
    for part in (BertModel(BertConfig(**size)), BertTokenizerFast(str(tmp_path / "vocab.txt"))):
        part.save_pretrained(tmp_path / "bert")
    sentence_transformers.SentenceTransformer(str(tmp_path / "bert"), device="cpu").save(str(tmp_path / "encoder"))
    return tmp_path / "encoder"


def test_vectors_in_bfloat16(bert_folder):
    exact, rounded = (ExternalEncoder(bert_folder, 2, "cpu", each).encode(TEXTS) for each in ("float32", "bfloat16"))
    assert rounded.dtype == np.float32
    assert not np.array_equal(rounded, exact)
    np.testing.assert_allclose(rounded, exact, atol=0.05)


def test_log_without_terminal(bert_folder):
    code = "import sys, pyarrow as pa; from paraphrastic.models.external import *; "
    code += "print(MODEL.fit(Config(path=sys.argv[1], batch_size=2), None).encode(pa.array(['a b'])).shape)"
    done = subprocess.run([sys.executable, "-c", code, str(bert_folder)], capture_output=True, text=True)
    assert done.stdout == "(1, 4)\n"
    assert "Loading weights" not in done.stderr
    assert "%|" not in done.stderr


@pytest.mark.parametrize("encoder_folder", ["sentence_transformers"], indirect=True)
def test_module_lists_of_all_versions(encoder_folder):
    names = ["models.Transformer", "base.modules.transformer.Transformer", "sentence_transformer.modules.bow.BoW"]
    modules = [{"path": f"{n}_Module", "type": f"sentence_transformers.{name}"} for n, name in enumerate(names)]
    (encoder_folder / "modules.json").write_text(json.dumps(modules))
    assert fit(encoder_folder).encode(TEXTS).shape == (3, 2)


@pytest.mark.parametrize(
    "name", ["pytorch_model.bin", "model.pt", "last.ckpt", "a.joblib", "0_Dense/model.pkl", "a.npy"]
)
def test_pickled_weights_are_not_read(encoder_folder, monkeypatch, name):
    path = encoder_folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(b"")
    with monkeypatch.context() as patched:
        patched.setattr(WordCountEncoder, "__init__", None)  # neither package is called
        patched.setattr(WordCountEncoder, "from_pretrained", None)
        remedy = r"convert it to model\.safetensors, or choose another encoder$"
        with pytest.raises(ModelError, match=f"{name}: pickled weights can run code and are not read; {remedy}"):
            fit(encoder_folder)
    (path.parent / "model.safetensors").write_bytes(b"")
    assert fit(encoder_folder).encode(TEXTS).shape == (3, 2)  # both packages read the other weights


class RustPanic(BaseException):
    """As tokenizers raise it."""


REASONS = {
    ValueError("first line\nsecond line"): r"encoder: cannot be used \(first line\); download",
    KeyError(): r"encoder: cannot be used \(KeyError\)",
    RustPanic("index out of bounds"): r"encoder: cannot be used \(index out of bounds\)",
    RecursionError("deep"): r"encoder: cannot be used \(deep\)",
    ImportError("needs einops"): r"encoder: cannot be used \(needs einops\)",
}


@pytest.mark.parametrize("method", ["__init__", "encode"])
@pytest.mark.parametrize("error", [*REASONS, KeyboardInterrupt(), MemoryError("m"), SystemExit(3)], ids=repr)
def test_error_of_the_other_package(encoder_folder, monkeypatch, method, error):
    def fail(*arguments, **options):
        raise error

    monkeypatch.setattr(WordCountEncoder, method, fail)
    expected = ModelError if error in REASONS else type(error)
    with pytest.raises(expected, match=REASONS.get(error)) as caught:
        fit(encoder_folder)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("vectors", "message"),
    [
        ([[1, 2]], r"vectors of shape \(1, 2\) for 3 texts"),
        ([1, 2, 3], r"vectors of shape \(3,\) for 3 texts"),
        ([[1, 2], [1, np.nan], [1, 1]], "the vector of 'b b' is not finite; choose another encoder"),
        ([[1, 2], [1], [1, 1]], "cannot be used"),
        ([["a"]] * 3, "cannot be used"),
    ],
)
def test_wrong_vectors(encoder_folder, monkeypatch, vectors, message):
    encoder = fit(encoder_folder)
    monkeypatch.setattr(WordCountEncoder, "encode", lambda self, texts, **_: vectors)
    with pytest.raises(ModelError, match=f"encoder: {message}"):
        encoder.encode(TEXTS)


def test_path_not_named_and_sizes_of_batches():
    for path in (None, ""):
        with pytest.raises(ValidationError, match="is empty; set it to a folder of sentence-transformers or model2vec"):
            external.Config(path=path, batch_size=2)
    assert [external.Config(path="e", batch_size=size).batch_size for size in (1, 2**63 - 1)] == [1, 2**63 - 1]
    for size in (0, 2**63):  # a model of the latter could not be loaded
        with pytest.raises(ValidationError, match="batch_size"):
            external.Config(path="e", batch_size=size)
