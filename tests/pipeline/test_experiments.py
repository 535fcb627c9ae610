"""The pipeline in a fresh clone of the repository, run by dvc."""

import csv
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.repository import DVC, copy_repository, isolated_environment

STAGES = ["inputs", "download", "tokenize", "vocabulary", "teach", "train", "evaluate"]  # in this order
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
    environment = isolated_environment(tmp_path / "cache")

    def run_command(*command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(command, cwd=clone, env=environment, capture_output=True, text=True)

    return run_command


def numbers(tree: dict[str, Any]) -> Iterator[Any]:
    for value in tree.values():
        if isinstance(value, dict):
            yield from numbers(value)
        else:
            yield value


def test_order_of_stages(run):
    done = run(*DVC, "repro", "--all-pipelines", "--dry", "--force")
    assert done.returncode == 0, done.stderr
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
    assert len(header) < 105


@pytest.mark.slow
def test_experiment_in_fresh_clone(clone, run):
    done = run(*DVC, "exp", "run", "-S", "models.yaml:avg.epochs=1", "-S", "models.yaml:avg.dim=20")
    assert done.returncode == 0, done.stderr
    metrics = list(numbers(json.loads((clone / "metrics/evaluate.json").read_text())))
    assert len(metrics) >= 4
    assert all(isinstance(value, int | float) for value in metrics)
    tables = {file.name: file.read_text().splitlines() for file in (clone / "metrics").glob("*.csv")}
    assert tables.keys() == CURVES_AND_TABLES
    assert all(len(lines) > 1 for lines in tables.values())
    second = run(*DVC, "repro")
    assert [line for line in second.stdout.splitlines() if "Running stage" in line] == ["Running stage 'inputs':"]


def test_code_of_clone(clone, run):
    done = run("python", "-c", "import pipeline, paraphrastic; print(paraphrastic.__file__)")
    assert Path(done.stdout.strip()) == clone / "src/paraphrastic/__init__.py"
