"""A small DVC repository with parameters and metrics, on which tests report."""

import json
import re
import sys
from collections.abc import Iterable
from hashlib import md5
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from tests.helpers.recorded_results import commit, make_repository
from tests.helpers.repository import ROOT, run_git

REPORT = [sys.executable, ROOT / ".ci/report.py"]
_spec = spec_from_file_location("report", REPORT[1])
_module = module_from_spec(_spec)
_spec.loader.exec_module(_module)
branch_report = _module.report
DVC_YAML = """
stages:
  train:
    cmd: "true"
    deps: [src/code.py]
    params: [model, seed, {models.yaml: ["${model}"]}]
    outs: [data/model]
  evaluate:
    cmd: "true"
    deps: [data/model]
    metrics: [metrics/evaluate.json: {cache: false}]
    outs: [metrics/sets.csv: {cache: false}]
"""
PARAMS = """
model: avg   # the entry to train
seed: 1
"""
OPTIONS = """
avg: {margin: 0.6, orders: [2, 3], vectors: }
gran: {margin: 0.4, max_grad_norm: 1.0}
"""
METRICS: dict[str, Any] = {"sample": {"sts": {"mean": 60.2, "sets": 5}, "qa": {"map": 76.86}, "words": 38.5}}
SETS = """set,kind,n,pearson,spearman,map,oov
sample.roles,similarity,400,41.05,42.94,,1.44
sample.typos,similarity,400,55.76,54.47,,14.58
sample.qa,ranking,687,,,76.86,4.81
"""


def write_project(
    folder: Path, params: str = PARAMS, metrics: dict[str, Any] = METRICS, sets: str = SETS, options: str = OPTIONS
) -> None:
    """Write the files that the report compares, as after `dvc repro`."""
    (folder / "models.yaml").write_text(options)
    (folder / "metrics").mkdir(exist_ok=True)
    (folder / "params.yaml").write_text(params)
    (folder / "metrics/evaluate.json").write_text(json.dumps(metrics))
    (folder / "metrics/sets.csv").write_text(sets)
    write_lock(folder)


def write_lock(folder: Path) -> None:
    """Write the lock file of the parameters and metrics in `folder`; JSON is YAML."""
    params, options = (YAML(typ="safe").load(folder / name) for name in ("params.yaml", "models.yaml"))
    code, *outs = [
        {"path": path, "hash": "md5", "md5": md5((folder / path).read_bytes()).hexdigest()}
        for path in ("src/code.py", "metrics/evaluate.json", "metrics/sets.csv")
    ]
    used = {"params.yaml": params, "models.yaml": {params["model"]: options[params["model"]]}}
    stages = {"train": {"cmd": "true", "deps": [code], "params": used}, "evaluate": {"cmd": "true", "outs": outs}}
    (folder / "dvc.lock").write_text(json.dumps({"schema": "2.0", "stages": stages}))


def write_worse_project(folder: Path) -> None:
    """Write a larger margin and the lower scores that it led to."""
    metrics = {"sample": METRICS["sample"] | {"sts": {"mean": 44.2, "sets": 5}}}
    sets = SETS.replace("41.05,42.94", "9.05,42.50")
    write_project(folder, PARAMS, metrics, sets, OPTIONS.replace("margin: 0.6", "margin: 0.9"))


def create_project(folder: Path) -> None:
    """Create the repository in `folder`: one commit on `main`, and the new branch `change` checked out."""
    make_repository(folder)
    (folder / ".dvc/config").write_text("[core]\n    analytics = false\n    autostage = true\n")
    (folder / "dvc.yaml").write_text(DVC_YAML)
    (folder / "src").mkdir()
    (folder / "src/code.py").touch()
    write_project(folder)
    commit(folder, "first")
    run_git(folder, "switch", "--quiet", "--create", "change")


def report_lines(base: str = "main") -> list[str]:
    """Return the lines of the report on the branch."""
    return branch_report(base).splitlines()


def rows_of(lines: Iterable[str]) -> list[str]:
    """Return the rows of tables without their heads."""
    return [
        line
        for line in lines
        if line.startswith("| ") and not re.match(r"\| (metric|set|analysis|parameter|---)", line)
    ]
