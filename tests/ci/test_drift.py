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
