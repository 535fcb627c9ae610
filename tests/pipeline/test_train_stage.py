"""The stage `train`: which sets select the epoch, and that the result names them."""

import json

import pyarrow as pa
import pytest

import paraphrastic
import pipeline.train as stage
from paraphrastic.parameters import load_params
from paraphrastic.tables import NGRAM_COUNTS, PAIRS, SENTENCES, WORD_COUNTS, write_table
from paraphrastic.vocabulary.counting import count_ngrams, count_words
from tests.helpers.benchmark_tables import write_benchmarks
from tests.helpers.repository import ROOT


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Runs the stage for one epoch on a few pairs; returns the content of the model's config.json."""
    params = load_params(ROOT / "params.yaml")
    monkeypatch.chdir(tmp_path)
    (write_benchmarks(stage.TABLES.benchmarks) / "select.txt").write_text("sts.2016\n")
    sentences = pa.table({"text": [f"sentence {n}" for n in range(20)]})
    pairs = pa.table({"left": range(10), "right": range(10, 20), "source": ["a"] * 10, "group": range(10)})
    write_table(sentences, stage.TABLES.corpus / "sentences.parquet", SENTENCES)
    write_table(pairs, stage.TABLES.corpus / "pairs.parquet", PAIRS)
    write_table(count_words(sentences["text"], 1), stage.TABLES.vocabulary / "words.parquet", WORD_COUNTS)
    write_table(count_ngrams(sentences["text"], [2], 1), stage.TABLES.vocabulary / "ngrams.parquet", NGRAM_COUNTS)

    def run(model, select):
        train = params.train.model_copy(update={"select": select, "device": "cpu"})
        models = params.models | {"avg": params.models["avg"] | {"dim": 4, "epochs": 1}}
        changed = params.model_copy(update={"model": model, "models": models, "train": train})
        monkeypatch.setattr(stage, "load_params", lambda: changed)
        stage.main()
        return json.loads((stage.MODEL / "config.json").read_text())

    return run


@pytest.mark.parametrize(
    ("select", "names"),
    [("oracle", ["sts.2012.MSRpar"]), ("test", ["sts.2016.headlines", "sts.2016.postediting"]), ("none", [])],
)
def test_result_names_the_sets_that_select_the_epoch(run, capsys, select, names):
    assert run("avg", select)["selection"] == names
    assert paraphrastic.load(stage.MODEL).selection == names
    line = f"sets that select the epoch: {', '.join(names)}\n"
    assert (line in capsys.readouterr().err) == bool(names)
    assert len(stage.SELECTION.read_text().splitlines()) == (2 if names else 1)


def test_no_epoch_is_selected_for_a_baseline(run, capsys):
    assert run("overlap", "oracle")["selection"] == []
    assert capsys.readouterr().err == ""
    assert len(stage.SELECTION.read_text().splitlines()) == 2
