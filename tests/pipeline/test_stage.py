"""Stages as commands: how they end after an error, and the files and names that they share."""

import errno
from functools import partial

import pandas as pd
import pytest

from paraphrastic.base.files import write_csv, write_rows
from tests.helpers import repository
from tests.helpers.parameter_files import copy_parameters
from tests.helpers.repository import ROOT, isolated_environment

PARAMS, OPTIONS = ((ROOT / name).read_text() for name in ("params.yaml", "models.yaml"))
BAD_PARAMETERS = [
    ("download", "corpus: sample", "corpus: sampel", "did you mean 'sample'?"),
    ("tokenize", "max_bad_rows: 0.001", "max_bad_rows: -1", "params.yaml: tokenize.max_bad_rows = -1: should be"),
    ("vocabulary", "min_count: 2", "min_count: 2.5", "params.yaml: vocabulary.min_count = 2.5: should be"),
    pytest.param("train", "  epochs: 5", "  epochs: -5", "models.yaml: avg.epochs = -5", marks=pytest.mark.slow),
]


@pytest.fixture
def run_python(tmp_path):
    """Return a function that runs Python with this repository's code, in a folder with only parameters."""
    copy_parameters(tmp_path)
    environment = isolated_environment(tmp_path / "cache") | {"PYTHONPATH": str(ROOT)}
    return partial(repository.run, "python", cwd=tmp_path, env=environment)


@pytest.mark.parametrize(("stage", "old", "new", "message"), BAD_PARAMETERS)
def test_bad_parameter(run_python, tmp_path, stage, old, new, message):
    name, text = ("params.yaml", PARAMS) if old in PARAMS else ("models.yaml", OPTIONS)
    assert old in text
    (tmp_path / name).write_text(text.replace(old, new, 1))
    done = run_python("-m", f"pipeline.{stage}")
    assert done.returncode == 1
    assert done.stderr.startswith("error: ")
    assert done.stderr.count("\n") == 1
    assert message in done.stderr


@pytest.mark.parametrize(
    ("statement", "code", "message"),
    [
        ("raise ParameterError('first\\nsecond')", 1, "error: first second\n"),
        ("open('/dev/full', 'w').write('x' * 100_000)", 1, ": No space left on device\n"),
        ("open('absent/file')", 1, "error: absent/file: No such file or directory\n"),
        ("bytearray(1 << 60)", 1, "error: out of memory\n"),
        ("__import__('torch').empty(1 << 60)", 1, "error: out of memory: "),
        ("raise KeyboardInterrupt", 130, "interrupted; run the same command again to continue\n"),
        ("os.kill(os.getpid(), signal.SIGTERM); time.sleep(9)", 130, "interrupted; run the same command again to"),
    ],
)
def test_error_of_input_or_system(run_python, statement, code, message):
    imports = "import os, signal, time; from pipeline.stage import run; from paraphrastic.base.errors import *"
    done = run_python("-c", f"{imports}\ndef main() -> None:\n    {statement}\nrun(main)")
    assert done.returncode == code
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


def test_traceback_of_bug(run_python):
    done = run_python("-c", "from pipeline.stage import run\ndef main() -> None:\n    1 / 0\nrun(main)")
    assert done.returncode == 1
    assert "Traceback" in done.stderr
    assert done.stderr.endswith("ZeroDivisionError: division by zero\n")


STAGES = "import pipeline.inputs, pipeline.download, pipeline.teach, pipeline.tokenize, pipeline.vocabulary"


@pytest.mark.parametrize(
    ("stages", "packages"),
    [
        (f"{STAGES}, pipeline.evaluate", {"torch", "scipy.linalg", "scipy.sparse", "scipy.stats", "sklearn", "pandas"}),
        ("import pipeline.inputs, pipeline.download, pipeline.teach", {"numba", "scipy"}),
        ("import pipeline.inputs, pipeline.download", {"numpy", "pyarrow"}),
        (f"{STAGES}, pipeline.evaluate, pipeline.analyze", {"typer"}),
    ],
)
def test_stages_that_start_without_the_packages_that_take_time(run_python, stages, packages):
    done = run_python("-c", f"{stages}, sys; print({packages} & {{*sys.modules}})")
    assert (done.stdout, done.stderr) == ("set()\n", "")


def test_arrow_and_numba_work_in_a_stage_without_pandas_and_scipy(run_python):
    code = f"""
{STAGES}, pipeline.evaluate, sys
import pyarrow as pa
from paraphrastic.base.parallel import skip_slow_imports
from paraphrastic.text.columns import TextNumbering, hash_texts

skip_slow_imports()
numbers = TextNumbering().add(hash_texts(pa.array(["a", "b", "a"])))
texts = pa.array(["a", None]).to_numpy(zero_copy_only=False)
print(numbers, texts, {{"pandas", "scipy.linalg"}} & {{*sys.modules}})
import scipy.linalg
print(pa.table({{"a": [1, None]}}).to_pandas()["a"].sum(), scipy.linalg.norm([3.0, 4.0]))
"""
    done = run_python("-c", code)
    assert (done.stdout, done.stderr) == ("[0 1 0] ['a' None] set()\n1.0 5.0\n", "")


def test_rows_have_the_bytes_of_the_same_table(tmp_path):
    rows = [{"set": "a,b", "n": 3, "score": 1e-05}, {"set": 'ü"', "n": 0}, {"set": "two\nlines", "n": 2, "score": 0.1}]
    write_csv(pd.DataFrame(rows, columns=["set", "n", "score"]), tmp_path / "frame.csv")
    write_rows(("set", "n", "score"), rows, tmp_path / "rows.csv")
    assert (tmp_path / "rows.csv").read_bytes() == (tmp_path / "frame.csv").read_bytes()
    path = tmp_path / "metrics/table.csv"
    write_csv(pd.DataFrame({"set": ["a,b", "ü"], "score": [1.5, None]}), path)
    assert path.read_bytes() == 'set,score\n"a,b",1.5\nü,\n'.encode()
    assert list(path.parent.iterdir()) == [path]


def test_csv_after_failed_write(tmp_path, monkeypatch):
    path = tmp_path / "table.csv"
    write_csv(pd.DataFrame({"old": [1]}), path)

    def fail(frame, part, **options):
        part.write_text("half")
        raise OSError(errno.ENOSPC, "disk full")

    monkeypatch.setattr(pd.DataFrame, "to_csv", fail)
    with pytest.raises(OSError, match="disk full"):
        write_csv(pd.DataFrame({"new": [2]}), path)
    assert path.read_text() == "old\n1\n"
    assert list(tmp_path.iterdir()) == [path]
