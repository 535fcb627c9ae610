"""A repository with the experiments, parameters and records of this one, whose stages take no time.

`models.yaml:avg.epochs` is the number of seconds that `train` takes; a negative margin makes it fail. Each time that it
runs adds a letter to `LOG`.
"""

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil

from tests.helpers.command_line import MAIN, start_python
from tests.helpers.parameter_files import write_parameters
from tests.helpers.recorded_results import PARAMS as RECORDED
from tests.helpers.recorded_results import commit, make_repository, write_yaml
from tests.helpers.repository import DVC, ROOT, isolated_environment, run, run_git

_OPTIONS = {"epochs": 0, "margin": 0.4}
PARAMS = {
    **RECORDED,
    "models": {
        "avg": {"dim": 300, "vectors": None, "num_threads": 2, **_OPTIONS},
        "charcnn": {"filters": {2: 175, 3: 175}, **_OPTIONS},
    },
}
HEADER = {"paper": '"acl2017"', "table": '"T1"', "title": '"Small"', "caption": '"Small models"'}
HEADER |= {
    "finding": '["It holds.", "Not here."]',
    "corpus": '{ open = ["sample"], paper = ["sample"] }',
    "columns": '{ sts = "sts.mean" }',
}
_STAGES = {
    "tokenize": {
        "cmd": "python stage.py tokenize",
        "params": ["corpus", "benchmarks", "tokenize", "vocabulary"],
        "outs": ["data/corpus", "data/benchmarks"],
    },
    "train": {
        "cmd": "python stage.py train",
        "deps": ["data/corpus"],
        "params": ["model", "seed", "train", {"models.yaml": ["${model}"]}],
        "outs": ["data/model"],
    },
    "evaluate": {
        "cmd": "python stage.py evaluate",
        "deps": ["data/benchmarks", "data/model"],
        "metrics": [{"metrics/evaluate.json": {"cache": False}}],
        "outs": [{"metrics/sets.csv": {"cache": False}}],
    },
}
_STAGE = """
import json, os, sys, time
from pathlib import Path
from ruamel.yaml import YAML

params = YAML(typ="safe", pure=True).load(Path("params.yaml"))
block = YAML(typ="safe", pure=True).load(Path("models.yaml"))[params["model"]]
for folder in ("data", "metrics"):
    Path(folder).mkdir(exist_ok=True)
if sys.argv[1] == "tokenize":
    for name in ("corpus", "benchmarks"):
        Path("data", name).write_text(json.dumps(params[name]))
if sys.argv[1] == "train":
    with Path(os.environ["DVC_ROOT"], "LOG").open("a") as log:
        log.write("x")
    time.sleep(block["epochs"])
    if block["margin"] < 0:
        sys.exit("the margin is negative")
    Path("data/model").write_text(json.dumps([block, params["seed"]]))
if sys.argv[1] == "evaluate":
    block, seed = json.loads(Path("data/model").read_text())
    score = seed + block["margin"]
    Path("metrics/evaluate.json").write_text(json.dumps({"sts": {"mean": score}}))
    Path("metrics/sets.csv").write_text(f"set,n,pearson\\nsts.2012.MSRpar,750,{score}\\n")
"""


def make_project(folder: Path, **experiments: list[str]) -> Path:
    """Return a repository with experiments, each given by its rows as inline tables of TOML."""
    make_repository(folder)
    write_parameters(folder, PARAMS)
    write_yaml(folder / "dvc.yaml", {"stages": _STAGES})
    (folder / "stage.py").write_text(_STAGE)
    (folder / "pyproject.toml").write_text('[project]\nversion = "0.3.0"\n')
    (folder / ".gitignore").write_text("/data/\n/LOG\n")
    (folder / "experiments").mkdir()
    (folder / "experiments/presets.toml").write_text("")
    for name, rows in experiments.items():
        declare(folder, name, *rows)
    commit(folder)
    return folder


def declare(folder: Path, name: str, *rows: str, **header: str) -> None:
    """Declare an experiment; rows and values of the header are TOML, and keys with empty values are left out."""
    lines = [f"{key} = {value}" for key, value in (HEADER | header).items() if value]
    text = "\n".join([*lines, f"rows = [{', '.join(rows)}]", ""])
    (folder / "experiments" / f"{name}.toml").write_text(text, encoding="utf-8")


def papers(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run `paraphrastic papers` in a repository to its end."""
    process = start_papers(folder, *arguments)
    stdout, stderr = process.communicate()
    return subprocess.CompletedProcess(arguments, process.returncode, stdout, stderr)


def start_papers(folder: Path, *arguments: str) -> "subprocess.Popen[str]":
    """Start `paraphrastic papers` in a repository."""
    options: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "start_new_session": True}
    environment = {**isolated_environment(folder.parent / "cache"), "PYTHONPATH": str(ROOT / "src")}
    return start_python(MAIN, "papers", *arguments, cwd=folder, env=environment, **options)


def experiment_file(folder: Path, name: str, path: str) -> str:
    """Return a file of an experiment."""
    refs = run_git(folder, "for-each-ref", "--format=%(refname)", "refs/exps").splitlines()
    (ref,) = [ref for ref in refs if ref.endswith(f"/{name}")]
    return run_git(folder, "show", f"{ref}:{path}")


def stored(folder: Path) -> dict[str, float]:
    """Return the stored scores by name of the experiment."""
    contents = {file.stem: json.loads(file.read_text()) for file in (folder / "experiments/results").glob("*.json")}
    return {
        f"{name}-s{seed}": result["values"]["sts.mean"]
        for name, content in contents.items()
        for seed, result in content["seeds"].items()
    }


def processes(folder: Path) -> list[psutil.Process]:
    """Return the processes of DVC's workers and of the stages that they run."""
    return [process for process in psutil.process_iter() if _is_in(folder, process)]


@contextmanager
def ended_workers(folder: Path) -> Iterator[Path]:
    """Yield the folder of a repository; its workers and their stages end with the block."""
    try:
        yield folder
    finally:
        kill_workers(folder)


def kill_workers(folder: Path) -> None:
    """Kill DVC's workers and the stages that they run."""
    for process in processes(folder):
        with suppress(psutil.NoSuchProcess):  # it ended by itself, or with another one
            process.kill()


def _is_in(folder: Path, process: psutil.Process) -> bool:
    try:
        return Path(process.cwd()).is_relative_to(folder)
    except psutil.Error:
        return False


def dvc(folder: Path, *arguments: str) -> str:
    """Run DVC in a repository, and return what it prints."""
    return run(*DVC, *arguments, cwd=folder, env=isolated_environment(folder.parent / "cache"), check=True).stdout
