"""The folder of a training run's checkpoint: a run continues only from a state of the same run."""

import pytest

from paraphrastic.base.files import run_name
from paraphrastic.base.parameters import load_params
from paraphrastic.training import train_model as training
from pipeline.stage import CHECKPOINTS
from pipeline.train import TABLES
from tests.helpers.repository import ROOT


@pytest.fixture
def params(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return load_params(ROOT / "params.yaml")


def checkpoint_folder(params, device):
    return CHECKPOINTS / run_name(training.run_digests(params, device, TABLES))


def with_option(params, model, **options):
    return params.model_copy(update={"models": params.models | {model: params.models[model] | options}})


def test_folder_of_equal_runs_and_of_other_parameters_of_other_stages(params):
    folder = checkpoint_folder(params, "cpu")
    assert folder.parent == CHECKPOINTS
    others = [params.model_copy(update={name: {}}) for name in ("finetune", "taggers")]
    for other in (params.model_copy(), with_option(params, "proj", dim=20), *others):
        assert checkpoint_folder(other, "cpu") == folder


@pytest.mark.parametrize(
    "change",
    [
        lambda params: params.model_copy(update={"seed": 2}),
        lambda params: params.model_copy(update={"model": "proj"}),
        lambda params: params.model_copy(update={"train": params.train.model_copy(update={"select": "none"})}),
        lambda params: with_option(params, "avg", dim=20),
    ],
    ids=["seed", "model", "train", "option of the model"],
)
def test_folder_after_a_changed_parameter(params, change):
    assert checkpoint_folder(change(params), "cpu") != checkpoint_folder(params, "cpu")


def test_other_device(params):
    assert checkpoint_folder(params, "cuda") != checkpoint_folder(params, "cpu")


@pytest.mark.parametrize(
    ("folder", "name"), [*((folder, "table.parquet") for folder in TABLES), (TABLES.benchmarks, "select.txt")], ids=str
)
def test_changed_data(params, tmp_path, folder, name):
    before = checkpoint_folder(params, "cpu")
    (tmp_path / folder).mkdir(parents=True)
    (tmp_path / folder / name).write_bytes(b"changed")
    assert checkpoint_folder(params, "cpu") != before


def test_changed_file_of_vectors(params, tmp_path):
    folders = set()
    for text in ("1 2\na 1 2\n", "1 2\na 1 3\n"):
        (tmp_path / "vectors.txt").write_text(text)
        folders.add(checkpoint_folder(with_option(params, "avg", vectors="vectors.txt"), "cpu"))
    assert len(folders) == 2
