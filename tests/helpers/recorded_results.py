"""A repository of git and DVC that holds results as the pipeline leaves them: parameters, metrics and lock files."""

import hashlib
import json
from collections.abc import Mapping
from functools import reduce
from operator import getitem
from pathlib import Path
from typing import Any

from dvc.repo import Repo
from ruamel.yaml import YAML

from paraphrastic.base.parameters import FILES, place
from paraphrastic.papers.plan import Run
from tests.helpers.parameter_files import write_parameters
from tests.helpers.repository import run_git

PARAMS: dict[str, Any] = {
    "model": "avg",
    "corpus": "sample",
    "benchmarks": "open",
    "seed": 1,
    "tokenize": {"drop_overlap": True},
    "vocabulary": {"min_count": 2},
    "train": {"device": "auto", "select": "test"},
    "models": {
        "avg": {"dim": 300, "vectors": None, "learning_rate": 1e-05, "num_threads": 1},
        "charcnn": {"dim": 300, "filters": {2: 175, 3: 175}},
        "overlap": {},
    },
    "finetune": {"tasks": ["sts"], "tagger": "charagram", "epochs": 10},
    "taggers": {"charagram": {"dim": 150}},
    "analyses": ["length"],
}
RUN = Run("avg", {"model": "avg", "corpus": ["sample"], "benchmarks": "open"}, 1)
VERSION = "0.3.0"
TASK_OPTIONS = [FILES["finetune"], FILES["taggers"]]


def make_repository(folder: Path) -> Path:
    """Return an empty repository of git and DVC."""
    folder.mkdir(exist_ok=True)
    run_git(folder, "init", "--quiet", "--initial-branch=main")
    Repo.init(str(folder)).close()
    return folder


def write_results(
    folder: Path, params: Mapping[str, Any] = PARAMS, score: float = 50.0, version: str = VERSION
) -> None:
    """Write a version, parameters, and the metrics of these parameters with their lock files."""
    texts = {
        "pyproject.toml": f'[project]\nversion = "{version}"\n',
        "metrics/evaluate.json": json.dumps({"sts": {"mean": score, "sets": 2}}) + "\n",
        "metrics/sets.csv": "set,n,pearson,spearman,oov\n"
        f"sts.2012.MSRpar,750,{score},1e-05,0.5\nwords.simlex,999,1,2.5,\n",
        "metrics/selection.csv": f"epoch,score\n1,20.0\n2,{score}\n",
        "metrics/finetune/sts.json": json.dumps({"finetune": {"sts": {"epoch": 3, "test": {"pearson": score}}}}) + "\n",
        "metrics/finetune/sts.csv": f"epoch,score\n0.5,{score}\n",
        "metrics/analysis/length.csv": f"length,neighbor,pearson\n≤ 4,200,{score}\n≥ 5,nan,3\n",
    }
    for path, text in texts.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    write_parameters(folder, params)
    texts |= {path: (folder / path).read_text() for path in TASK_OPTIONS}
    for path, stages in _lock_files(texts, params).items():
        write_yaml(folder / path, {"schema": "2.0", "stages": stages})


def commit(folder: Path, message: str = "results") -> str:
    """Commit all files of a repository and return the commit."""
    run_git(folder, "add", "--all")
    run_git(folder, "commit", "--quiet", "--allow-empty", f"--message={message}")
    return run_git(folder, "rev-parse", "HEAD")


def add_experiment(folder: Path, name: str, params: Mapping[str, Any] = PARAMS, **results: Any) -> None:
    """Add a DVC experiment on the last commit, with the results that `write_results` writes."""
    head = run_git(folder, "rev-parse", "HEAD")
    write_results(folder, params, **results)
    experiment = commit(folder, name)
    run_git(folder, "update-ref", f"refs/exps/{head[:2]}/{head[2:]}/{name}", experiment)
    run_git(folder, "reset", "--quiet", "--hard", head)


def write_yaml(path: Path, content: Mapping[str, Any]) -> None:
    """Write a YAML file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8") as file:
        YAML(typ="safe", pure=True).dump(dict(content), file)


def changed(params: Mapping[str, Any], key: str, value: Any) -> dict[str, Any]:
    """Return parameters in which a dotted key has another value."""
    name, _, rest = key.partition(".")
    return {**params, name: changed(params[name], rest, value) if rest else value}


def _lock_files(texts: Mapping[str, str], params: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    block = f"models.{params['model']}"
    data = {"data/corpus": "corpus", "data/benchmarks": "benchmarks", "data/model": json.dumps(params, sort_keys=True)}
    files = {**texts, **data}

    def stage(deps: list[str], keys: list[str], outs: list[str]) -> dict[str, Any]:
        digests = {path: hashlib.md5(files[path].encode()).hexdigest() for path in (*deps, *outs)}
        return {
            "cmd": "true",
            "deps": [{"path": "code.py", "md5": "0" * 32}, *({"path": path, "md5": digests[path]} for path in deps)],
            "params": _recorded(params, keys),
            "outs": [{"path": path, "md5": digests[path]} for path in outs],
        }

    task_outs = ["metrics/finetune/sts.json", "metrics/finetune/sts.csv"]
    return {
        "dvc.lock": {
            "tokenize": stage([], ["corpus", "benchmarks", "tokenize"], ["data/corpus", "data/benchmarks"]),
            "train": stage(
                ["data/corpus", "data/benchmarks"],
                ["model", block, "seed", "train", "vocabulary"],
                ["data/model", "metrics/selection.csv"],
            ),
            "evaluate": stage(["data/benchmarks", "data/model"], [], ["metrics/evaluate.json", "metrics/sets.csv"]),
        },
        "finetune/dvc.lock": {"finetune@sts": stage(["data/model", *TASK_OPTIONS], ["model", block], task_outs)},
        "analyze/dvc.lock": {"analyze@length": stage(["data/model"], [], ["metrics/analysis/length.csv"])},
    }


def _recorded(params: Mapping[str, Any], keys: list[str]) -> dict[str, dict[str, Any]]:
    """Return values as a lock file has them, by file and key."""
    values: dict[str, dict[str, Any]] = {}
    for key in keys:
        file, _, name = place(key).rpartition(":")
        values.setdefault(file or "params.yaml", {})[name] = reduce(getitem, key.split("."), params)
    return values
