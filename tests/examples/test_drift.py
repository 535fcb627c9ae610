"""examples/drift.py: lines like the training text do not drift, others do, and nothing to compare is one line."""

import json
import runpy
import sys

import pytest

from paraphrastic.readers.sample import table
from tests.helpers.repository import ROOT

MEASURES = ["unknown", "tokens", "similarity"]
REVIEWS = ["The zipper broke after two days, I want my money back!", "Great jacket.", "My card was declined again."]


@pytest.fixture
def drift(tmp_path, monkeypatch):
    """Return a function that writes lines, runs the script, and returns its report."""
    monkeypatch.chdir(tmp_path)
    texts = list(dict.fromkeys(table("pairs")["text1"].to_pylist()))[:1200]
    (tmp_path / "training.txt").write_text("\n".join(texts[::2]))
    script = str(ROOT / "examples/drift.py")

    def run(lines=texts[1::2]):
        (tmp_path / "lines.txt").write_text("\n".join(lines))
        monkeypatch.setattr(sys, "argv", [script, "lines.txt", "training.txt", "--out", "report.json"])
        runpy.run_path(script, run_name="__main__")
        return json.loads((tmp_path / "report.json").read_text())

    return run


def test_lines_like_the_training_text(drift, tmp_path):
    content = drift()
    assert content["n"] == {"lines": 600, "training": 300}
    assert all(content[name]["drift"] < 0.2 for name in MEASURES)
    plot = (tmp_path / "report.svg").read_text()
    assert all(f">{name}<" in plot for name in (*MEASURES, "lines", "training"))


def test_other_lines(drift, capsys):
    content = drift(REVIEWS)
    assert content["similarity"]["drift"] > 0.9
    assert content["similarity"]["lines"]["mean"] < content["similarity"]["training"]["quartiles"][0]
    assert content["tokens"]["lines"]["mean"] == pytest.approx((13 + 3 + 6) / 3, abs=1e-4)
    assert not capsys.readouterr().err


def test_lines_of_unknown_words(drift, capsys):
    content = drift(["ქართული", "ენა ქართული"])
    assert content["unknown"]["lines"]["mean"] == 1
    assert content["similarity"]["lines"] == {"mean": 0, "quartiles": [0, 0, 0]}
    assert capsys.readouterr().err == "lines.txt: the encoder knows nothing of these lines\n"


@pytest.mark.parametrize("lines", [[], [" ", ""]])
def test_file_without_text(drift, tmp_path, lines):
    with pytest.raises(SystemExit, match=r"^error: lines.txt: 0 different lines with text; needs 1 or more$"):
        drift(lines)
    assert not (tmp_path / "report.json").exists()
