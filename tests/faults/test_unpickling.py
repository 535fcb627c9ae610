"""Nothing is unpickled or evaluated: no code does it, and models, checkpoints, tables and vectors are read without."""

import ast
import pickle
from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pytest
import torch

import paraphrastic
from paraphrastic.base.errors import ParaphrasticError
from paraphrastic.base.tables import write_table
from paraphrastic.readers.own_tables import OwnTable
from paraphrastic.sources.own_files import OwnFile
from paraphrastic.training.trainer import Checkpoint
from paraphrastic.vocabulary.pretrained import read_vectors
from tests.helpers.encoder_variants import LSTM, WORD
from tests.helpers.repository import ROOT
from tests.helpers.small_models import CHARAGRAM_WORDS, save_baseline, save_encoder, save_pair_model, save_word_vectors
from tests.helpers.toy_training import SENTENCES, kill_at, train

pytestmark = [pytest.mark.faults, pytest.mark.slow]

MODULES = {"pickle", "cPickle", "_pickle", "cloudpickle", "dill", "joblib", "shelve", "marshal", "jsonpickle"}
BUILTINS = {"eval", "exec", "compile", "__import__"}
READERS = {"read_pickle", "to_pickle", "full_load", "unsafe_load", "HDFStore"}
FILES = sorted(file for name in ("src", "pipeline", ".ci", "docs") for file in (ROOT / name).rglob("*.py"))


def unsafe(node: ast.AST) -> Iterator[str]:
    """Yield why a node of a syntax tree may run code that a file names."""
    match node:
        case ast.Import(names):
            yield from (alias.name for alias in names if alias.name.partition(".")[0] in MODULES)
        case ast.ImportFrom(module, names):
            if (module or "").partition(".")[0] in MODULES or any(alias.name in MODULES for alias in names):
                yield module or "from"
        case ast.Call(ast.Name(name)) if name in BUILTINS:
            yield name
        case ast.Attribute(_, name) if name in READERS:
            yield name
        case ast.Call(ast.Attribute(ast.Name("torch"), "load"), _, keywords):
            if not is_set(keywords, "weights_only", True):
                yield "torch.load"
        case ast.Call(ast.Attribute(ast.Name("np" | "numpy"), "load"), _, keywords):
            if not is_set(keywords, "allow_pickle", False):
                yield "numpy.load"
        case ast.Call(ast.Name("YAML"), _, keywords):
            if not is_set(keywords, "pure", True) and keywords:
                yield "YAML"
        case ast.Call(ast.Attribute(ast.Name("yaml"), "load" | "load_all")):
            yield "yaml.load"
        case ast.keyword("allow_pickle" | "trust_remote_code" | "shell", ast.Constant(value)) if value:
            yield str(node.arg)


def is_set(keywords: list[ast.keyword], name: str, value: bool) -> bool:
    """Return whether an argument of a call is this constant."""
    values = [each.value for each in keywords if each.arg == name]
    return any(isinstance(each, ast.Constant) and each.value is value for each in values)


def test_code(tries):
    found = [
        f"{file.relative_to(ROOT)}:{getattr(node, 'lineno', 0)}: {reason}"
        for file in FILES
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        for reason in unsafe(node)
    ]
    assert found == []
    tries.report(files=len(FILES), found=0)


@pytest.mark.parametrize(
    "code",
    [
        "import pickle",
        "from numpy import pickle",
        "from joblib import load",
        "import a, dill.source",
        "eval(x)",
        "__import__(name)",
        "torch.load(path)",
        "torch.load(path, weights_only=False)",
        "np.load(path)",
        "np.load(path, allow_pickle=True)",
        "pd.read_pickle(path)",
        "yaml.load(text)",
        "load(path, trust_remote_code=True)",
        "YAML(typ='unsafe')",
    ],
)
def test_code_that_would_be_found(code):
    assert [reason for node in ast.walk(ast.parse(code)) for reason in unsafe(node)]


@pytest.fixture
def poisoned(monkeypatch):
    """Return a function that makes every use of pickle fail until the end of the test."""

    def poison():
        def refuse(*arguments, **options):
            raise AssertionError("something is unpickled")

        for module in ("pickle", "_pickle"):
            for name in ("load", "loads", "Unpickler", "_Unpickler", "_load", "_loads"):
                monkeypatch.setattr(f"{module}.{name}", refuse, raising=False)

    return poison


MODELS = {
    "avg": lambda folder: save_encoder(folder, "avg", WORD),
    "lstmavg": lambda folder: save_encoder(folder, "lstmavg", LSTM),
    "charagram": lambda folder: save_encoder(folder, "charagram", CHARAGRAM_WORDS),
    "tfidf-words": lambda folder: save_baseline(folder, "tfidf-words"),
    "sif": lambda folder: save_word_vectors(folder, "sif", 1),
    "ldc": save_pair_model,
}


@pytest.mark.parametrize("name", MODELS)
def test_model_folders(tries, poisoned, tmp_path, name):
    MODELS[name](tmp_path)
    paraphrastic.load(tmp_path).similarity(SENTENCES, SENTENCES)  # numba reads its own cache with pickle
    poisoned()
    paraphrastic.load(tmp_path).similarity(SENTENCES, SENTENCES)
    tries.report(models=1, unpickled=0)


def test_checkpoints_tables_and_vectors(tries, poisoned, tmp_path):
    with pytest.raises(KeyboardInterrupt):
        train("avg", WORD, tmp_path / "run", every=0, on_step=kill_at(9))
    (tmp_path / "vectors.txt").write_text("the 1 2\n")
    pairs = pa.table({"text1": ["a"], "text2": ["b"]})
    write_table(pairs, tmp_path / "own.parquet", pairs.schema)
    poisoned()
    state = Checkpoint(tmp_path / "run").load()
    assert state["step"] == 8
    assert read_vectors(tmp_path / "vectors.txt", 2)[1].tolist()[1] == [1, 2]
    parts = OwnTable(OwnFile(path=str(tmp_path / "own.parquet"))).parts(["text1", "text2"])
    assert sum(len(rows) for rows in parts) == 1
    tries.report(files=3, unpickled=0)


class Bomb:
    def __reduce__(self):
        return (pytest.fail, ("a pickle was run",))


@pytest.mark.parametrize("name", ["config.json", "weights.safetensors", "vocabulary.parquet"])
def test_pickles_in_place_of_the_files_of_a_model(tries, tmp_path, name):
    save_encoder(tmp_path, "avg", WORD)
    contents = pickle.dumps(Bomb()), saved_bomb(tmp_path / "bomb")
    for content in contents:
        (tmp_path / name).write_bytes(content)
        with pytest.raises(ParaphrasticError):
            paraphrastic.load(tmp_path)
    tries.report(files=len(contents), unpickled=0)


def saved_bomb(path) -> bytes:
    """Return what `torch.save` writes of an object whose pickle runs code."""
    torch.save({"step": Bomb(), "weights": np.zeros(3)}, path)
    return path.read_bytes()
