"""Stages and commands that are killed at random moments and run again: the bytes of an unbroken run, no other file."""

import os
import shutil
import signal
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest

from tests.helpers.forked import (
    STAGES,
    Limits,
    is_killed,
    permit,
    protect,
    refusal,
    run_content,
    skip_if_root_stays_privileged,
    start_stage,
    succeeds,
)
from tests.helpers.parameter_files import NAMES, read_parameters, write_parameters
from tests.helpers.repository import DVC, copy_repository, isolated_environment, run_git

pytestmark = [pytest.mark.faults, pytest.mark.slow, pytest.mark.nightly]

TASKS = ["sample-topics", "sample-tags"]
RUNS = [*((stage,) for stage in STAGES), *(("finetune", task) for task in TASKS), ("analyze", "length")]
SHORT = {"epochs": 2, "batch_size": 50, "dim": 30, "num_threads": 1}


def write_params(folder: Path, model: str) -> None:
    """Write parameter files for a short run of a model on the sample and a file of pairs."""
    params = read_parameters()
    rows = (f"The cat {i} sat.,A cat {i} sits.\n" for i in range(500))
    (folder / "pairs.csv").write_text("text1,text2\n" + "".join(rows))
    params["model"], params["corpus"] = model, ["sample", "./pairs.csv"]
    params["tokenize"]["max_pairs"] = 1500
    params["models"][model] |= {key: value for key, value in SHORT.items() if key in params["models"][model]}
    params["finetune"] |= {"epochs": 2, "tasks": TASKS}
    params["taggers"]["charagram"] |= {"epochs": 1, "dim": 20, "hidden_dim": 10}
    write_parameters(folder, params)


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory):
    """Return the folder of an unbroken run, and the seconds that each of its stages took."""
    folder = tmp_path_factory.mktemp("unbroken")
    write_params(folder, "gran")
    return folder, {run: succeeds(start_stage(folder, *run), folder) for run in RUNS}


def killed(folder, run, seconds, generator):
    """Kill a stage up to four times, and return how often it had not ended before."""
    moments = [generator.uniform(0, 1.1 * seconds) for _ in range(generator.choice([1, 2, 3, 4]))]
    return sum(is_killed(start_stage(folder, *run), folder, moment) for moment in moments)


def without_space(folder, run, seconds, generator):
    """Run a stage on a disk that becomes full, and return whether it was refused."""
    biggest = max(map(len, run_content(folder).values()))
    limits = Limits(round(biggest ** generator.uniform(0.65, 1)))
    return bool(refusal(start_stage(folder, *run, limits=limits), folder, 0, 1))


def without_permissions(folder, run, seconds, generator):
    """Run a stage that must not write, and perhaps not read a file, and return whether it was refused."""
    skip_if_root_stays_privileged()
    for name in generator.choice([["data"], ["metrics"], ["data", "metrics", ".checkpoints"]]):
        protect(folder / name)
    if generator.random() < 0.5:
        generator.choice([*(folder / "data").rglob("*")]).chmod(0)
    is_refused = bool(refusal(start_stage(folder, *run, limits=Limits(is_privileged=False)), folder, 0, 1))
    permit(folder)
    return is_refused


@pytest.mark.parametrize("trouble", [killed, without_space, without_permissions])
def test_stages_in_trouble(tries, unbroken, tmp_path, trouble):
    reference, seconds = unbroken
    expected, generator = run_content(reference), tries.generator(1)
    runs = [RUNS[number % len(RUNS)] for number in range(tries.count(4))]
    if trouble is killed:
        runs = generator.choices(RUNS, [*seconds.values()], k=tries.count(5))
    stopped = 0
    for number, run in enumerate(runs):
        folder = shutil.copytree(reference, tmp_path / str(number))
        stopped += trouble(folder, run, seconds[run], generator)
        succeeds(start_stage(folder, *run), folder)
        assert run_content(folder) == expected, run
        shutil.rmtree(folder)
    tries.report(runs=len(runs), **{"kills" if trouble is killed else "refused": stopped}, wrong_bytes=0)


def dvc(folder: Path) -> "subprocess.Popen[str]":
    environment = isolated_environment(folder.parent / "cache")
    with (folder.parent / "log").open("w") as log:
        command = [*DVC, "repro", "--quiet"]
        return subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=log, start_new_session=True)


def test_killed_dvc_repro(tries, unbroken, tmp_path):
    reference, seconds = unbroken
    stages = run_content(reference)
    others = ("/finetune/", "/analysis/")
    expected = {name: content for name, content in stages.items() if not any(each in name for each in others)}
    generator, kills = tries.generator(2), 0
    clone = tmp_path / "clone"
    clone.mkdir()
    copy_repository(clone)
    shutil.rmtree(clone / "metrics")
    for name in (*NAMES, "pairs.csv"):
        shutil.copy(reference / name, clone / name)
    run_git(clone, "add", "--all")
    run_git(clone, "commit", "--quiet", "--message=short")
    locks = set()
    for number in range(tries.count(1)):
        folder = tmp_path / str(number) / "clone"
        shutil.copytree(clone, folder)
        process = dvc(folder)
        with suppress(subprocess.TimeoutExpired):
            process.wait(generator.uniform(3, 3 + 0.7 * sum(seconds.values())))
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)  # with the stage that it runs
            process.wait()
            kills += 1
        assert dvc(folder).wait() == 0, (folder.parent / "log").read_text()
        assert run_content(folder) == expected
        locks.add((folder / "dvc.lock").read_bytes())
        shutil.rmtree(folder.parent)
    assert len(locks) == 1
    tries.report(kills=kills, clones=tries.count(1), wrong_bytes=0)
