"""The stage `finetune`: the files that it writes, and parameters that it refuses."""

import csv
import errno
import json
import re
from typing import Any
from unittest.mock import Mock

import pytest

from paraphrastic.base.errors import ModelError, ParameterError
from paraphrastic.base.parameters import load_params
from paraphrastic.base.tables import PREDICTIONS, read_table
from paraphrastic.finetuning.task_trainers import TaskRun
from paraphrastic.finetuning.tasks import SPLITS
from paraphrastic.training.trainer import Trainer
from pipeline import finetune
from tests.helpers.parameter_files import change_parameters, copy_parameters
from tests.helpers.pretended_device import HAS_GPU, gpu
from tests.helpers.repository import ROOT
from tests.helpers.small_models import save_baseline
from tests.helpers.task_tables import write_tasks
from tests.helpers.toy_training import watch

ENTAILMENT = [("sample.entailment", split, n, n + 1, n % 3) for split in SPLITS for n in range(30)]
PARAPHRASE = [("sample.paraphrase", split, n, n + 1, n % 2) for split in SPLITS for n in range(30)]
TAGS = [("sample.tags", split, n, word, word.upper(), 0, "root") for split in SPLITS for n, word in enumerate("abab")]
LEARNERS = [("sample-paraphrase", "avg"), ("sample-paraphrase", "ldc"), ("sample-tags", "avg")]
learners = pytest.mark.parametrize(("task", "model"), LEARNERS)
SMALL = {"dim": 8, "epochs": 2, "filters_per_width": 4, "num_threads": 1}


@pytest.fixture
def run_stage(tmp_path, monkeypatch):
    """Return a function that runs the stage on a task with some parameters changed, and returns what it writes."""
    monkeypatch.chdir(tmp_path)
    write_tasks(tmp_path / "data/benchmarks", labelled_pairs=ENTAILMENT + PARAPHRASE, tagged_tokens=TAGS)

    def run(task: str, **changes: Any) -> dict[str, Any]:
        copy_parameters(tmp_path, **SMALL)
        change_parameters(tmp_path, "params.yaml", "finetune/params.yaml", **changes)
        finetune.main(task)
        return json.loads((tmp_path / f"metrics/finetune/{task}.json").read_text())["finetune"][task]

    return run


@pytest.mark.parametrize("model", ["avg", "ldc"])
def test_metrics_of_both_sets_and_epoch(run_stage, model, capsys):
    metrics = run_stage("sample-paraphrase", model=model)
    assert metrics.keys() == {"epoch", "dev", "test"}
    assert metrics["dev"].keys() == metrics["test"].keys() == {"accuracy", "f1"}
    assert 1 <= metrics["epoch"] <= 2
    test, dev = (" ".join(f"{name}={value}" for name, value in metrics[part].items()) for part in ("test", "dev"))
    assert capsys.readouterr().err == f"sample-paraphrase, epoch {metrics['epoch']}: test {test}; dev {dev}\n"


@learners
def test_curve_of_the_score_on_the_development_set(run_stage, tmp_path, task, model):
    metrics = run_stage(task, model=model)
    header, *points = csv.reader((tmp_path / f"metrics/finetune/{task}.csv").read_text().splitlines())
    assert header == ["epoch", "score"]
    assert [epoch for epoch, _ in points] == ["1", "2"]
    best = max(points, key=lambda point: float(point[1]))
    assert best == [str(metrics["epoch"]), f"{metrics['dev']['accuracy']:.2f}"]


@learners
def test_predictions_of_both_sets(run_stage, tmp_path, task, model):
    metrics = run_stage(task, model=model)
    table = read_table(tmp_path / f"data/predictions/{task}.parquet", PREDICTIONS).to_pandas()
    correct = 100 * (table["gold"] == table["predicted"]).groupby(table["split"]).mean()
    assert correct.to_dict() == pytest.approx({part: metrics[part]["accuracy"] for part in ("dev", "test")}, abs=0.01)


@learners
def test_metrics_on_device_and_cpu(run_stage, task, model):
    with gpu() as records:
        on_device, on_cpu = (run_stage(task, model=model, device=device) for device in ("cuda", "cpu"))
    assert on_device.keys() == on_cpu.keys()
    for part in ("dev", "test"):
        assert on_device[part] == pytest.approx(on_cpu[part], abs=4)  # the percentage of one row is 3.3
    assert HAS_GPU or records.read


@learners
def test_curve_after_interruption(run_stage, tmp_path, monkeypatch, task, model):
    run_stage(task, model=model)
    uninterrupted = (tmp_path / f"metrics/finetune/{task}.csv").read_bytes()

    def interrupt(trainer: Trainer) -> None:
        if trainer.step == trainer.steps:  # the checkpoint is of the step before and has the score of the first epoch
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(finetune, "TaskRun", lambda seed, checkpoint, *_: TaskRun(seed, checkpoint, 0, watch(interrupt)))
        with pytest.raises(KeyboardInterrupt):
            run_stage(task, model=model)
    assert [*(tmp_path / finetune.CHECKPOINTS).rglob("*.pt")]
    run_stage(task, model=model)
    assert (tmp_path / f"metrics/finetune/{task}.csv").read_bytes() == uninterrupted


def test_interrupted_run_does_not_go_on_with_another_file_of_vectors(run_stage, tmp_path, monkeypatch):
    params, steps = load_params(ROOT / "params.yaml"), []
    params.models["avg"].update(dim=8, epochs=2, vectors="vectors.txt")

    def interrupt(trainer: Trainer) -> None:
        steps.append(trainer.step)
        if trainer.step == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(finetune, "load_params", lambda: params)
    monkeypatch.setattr(finetune, "TaskRun", lambda seed, saved, *_: TaskRun(seed, saved, 0, watch(interrupt)))
    for vector in ("1 2 3 4 5 6 7 8", "1 2 3 4 5 6 7 8", "8 7 6 5 4 3 2 1"):
        (tmp_path / "vectors.txt").write_text(f"word {vector}\n")
        with pytest.raises(KeyboardInterrupt):
            run_stage("sample-entailment")
    assert steps == [1, 2, 2, 1, 2]


def test_checkpoint_after_run_and_after_a_full_disk(run_stage, tmp_path, monkeypatch):
    monkeypatch.setattr(finetune, "CHECKPOINT_SECONDS", 0)
    run_stage("sample-entailment")
    folder = tmp_path / finetune.CHECKPOINTS
    assert folder.is_dir()
    assert not [file for file in folder.rglob("*") if file.is_file()]
    monkeypatch.setattr(finetune, "write_curve", Mock(side_effect=OSError(errno.ENOSPC, "No space left on device")))
    with pytest.raises(OSError, match="No space left"):
        run_stage("sample-entailment")
    assert [*folder.rglob("*.pt")]


def test_tagging_task_with_two_models(run_stage):
    metrics = [run_stage("sample-tags", model=model) for model in ("overlap", "avg")]
    assert metrics[0] == metrics[1]
    assert metrics[0]["dev"].keys() == {"accuracy"}


def test_other_model_in_data_model(run_stage, tmp_path):
    save_baseline(tmp_path / "data/model", "overlap")
    with pytest.raises(ModelError, match="data/model holds 'overlap', but model = 'avg' is chosen"):
        run_stage("sample-paraphrase", init="universal")


@pytest.mark.parametrize(
    ("task", "changes", "message"),
    [
        (
            "sample-entailmnt",
            {},
            "finetune/params.yaml: tasks: unknown supervised task 'sample-entailmnt': did you mean 'sample-entailment'",
        ),
        (
            "sample-tagz",
            {},
            "finetune/params.yaml: tasks: unknown supervised task 'sample-tagz': did you mean 'sample-tags'",
        ),
        ("sst", {}, "; others are available after `benchmarks: open` in params.yaml and `dvc repro`"),
        ("sample-entailment", {"tagger": "charagran"}, "finetune/params.yaml: tagger: unknown tagger 'charagran'"),
        ("sample-paraphrase", {"init": "univresal"}, "finetune/params.yaml: init = 'univresal'"),
        ("sample-paraphrase", {"init": "universal"}, "data/model: no model here"),
    ],
)
def test_wrong_task_or_parameter(run_stage, task, changes, message):
    with pytest.raises((ParameterError, ModelError), match=re.escape(message)) as caught:
        run_stage(task, **changes)
    assert "\n" not in str(caught.value)
