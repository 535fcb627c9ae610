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
from paraphrastic.training.checkpoint import Checkpoint
from paraphrastic.vocabulary.pretrained import read_vectors
from tests.helpers.encoder_variants import WORD
from tests.helpers.repository import ROOT
from tests.helpers.small_models import ENCODERS, save_model
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
        case ast.Call(ast.Attribute(ast.Name("torch"), "load")) if not is_set(node, "weights_only", True):
            yield "torch.load"
        case ast.Call(ast.Attribute(ast.Name("np" | "numpy"), "load")) if not is_set(node, "allow_pickle", False):
            yield "numpy.load"
        case ast.Call(ast.Name("YAML"), _, keywords) if keywords and not is_set(node, "pure", True):
            yield "YAML"
        case ast.Call(ast.Attribute(ast.Name("yaml"), "load" | "load_all")):
            yield "yaml.load"
        case ast.keyword("allow_pickle" | "trust_remote_code" | "shell", ast.Constant(value)) if value:
            yield str(node.arg)


def is_set(call: ast.Call, name: str, value: bool) -> bool:
    """Return whether an argument of a call is this constant."""
    return any(each.arg == name and getattr(each.value, "value", None) is value for each in call.keywords)


def test_code():
    found = [
        f"{file.relative_to(ROOT)}:{getattr(node, 'lineno', 0)}: {reason}"
        for file in FILES
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        for reason in unsafe(node)
    ]
    assert found == []


FOUND = """
import pickle
from numpy import pickle
from joblib import load
import a, dill.source
eval(x)
__import__(name)
torch.load(path)
torch.load(path, weights_only=False)
np.load(path)
np.load(path, allow_pickle=True)
pd.read_pickle(path)
yaml.load(text)
load(path, trust_remote_code=True)
YAML(typ='unsafe')
"""


@pytest.mark.parametrize("code", FOUND.strip().splitlines())
def test_code_that_would_be_found(code):
    assert [reason for node in ast.walk(ast.parse(code)) for reason in unsafe(node)]


@pytest.fixture
def poisoned(monkeypatch):
    """Return a function that makes every use of pickle fail until the end of the test."""

    def refuse(*arguments, **options):
        raise AssertionError("something is unpickled")

    def poison():
        for module in ("pickle", "_pickle"):
            for name in ("load", "loads", "Unpickler", "_Unpickler", "_load", "_loads"):
                monkeypatch.setattr(f"{module}.{name}", refuse, raising=False)

    return poison


@pytest.mark.parametrize("name", [*ENCODERS, "tfidf-words", "sif", "ldc"])
def test_model_folders(poisoned, tmp_path, name):
    save_model(tmp_path, name).similarity(SENTENCES, SENTENCES)  # numba reads its own cache with pickle
    poisoned()
    paraphrastic.load(tmp_path).similarity(SENTENCES, SENTENCES)


def test_checkpoints_tables_and_vectors(poisoned, tmp_path):
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


class Bomb:
    def __reduce__(self):
        return (pytest.fail, ("a pickle was run",))


@pytest.mark.parametrize("name", ["config.json", "weights.safetensors", "vocabulary.parquet"])
def test_pickles_in_place_of_the_files_of_a_model(tmp_path, name):
    save_model(tmp_path, "avg")
    torch.save({"step": Bomb(), "weights": np.zeros(3)}, tmp_path / "bomb")
    for content in (pickle.dumps(Bomb()), (tmp_path / "bomb").read_bytes()):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(ParaphrasticError):
            paraphrastic.load(tmp_path)
