"""Names of runs: another one for every change of what a run reads."""

import re

import pytest

from paraphrastic.base import files as module
from paraphrastic.base.files import fingerprint


@pytest.mark.parametrize(
    "name", ["pairs.parquet", "data.arrow", "weights.safetensors", "config.json", "module.py", "select.txt", "a/deep"]
)
def test_fingerprint_of_changed_file(tmp_path, name):
    file = tmp_path / name
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(b"one")
    first = fingerprint(1, tmp_path)
    assert re.fullmatch("[0-9a-f]{16}", first)
    assert fingerprint(1, tmp_path) == first
    file.write_bytes(b"two")
    assert fingerprint(1, tmp_path) != first
    file.write_bytes(b"one")
    assert fingerprint(1, tmp_path) == first


def test_fingerprint_of_changed_settings(tmp_path):
    assert len({fingerprint(settings, tmp_path) for settings in (1, "1", (1, 2), {"a": 1})}) == 4


def test_fingerprint_of_file_that_no_run_reads_and_of_renamed_file(tmp_path):
    (tmp_path / "words.parquet").write_bytes(b"one")
    first = fingerprint(1, tmp_path)
    (tmp_path / "__pycache__").mkdir()
    (tmp_path / "__pycache__/module.cpython-311.pyc").write_bytes(b"compiled")
    assert fingerprint(1, tmp_path) == first
    (tmp_path / "words.parquet").rename(tmp_path / "ngrams.parquet")
    assert fingerprint(1, tmp_path) != first


def test_fingerprint_of_a_single_file(tmp_path):
    file = tmp_path / "vectors.any"
    names = [file.write_text(text) and fingerprint(1, file) for text in ("a", "b")]
    assert len(set(names)) == 2


def test_fingerprint_of_changed_code(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "CODE", tmp_path)
    first = fingerprint(1)
    (tmp_path / "module.py").write_text("changed = True")
    assert fingerprint(1) != first
