"""The table of small encoders, and what the command that measures them refuses."""

import json

import pytest

from docs import encoders
from paraphrastic.base.errors import ParameterError
from tests.helpers.small_models import CHARAGRAM_WORDS, save_encoder

ROW = {"STS 2012–2015": 75.06, "STS 2016": 78.0, "SICK": 78.4, "megabytes": 39.94}


def test_speeds_are_compared_with_the_first_encoder(tmp_path, monkeypatch):
    rows = [
        {"label": "large", "data": "its own", **ROW, "sentences per second": 130},
        {"label": "small", "data": "open", **ROW, "sentences per second": 129_817},
    ]
    (tmp_path / "encoders.json").write_text(json.dumps(rows))
    monkeypatch.setattr(encoders, "STORED", tmp_path / "encoders.json")
    lines = encoders.table().splitlines()
    assert "| large | its own | 75.1 | 78.0 | 78.4 | 39.9 | 130 | 1 |" in lines
    assert "| small | open | 75.1 | 78.0 | 78.4 | 39.9 | 129,817 | 999 |" in lines


def test_size_is_that_of_the_files_without_documentation(tmp_path):
    (tmp_path / "1_Pooling").mkdir()
    for name in ("README.md", "model.safetensors", "1_Pooling/config.json"):
        (tmp_path / name).write_bytes(bytes(500_000))
    assert encoders._megabytes(tmp_path) == 1.0


@pytest.mark.parametrize("argument", ["label", "label|data", "label|data|nowhere"])
def test_argument_that_names_no_model(argument):
    with pytest.raises(ParameterError, match="not a label, data and the folder of a model"):
        encoders._row(argument)


def test_argument(tmp_path):
    save_encoder(tmp_path, "charagram", CHARAGRAM_WORDS)
    assert encoders._row(f"n-grams|open|{tmp_path}") == ("n-grams", "open", str(tmp_path), True)
