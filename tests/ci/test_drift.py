"""`.ci/drift.py` compares committed metrics with computed ones."""

import json
import subprocess
import sys

import pytest

from tests.helpers.repository import ROOT

COMMITTED = {"sts": {"mean": 60.0, "sets": 19}}


@pytest.fixture
def compare(tmp_path):
    """Return a function that runs the script on two metrics files."""
    files = tmp_path / "committed.json", tmp_path / "new.json"

    def run(*metrics):
        for file, content in zip(files, metrics, strict=True):
            file.write_text(json.dumps(content))
        command = [sys.executable, ROOT / ".ci/drift.py", *files]
        return subprocess.run(command, capture_output=True, text=True)

    return run


@pytest.mark.parametrize(
    ("new", "code", "output"),
    [
        ({"sts": {"mean": 60.4, "sets": 19}}, 0, ""),
        ({"sts": {"mean": 60.6, "sets": 19}}, 1, "sts.mean: committed 60.0, computed 60.6\n"),
        ({"sts": {"mean": 60.0}}, 1, "sts.sets: committed 19, computed no value\n"),
        ({"sts": {"mean": 60.0, "sets": 19}, "words": 1}, 1, "words: committed no value, computed 1\n"),
        ({"sts": {"mean": float("nan"), "sets": 19}}, 1, "sts.mean: committed 60.0, computed nan\n"),
    ],
)
def test_output_for_changed_missing_and_nan_metrics(compare, new, code, output):
    done = compare(COMMITTED, new)
    assert (done.returncode, done.stdout) == (code, output)


def test_empty_committed_file(compare, tmp_path):
    done = compare({}, {})
    assert (done.returncode, done.stdout) == (1, f"{tmp_path / 'committed.json'}: no metrics are committed\n")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "No such file or directory; run `dvc repro`"),
        (b"", "not an object of JSON; is it whole, and was there such a revision?"),
        (b'{"sts": ', "not an object of JSON"),
        (b"[1]", "not an object of JSON"),
        (b"\xff\xfe", "not an object of JSON"),
        (b"[" * 100_000, "not an object of JSON"),
    ],
)
def test_missing_or_damaged_file(tmp_path, content, message):
    good, bad = tmp_path / "good.json", tmp_path / "bad.json"
    good.write_text(json.dumps(COMMITTED))
    if content is not None:
        bad.write_bytes(content)
    for files in ([good, bad], [bad, good]):
        done = subprocess.run([sys.executable, ROOT / ".ci/drift.py", *files], capture_output=True, text=True)
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.startswith(f"error: {bad}: {message}")
        assert done.stderr.count("\n") == 1


def test_values_that_are_no_numbers(compare):
    assert compare({"a": "x", "b": None, "c": [1]}, {"a": "x", "b": None, "c": [1]}).returncode == 0
    assert compare({"a": "x", "b": None}, {"a": 1, "b": 2.0}).stdout.count("committed") == 2


def test_terminal_that_is_not_utf8(compare, monkeypatch):
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    assert compare({"é": 1}, {"é": 2}).stdout == "é: committed 1, computed 2\n"
