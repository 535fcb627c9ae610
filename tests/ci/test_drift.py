"""`.ci/drift.py` compares committed metrics with computed ones."""

import json

import pytest

from tests.helpers.repository import ROOT, run_python

COMMITTED = {"sts": {"mean": 60.0, "sets": 19}}


@pytest.fixture
def compare(tmp_path):
    """Return a function that runs the script on two metrics files; one is missing where its content is None."""
    files = tmp_path / "committed.json", tmp_path / "new.json"

    def run(*metrics):
        for file, content in zip(files, metrics, strict=True):
            file.unlink(missing_ok=True)
            if content is not None:
                file.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
        done = run_python(ROOT / ".ci/drift.py", *files)
        return done.returncode, done.stdout, done.stderr

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
    assert compare(COMMITTED, new)[:2] == (code, output)


def test_empty_committed_file(compare, tmp_path):
    assert compare({}, {})[:2] == (1, f"{tmp_path / 'committed.json'}: no metrics are committed\n")


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
def test_missing_or_damaged_file(compare, tmp_path, content, message):
    for name, files in (("new", [COMMITTED, content]), ("committed", [content, COMMITTED])):
        code, output, errors = compare(*files)
        assert (code, output, errors.count("\n")) == (1, "", 1)
        assert errors.startswith(f"error: {tmp_path / name}.json: {message}")


def test_values_that_are_no_numbers(compare):
    assert compare({"a": "x", "b": None, "c": [1]}, {"a": "x", "b": None, "c": [1]})[0] == 0
    assert compare({"a": "x", "b": None}, {"a": 1, "b": 2.0})[1].count("committed") == 2


def test_terminal_that_is_not_utf8(compare, monkeypatch):
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    assert compare({"é": 1}, {"é": 2})[1] == "é: committed 1, computed 2\n"
