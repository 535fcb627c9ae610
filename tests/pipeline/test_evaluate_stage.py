"""The stage `evaluate`: its files and what it prints."""

import csv
import json

import numpy as np
import pytest

from paraphrastic.base.tables import SCORES, read_table
from paraphrastic.inference import model_folder
from paraphrastic.scoring.bags import OverlapScorer
from pipeline import evaluate
from tests.helpers.benchmark_tables import write_benchmarks
from tests.helpers.encoder_variants import LSTM
from tests.helpers.parameter_files import change_parameters, copy_parameters
from tests.helpers.pretended_device import HAS_GPU, gpu
from tests.helpers.small_models import save_encoder


@pytest.fixture
def stage_folder(tmp_path, monkeypatch):
    """Return a folder with benchmarks and a model of word overlap, which is the current folder."""
    texts = ["a cat sat", "a cat sat down", "a dog", "the dog", "", "a b", "b a", "c", "x", "y"]
    write_benchmarks(tmp_path / "data/benchmarks", texts=texts)
    model_folder.write_model(OverlapScorer(), model_folder.ModelInfo("overlap", {}), tmp_path / "data/model")
    copy_parameters(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_metrics_tables_and_summary(stage_folder, capsys):
    evaluate.main()
    text = (stage_folder / "metrics/evaluate.json").read_text()
    assert list(json.loads(text)) == ["sts", "transfer", "qa", "paraphrase", "words"]
    assert text.endswith("}\n")
    content = (stage_folder / "metrics/sets.csv").read_bytes().decode()
    assert content.splitlines()[0] == "set,kind,n,pearson,spearman,map,mrr,accuracy,f1,oov"
    assert "\r" not in content
    rows = {row["set"]: row for row in csv.DictReader(content.splitlines())}
    assert rows["qa.wikiqa"]["pearson"] == rows["sts.2012.MSRpar"]["map"] == ""
    # 3 / √12, 1 / √6 and 0 against 1, 2 and 3
    assert float(rows["sts.2012.MSRpar"]["pearson"]) == pytest.approx(-99.9, abs=0.2)
    scores = read_table(stage_folder / "data/scores.parquet", SCORES)
    msrpar = [row["score"] for row in scores.to_pylist() if row["set"] == "sts.2012.MSRpar"]
    assert msrpar == pytest.approx([3 / 12**0.5, 1 / 6**0.5, 0])
    printed = capsys.readouterr().err
    assert "wikiqa.map" in printed
    assert "\x1b" not in printed
    assert "NaN" not in printed


def test_scores_on_device_and_cpu(stage_folder):
    save_encoder(stage_folder / "data/model", "lstmavg", LSTM)
    scores = []
    for device in ("cuda", "cpu"):
        change_parameters(stage_folder, device=device)
        with gpu() as records:
            evaluate.main()
        assert HAS_GPU or bool(records.read) == (device == "cuda")
        scores.append(read_table(stage_folder / "data/scores.parquet", SCORES)["score"].to_numpy())
    assert scores[1].any()
    np.testing.assert_allclose(*scores, atol=1e-5)


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_model_without_torch_is_scored_on_the_cpu(stage_folder, device):
    evaluate.main()
    expected = (stage_folder / "metrics/evaluate.json").read_bytes()
    change_parameters(stage_folder, device=device)
    evaluate.main()
    assert (stage_folder / "metrics/evaluate.json").read_bytes() == expected
