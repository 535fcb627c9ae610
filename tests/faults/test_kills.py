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
    printed,
    refusal,
    run_content,
    skip_if_root_stays_privileged,
    start_stage,
    succeeds,
)
from tests.helpers.parameter_files import NAMES, read_parameters, write_parameters
from tests.helpers.permissions import permit, protect
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


def test_killed_stages(tries, unbroken, tmp_path):
    reference, seconds = unbroken
    expected, generator = run_content(reference), tries.generator(1)
    kills = runs = wrong = 0
    names = generator.choices(RUNS, [seconds[run] for run in RUNS], k=tries.count(5))
    for number, run in enumerate(names):
        folder = tmp_path / str(number)
        shutil.copytree(reference, folder)
        for _ in range(generator.choice([1, 2, 3, 4])):
            kills += is_killed(start_stage(folder, *run), folder, generator.uniform(0, 1.1 * seconds[run]))
        succeeds(start_stage(folder, *run), folder)
        runs += 1
        wrong += run_content(folder) != expected
        assert sorted(run_content(folder)) == sorted(expected)
        assert not wrong, run
        shutil.rmtree(folder)
    tries.report(kills=kills, runs=runs, wrong_bytes=wrong)


def test_full_disk(tries, unbroken, tmp_path):
    reference, _ = unbroken
    expected, generator, failed = run_content(reference), tries.generator(3), 0
    biggest = max(map(len, expected.values()))
    for number in range(tries.count(4)):
        run = RUNS[number % len(RUNS)] if number < len(RUNS) else generator.choice(RUNS)
        folder = tmp_path / str(number)
        shutil.copytree(reference, folder)
        process = start_stage(folder, *run, limits=Limits(round(biggest ** generator.uniform(0.65, 1))))
        process.join()
        assert process.exitcode in (0, 1)
        if process.exitcode:
            refusal(folder)
            failed += 1
        succeeds(start_stage(folder, *run), folder)
        assert run_content(folder) == expected, run
        shutil.rmtree(folder)
    tries.report(runs=tries.count(4), refused=failed, tracebacks=0, wrong_bytes=0)


def test_missing_permissions(tries, unbroken, tmp_path):
    skip_if_root_stays_privileged()
    reference, _ = unbroken
    expected, generator, refused = run_content(reference), tries.generator(4), 0
    for number in range(tries.count(4)):
        run = generator.choice(RUNS)
        folder = tmp_path / str(number)
        shutil.copytree(reference, folder)
        for name in generator.choice([["data"], ["metrics"], ["data", "metrics", ".checkpoints"]]):
            protect(folder / name)
        if generator.random() < 0.5:
            generator.choice([*(folder / "data").rglob("*")]).chmod(0)
        process = start_stage(folder, *run, limits=Limits(is_privileged=False))
        process.join()
        assert process.exitcode in (0, 1), printed(folder)
        if process.exitcode:
            refusal(folder)
            refused += 1
        permit(folder)
        succeeds(start_stage(folder, *run), folder)
        assert run_content(folder) == expected, run
        shutil.rmtree(folder)
    tries.report(runs=tries.count(4), refused=refused, tracebacks=0, wrong_bytes=0)


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
