"""The pipeline in a fresh clone of the repository, run by dvc."""

import csv
import json
from functools import partial
from pathlib import Path

import pandas as pd
import pytest

from tests.helpers import repository
from tests.helpers.forked import STAGES
from tests.helpers.repository import DVC, copy_repository, isolated_environment

CURVES_AND_TABLES = {"corpus.csv", "loss.csv", "selection.csv", "sets.csv"}


@pytest.fixture
def clone(tmp_path):
    folder = tmp_path / "clone"
    folder.mkdir()
    copy_repository(folder)
    return folder


@pytest.fixture
def run(clone, tmp_path):
    """Return a function that runs a command in the clone."""
    return partial(repository.run, cwd=clone, env=isolated_environment(tmp_path / "cache"))


def test_order_of_stages(run):
    done = run(*DVC, "repro", "--all-pipelines", "--dry", "--force", check=True)
    stages = [line.split("'")[1] for line in done.stdout.splitlines() if line.startswith("Running stage")]
    order = [stages.index(stage) for stage in STAGES]
    assert order == sorted(order)
    finetune = [stage for stage in stages if "finetune@" in stage]
    analyses = [stage for stage in stages if "analyze@" in stage]
    assert min(len(finetune), len(analyses)) >= 2
    assert len(stages) == len(STAGES) + len(finetune) + len(analyses)
    assert min(map(stages.index, finetune)) > stages.index("train")
    assert min(map(stages.index, analyses)) > stages.index("evaluate")


def test_columns_of_dvc_exp_show(run):
    header, *_ = csv.reader(run(*DVC, "exp", "show", "--csv").stdout.splitlines())
    assert {"corpus", "avg.dim", "finetune/params.yaml", "finetune/taggers.yaml"} <= {*header}
    assert not {"init", "tasks", "tagger", "charagram.dim", "analyses", "analyses.0"} & {*header}
    assert len(header) <= 104


@pytest.mark.slow
def test_experiment_in_fresh_clone(clone, run):
    run(*DVC, "exp", "run", "-S", "models.yaml:avg.epochs=1", "-S", "models.yaml:avg.dim=20", check=True)
    metrics = pd.json_normalize(json.loads((clone / "metrics/evaluate.json").read_text()))
    assert metrics.shape[1] >= 4
    assert all(map(pd.api.types.is_numeric_dtype, metrics.dtypes))
    tables = {file.name: file.read_text().splitlines() for file in (clone / "metrics").glob("*.csv")}
    assert tables.keys() == CURVES_AND_TABLES
    assert all(len(lines) > 1 for lines in tables.values())
    second = run(*DVC, "repro")
    assert [line for line in second.stdout.splitlines() if "Running stage" in line] == ["Running stage 'inputs':"]


def test_code_of_clone(clone, run):
    done = run("python", "-c", "import pipeline, paraphrastic; print(paraphrastic.__file__)")
    assert Path(done.stdout.strip()) == clone / "src/paraphrastic/__init__.py"
