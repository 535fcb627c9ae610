"""Evaluation of any folder on any sets without the pipeline."""

import json
import subprocess
import sys

import pytest

import paraphrastic
from paraphrastic.base.errors import DataError, ModelError, ParameterError
from tests.helpers import stub_teacher
from tests.helpers.parameter_files import copy_parameters
from tests.helpers.repository import ROOT
from tests.helpers.small_models import save_word_vectors


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PARAPHRASTIC_CACHE", str(tmp_path / "cache"))
    save_word_vectors(tmp_path / "vectors", "vectors")
    (tmp_path / "sets").mkdir()
    rows = ["a dog runs\ta dog runs\t1", "a dog runs\ttwo cats sleep\t0", "a dog\ta dog runs\t1", "a man\tno cat\t0"]
    (tmp_path / "sets/same.tsv").write_text("\n".join(["text1\ttext2\tlabel", *rows]) + "\n")
    (tmp_path / "sets/likeness.tsv").write_text("\n".join(["text1\ttext2\tscore", *rows]) + "\n")
    return tmp_path


def test_model_and_its_folder_have_the_same_metrics(folder):
    loaded = paraphrastic.load("vectors")
    by_folder, by_model = (paraphrastic.evaluate(model, "sets/", "sample") for model in ("vectors", loaded))
    assert by_folder.metrics == by_model.metrics
    with pytest.raises(ParameterError, match=r"^device 'cpu': vectors is loaded; .*`load`$"):
        paraphrastic.evaluate(loaded, "sets/", device="cpu")
    assert by_folder.metrics["own"].keys() == {"likeness", "same"}
    assert "sample" in by_folder.metrics


def test_metrics_are_those_of_the_stage(folder):
    (folder / "data").mkdir()
    (folder / "data/model").symlink_to(folder / "vectors")
    copy_parameters(folder, benchmarks="[sample, sets/]")
    for stage in ("download", "tokenize", "evaluate"):
        code = f"import sys; sys.path.insert(0, {str(ROOT)!r}); from pipeline import {stage}; {stage}.main()"
        subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
    metrics = json.loads((folder / "metrics/evaluate.json").read_text())
    assert paraphrastic.evaluate("vectors", "sample", "sets/").metrics == metrics


def test_text_for_an_encoder_of_another_package(folder, monkeypatch):
    (folder / "sets/case.tsv").write_text("text1\ttext2\tscore\nA Dog.\tIt's\t1\nB\tC\t0\n")
    paraphrastic.evaluate(str(stub_teacher.install(monkeypatch, folder / "other")), "sets/case.tsv", "sample")
    texts = stub_teacher.StubTeacher.texts
    assert {"A Dog.", "It's"} < set(texts)
    assert sum(text != text.lower() for text in texts) == 4


@pytest.mark.parametrize(
    ("model", "sets", "error", "message"),
    [
        ("smal", ["sample"], ModelError, "^smal: no model here; .* did you mean 'small'"),
        ("sets", ["sample"], ModelError, "sets: no encoder"),
        ("vectors", ["smple"], ParameterError, "'smple': did you mean 'sample'"),
        ("vectors", [], DataError, "^the benchmarks have no .*; choose another suite for `benchmarks`$"),
        ("vectors", ["bad.csv"], DataError, "bad.csv, line 3: not a number"),
    ],
)
def test_mistake_in_one_line(folder, model, sets, error, message):
    (folder / "bad.csv").write_text("text1,text2,score\na,b,1\nc,d,x\n")
    with pytest.raises(error, match=message):
        paraphrastic.evaluate(model, *sets)
