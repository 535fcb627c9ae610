"""`paraphrastic papers run`, killed at random moments, with its workers or alone: the same command goes on."""

import json
import shutil
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest

from tests.helpers.small_project import dvc, ended_workers, kill_workers, make_project, papers, start_papers, stored

pytestmark = [pytest.mark.faults, pytest.mark.slow, pytest.mark.nightly]

ROWS = [
    '{ label = "short", model = "avg", seeds = [1, 2] }',
    '{ label = "long", model = "avg", options = { epochs = 5 } }',
    '{ label = "charcnn", model = "charcnn", options = { epochs = 1 } }',
]
SCORES = [1.4, 1.4, 1.4, 2.4]
SECONDS = 25  # of an unbroken run


@pytest.fixture
def folder(tmp_path):
    """Return the folder of a repository; its workers end with the test."""
    with ended_workers(tmp_path / "clone") as folder:
        yield folder


def is_killed(folder: Path, seconds: float, with_workers: bool) -> bool:
    """Start the command, kill it after some seconds, and return whether it did not end before."""
    process = start_papers(folder, "run", "first", "--jobs", "2")
    with suppress(subprocess.TimeoutExpired):
        process.wait(seconds)
    killed = process.poll() is None
    process.kill()
    process.communicate()
    if with_workers:
        kill_workers(folder)
    return killed


def test_killed_papers(tries, folder):
    make_project(folder, first=ROWS)
    generator, kills = tries.generator(5), 0
    results = folder / "experiments/results"
    for _ in range(tries.count(1)):
        for _ in range(generator.choice([1, 2])):
            kills += is_killed(folder, generator.uniform(0.5, SECONDS), with_workers=generator.random() < 0.7)
            assert all(json.loads(file.read_text()) for file in results.glob("*"))
        done = papers(folder, "run", "first", "--jobs", "2")
        assert done.returncode == 0, done.stderr
        assert sorted(stored(folder).values()) == SCORES
        assert not list((folder / ".dvc/tmp/exps").glob("tmp*"))
        shutil.rmtree(results)
        dvc(folder, "exp", "remove", "--all-commits")
    tries.report(kills=kills, rounds=tries.count(1), wrong_results=0)
