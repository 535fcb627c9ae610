"""The stage `train`: which sets select the epoch, and that the result names them."""

import json

import pyarrow as pa
import pytest

import paraphrastic
import pipeline.train as stage
from paraphrastic.base.parameters import load_params
from paraphrastic.training import train_model as training
from tests.helpers.repository import ROOT
from tests.helpers.training_tables import write_tables


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Runs the stage for one epoch on a few pairs; returns the content of the model's config.json."""
    params = load_params(ROOT / "params.yaml")
    monkeypatch.chdir(tmp_path)
    write_tables(tmp_path, pa.array([f"sentence {n}" for n in range(20)]))

    def run(model, select, **loss):
        train = params.train.model_copy(update={"select": select, "device": "cpu"} | loss)
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


def test_result_names_the_loss(run):
    assert "loss" not in run("avg", "none")
    written = run("avg", "none", loss="infonce", loss_options={"temperature": 0.5})["loss"]
    assert written == paraphrastic.load(stage.MODEL).loss == {"name": "infonce", "temperature": 0.5}
    smaller = run("avg", "none", loss_options={"margin": 0.1})  # than the margin of the model's block
    assert smaller["loss"] == {"name": "margin", "margin": 0.1, "negatives": "max"}


def test_checkpoint_outlives_curves_that_cannot_be_written(run, monkeypatch):
    monkeypatch.setattr(training, "CHECKPOINT_SECONDS", 0.0)
    stage.LOSS.mkdir(parents=True)
    with pytest.raises(OSError, match=r"loss\.csv"):
        run("avg", "none")
    assert [*stage.CHECKPOINTS.rglob("*.pt")]
    stage.LOSS.rmdir()
    run("avg", "none")
    assert len(stage.LOSS.read_text().splitlines()) == 2
    assert not [*stage.CHECKPOINTS.iterdir()]
