"""Every command of the README, as it stands there, in a fresh copy of the repository, offline."""

import csv
import json
import re
import shlex
import subprocess
import time

import pytest
from dvc.utils.hydra import apply_overrides
from ruamel.yaml import YAML

from paraphrastic import models
from pipeline.params import load_params
from tests.repository import ROOT, commit_copy, settings

README = (ROOT / "README.md").read_text()
BLOCKS = [re.sub("^    ", "", block, flags=re.M) for block in re.findall(r"(?:^    .*\n|\n(?=    ))+", README, re.M)]
PYTHON = next(block for block in BLOCKS if "import paraphrastic" in block)
GITLAB = next(block for block in BLOCKS if "image:" in block)
SHELL = [line for block in BLOCKS if block not in (PYTHON, GITLAB) for line in block.splitlines() if line]
INLINE = re.findall(r"`((?:(?:dvc|paraphrastic|python|pip) |\.ci/run)[^`]*)`", README)

INSTALLS = {".ci/run", "pip install -e '.[dev]' && pytest", "pip install -e '.[external]'"}  # .ci/run is these
TASKS = "[sick-relatedness,sick-entailment,sst,sts,paraphrase-msrp,qa-qasent,qa-wikiqa,tags-ewt,tags-wsj]"
REPLACED = {
    "pip install -e . && ": "",
    "model=NAME": "model=avg",
    "=open": "=sample",
    TASKS: "[sts,sample-topics,sample-tags]",
    "[qa-qasent]": "[sample-qa]",
    "match=max,global'": "match=max'",
    " 'decompose=linear match=local window=1,2,3,4' 'decompose=rigid match=max' 'max_window=1,2,3,4,5'": "",
}
COMMANDS = [line for line in dict.fromkeys([*SHELL, *INLINE]) if line not in INSTALLS]

SMALL = {"dim": 16, "epochs": 1, "batch_size": 500, "num_threads": 1}  # of every model

PLACES = {"NAME": "lstm", "FOLDER": "folder"}  # in options
OPTIONS = re.findall(r"-S (?:'([^']+)'|([\w.-]+=[^\s`]+))", README)
OPTIONS += [("", option) for option in re.findall(r"`(models\.[\w.-]+=[^`]+)`", README)]


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """The repository after all commands, with `SMALL` models, and how each command ended."""
    folder, environment = tmp_path_factory.mktemp("clone"), settings(tmp_path_factory.mktemp("cache"))
    commit_copy(folder, environment)
    params = (folder / "params.yaml").read_text()
    for name, value in SMALL.items():
        params = re.sub(rf"\b{name}: \d+", f"{name}: {value}", params)
    (folder / "params.yaml").write_text(params)

    def run(command):
        shell = ["bash", "-o", "pipefail", "-c", command]
        return subprocess.run(shell, cwd=folder, env=environment, capture_output=True, text=True)

    ended = {}
    for command in COMMANDS:
        ended[command] = run(replaced(command))
        if command.endswith("dvc repro"):
            run("git commit --quiet -am results && git update-ref refs/remotes/origin/main main")
    ended[PYTHON] = run(f"python -c {shlex.quote(PYTHON)}")
    yield run, ended
    run("dvc queue stop --kill")


def replaced(command):
    for old, new in REPLACED.items():
        command = command.replace(old, new)
    return command


@pytest.mark.parametrize("command", [*COMMANDS, PYTHON])
def test_the_command_succeeds(ran, command):
    done = ran[1][command]
    assert done.returncode == 0, done.stderr[-2000:]


def test_what_is_installed_and_replaced_stands_in_the_readme():
    assert {*SHELL, *INLINE} >= INSTALLS
    assert all(old in README for old in REPLACED)


@pytest.mark.parametrize("option", dict.fromkeys(quoted or bare for quoted, bare in OPTIONS))
def test_the_option_is_a_parameter_and_its_value_is_taken(tmp_path, option):
    for place, name in PLACES.items():
        option = option.replace(place, name)
    key, _, value = option.partition("=")
    (tmp_path / "params.yaml").write_bytes((ROOT / "params.yaml").read_bytes())
    for each in value.split(",") if "[" not in value else [value]:
        apply_overrides(tmp_path / "params.yaml", [f"{key}={each}"])
        params = load_params(tmp_path / "params.yaml")
        chosen = key.split(".")[1] if key.startswith("models.") else params.model
        models.config_class(chosen)(**params.models[chosen])


def test_the_table_of_experiments_has_few_columns(ran):
    command = next(command for command in COMMANDS if command.startswith("dvc exp show"))
    header = next(csv.reader(ran[0](f"{command} --csv").stdout.splitlines()))
    metrics = [name for name in header if name.startswith("sample.")]
    assert "sample.sts.mean" in metrics
    assert len(metrics) <= 7
    others = {name for name in header[6:] if not name.startswith("finetune.")} - set(metrics)
    of_ldc = {"models.ldc.vectors", "models.ldc.match", "models.ldc.decompose"}
    assert others == {"model", "models.gran.vectors", "models.gran.rate"} | of_ldc


def test_both_experiments_are_in_each_plot_and_bars_are_readable(ran):
    done = ran[0]("dvc plots diff averages gated --json")
    plots = {name: plot for name, (plot,) in json.loads(done.stdout)["data"].items()}
    assert plots.keys() == {"metrics/loss.csv", "metrics/selection.csv", "metrics/sets.csv"}
    for plot in plots.values():
        rows = plot["content"]["data"]["values"]
        assert {row["rev"] for row in rows} == {"averages", "gated"}
    bars = plots["metrics/sets.csv"]["content"]
    assert bars["height"] == {"step": 8}  # each its room, however many sets
    assert bars["encoding"]["x"] == {"field": "pearson", "type": "quantitative", "title": "pearson"}  # from zero


def test_the_queue_ends_with_the_results_of_the_same_experiments_alone(ran):
    run, _ = ran
    run("dvc queue start -j 2")  # for what was queued last
    for _ in range(120):
        status = run("dvc queue status").stdout
        if not re.search("Queued|Running", status):
            break
        time.sleep(1)
    assert status.count("Success") == 4
    rows = list(csv.DictReader(run("dvc exp show --csv").stdout.splitlines()))
    means = {row["Experiment"]: row["sample.sts.mean"] for row in rows}
    assert means["averages"] in [row["sample.sts.mean"] for row in rows if row["Experiment"] not in ("", "averages")]


def test_the_lines_for_gitlab_are_valid_and_their_report_runs(ran, tmp_path):
    job = YAML(typ="safe").load(GITLAB)["test"]
    (tmp_path / "gitlab.yaml").write_text(GITLAB)
    check = ["check-jsonschema", "--builtin-schema", "vendor.gitlab-ci", str(tmp_path / "gitlab.yaml")]
    assert ran[0](shlex.join(check)).returncode == 0
    assert job["script"] == [".ci/run"]
    assert (ROOT / ".ci/run").stat().st_mode & 0o100
    reports = [line for line in job["after_script"] if "report.py" in line]
    assert ran[0](f"git fetch --quiet . main && {reports[0]}").returncode == 0
