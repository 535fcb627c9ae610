"""The examples of the documentation for other tools, on exports of an average."""

import os
import re
import subprocess
import sys

import pytest

from paraphrastic.export import Format, export
from tests.helpers.repository import ROOT
from tests.helpers.small_models import ENCODERS, save_encoder

PAGE = (ROOT / "docs/how-to/trained-model.md").read_text(encoding="utf-8")
EXPORTS = re.findall(r"^paraphrastic export data/model (\S+) --to (\S+)$", PAGE, re.M)
EXAMPLES = re.findall(r"^```py\n(.*?)^```$", PAGE, re.M | re.S)
PACKAGES = {"sentence_transformers", "model2vec", "gensim", "onnx", "onnxruntime"}  # of the extra `external`


def test_formats_of_the_examples():
    assert {to for _, to in EXPORTS} == {*Format}
    assert PACKAGES - {"onnx"} <= set(re.findall(r"^(?:from|import) (\w+)", "".join(EXAMPLES), re.M))


@pytest.fixture(scope="module")
def exports(tmp_path_factory):
    """Return a folder with the exports that the page makes, those that need no missing package."""
    folder = tmp_path_factory.mktemp("examples")
    model = save_encoder(folder / "model", "avg", ENCODERS["avg"])
    for out, to in EXPORTS:
        if to == Format.ONNX:
            pytest.importorskip("onnx", reason="needs the extra `external`")
        export(model, folder / out, Format(to))
    return folder


@pytest.mark.parametrize("example", EXAMPLES)
def test_example(exports, example):
    for package in PACKAGES:
        pytest.importorskip(package, reason="needs the extra `external`")
    code = example.replace('"dog", topn', '"was", topn')
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src"), "HF_HUB_OFFLINE": "1"}
    subprocess.run([sys.executable, "-c", code], cwd=exports, env=environment, check=True)
