"""Running experiments through DVC's queue, also from the embeddings of others; most stages take no time."""

import json
import re
import shlex
import signal
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import pytest
from ruamel.yaml import YAML

from paraphrastic.base.errors import ParameterError
from paraphrastic.export import Format, export
from paraphrastic.inference.model_folder import load
from paraphrastic.papers import running
from paraphrastic.papers.plan import expected
from paraphrastic.papers.project import Project
from paraphrastic.papers.queue import Queue
from paraphrastic.papers.results import Result
from paraphrastic.papers.running import StartVectors
from tests.helpers.recorded_results import RUN, add_experiment, changed, commit, make_repository, write_results
from tests.helpers.repository import copy_repository, run_git
from tests.helpers.small_project import (
    PARAMS,
    declare,
    dvc,
    ended_workers,
    experiment_file,
    kill_workers,
    make_project,
    papers,
    processes,
    start_papers,
    stored,
)

slow, nightly = pytest.mark.slow, pytest.mark.nightly
AVG = '{ label = "avg", model = "avg", seeds = [1, 2] }'
STARTED = replace(RUN, settings={**RUN.settings, "models.avg.dim": 10}, start=RUN)
LONG = '{ label = "long", model = "avg", options = { epochs = 600 } }'
SECONDS = 120  # that a state of the queue may take to come


@pytest.fixture
def folder(tmp_path):
    """Return the folder of a repository; its workers end with the test."""
    with ended_workers(tmp_path / "clone") as folder:
        yield folder


def names(folder: Path, *arguments: str) -> list[str]:
    """Return the names of the experiments that a command would run."""
    commands = papers(folder, "run", *arguments, "--dry").stdout.splitlines()
    return [words[words.index("--name") + 1] for words in map(shlex.split, commands)]


def wait_for(folder: Path, pattern: str) -> None:
    """Wait for a state of the queue that matches a regular expression."""
    wait_until(lambda: re.search(pattern, dvc(folder, "queue", "status")))


def wait_until(condition: Callable[[], object]) -> None:
    end = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < end
        time.sleep(1)


@pytest.fixture
def rounds(monkeypatch):
    """Return the names of the experiments that the queue is given each time; it runs none."""
    rounds = []
    monkeypatch.setattr(Queue, "run", lambda _, commands, jobs, on_end: (rounds.append(list(commands)), [])[1])
    return rounds


class FakeVectors(StartVectors):
    """Embeddings of the runs in `here`."""

    here: ClassVar[list[str]] = []
    exported: ClassVar[list[str]] = []

    def available(self, run):
        return run.name in self.here

    def export(self, run):
        self.exported.append(run.name)


@pytest.fixture
def vectors(monkeypatch):
    monkeypatch.setattr(running, "StartVectors", FakeVectors)
    monkeypatch.setattr(FakeVectors, "here", [])
    monkeypatch.setattr(FakeVectors, "exported", [])
    return FakeVectors


def test_run_whose_embeddings_are_not_here_is_repeated(folder, vectors):
    project = Project(make_project(folder))
    project.store.add(RUN, Result("0.3.0", {"sts.mean": 1.0}), expected(project.params, RUN))
    assert running.Runner(project).needed([RUN, STARTED]) == [STARTED, RUN]
    vectors.here.append(RUN.name)
    assert running.Runner(project).needed([RUN, STARTED]) == [STARTED]


def test_runs_that_start_from_others_come_after_them(folder, vectors, rounds):
    runner = running.Runner(Project(make_project(folder)))
    vectors.here.append(RUN.name)
    assert runner.run([STARTED, RUN], lambda _: None) == []
    assert rounds == [[RUN.name], [STARTED.name]]
    assert vectors.exported == [RUN.name]
    assert runner.command(STARTED)[-1] == f"models.yaml:avg.vectors={vectors(runner.project).path(RUN)}"


def test_run_whose_start_failed_is_not_run(folder, vectors, rounds):
    runner = running.Runner(Project(make_project(folder)))
    assert runner.run([STARTED, RUN], lambda _: None) == [STARTED.name]
    assert rounds == [[RUN.name]]


@slow
def test_seeds_at_the_same_time_and_again(folder):
    make_project(folder, first=[AVG], second=[AVG])
    (folder / "stage.py").write_text((folder / "stage.py").read_text() + "# a change of the user\n")
    before = run_git(folder, "status", "--short")
    expected = names(folder, "first", "second", "--jobs", "2")
    assert len(expected) == 2

    done = papers(folder, "run", "first", "second", "--jobs", "2")
    assert (done.returncode, done.stderr) == (0, "0 of 2 runs are here; 2 to run\n")
    assert stored(folder) == dict(zip(expected, [1.4, 2.4], strict=True))
    for name, score in stored(folder).items():
        assert json.loads(experiment_file(folder, name, "metrics/evaluate.json")) == {"sts": {"mean": score}}
    assert run_git(folder, "status", "--short") == f"{before}\n?? experiments/results/"
    assert run_git(folder, "stash", "list") == ""

    results = {file: file.read_bytes() for file in (folder / "experiments/results").iterdir()}
    assert names(folder, "first", "second") == []
    again = papers(folder, "run", "first", "--jobs", "2")
    assert again.stderr == "2 of 2 runs are here; 0 to run\n"
    assert {file: file.read_bytes() for file in (folder / "experiments/results").iterdir()} == results


@slow
@nightly
def test_vectors_and_mappings_on_the_data_of_the_papers(folder, tmp_path):
    charcnn = '{ label = "charcnn", model = "charcnn", options = { filters = { 2 = 5, 7 = 3 } } }'
    make_project(folder, first=['{ label = "avg", model = "avg" }', charcnn])
    smt = tmp_path / "cache/licensed/sts2013-smt"
    files = smt / "STS.input.SMT.txt", tmp_path / "it's paragram.txt", smt / "STS.gs.SMT.txt"
    for file in files:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    done = papers(folder, "run", "first", "--data", "paper", "--vectors", str(files[1]), "--jobs", "2")
    assert done.returncode == 0, done.stderr
    avg, charcnn = (
        YAML(typ="safe").load(experiment_file(folder, name, "models.yaml")) for name in sorted(stored(folder))
    )
    assert avg["avg"]["vectors"] == str(files[1])
    assert charcnn["charcnn"]["filters"] == {2: 5, 7: 3}
    assert names(folder, "first", "--data", "paper") == []
    assert len(names(folder, "first")) == 2


@slow
def test_experiments_of_a_user_count(folder):
    make_project(folder, first=[AVG])
    name, _ = names(folder, "first")
    dvc(folder, "exp", "run", "-S", "corpus=[sample]", "-S", "seed=2", "--name", "by-hand", "evaluate")
    assert names(folder, "first") == [name]
    assert stored(folder) == {}  # --dry stores nothing


@slow
@nightly
def test_one_experiment_fails(folder):
    bad = '{ label = "bad", model = "avg", options = { margin = -1.0 } }'
    make_project(folder, first=[bad, '{ label = "avg", model = "avg" }'])
    bad_name, name = names(folder, "first")
    done = papers(folder, "run", "first")
    assert done.returncode == 1
    assert done.stderr.splitlines()[1:] == [f"error: 1 of 2 failed: {bad_name}; `dvc queue logs {bad_name}` shows why"]
    assert stored(folder) == {name: 1.4}
    assert "the margin is negative" in dvc(folder, "queue", "logs", bad_name)
    assert Queue(folder)._began(bad_name, {})
    for process in (folder / ".dvc/tmp/exps/run").glob("*/*.json"):
        process.unlink()  # as if no worker had come so far as to start one
    assert not Queue(folder)._began(bad_name, {})
    declare(folder, "first", bad.replace("-1.0", "1.0"))
    assert papers(folder, "run", "first").returncode == 0
    assert sorted(stored(folder).values()) == [1.4, 2.0]


@slow
@nightly
def test_ctrl_c_and_the_same_command_again(folder):
    make_project(folder, first=['{ label = "long", model = "avg", options = { epochs = 20 } }'])
    (name,) = names(folder, "first")
    process = start_papers(folder, "run", "first")
    wait_for(folder, f"{name} .*Running")
    second = papers(folder, "run", "first")
    assert second.stderr.splitlines()[-1] == (
        "error: `paraphrastic papers run` works in this clone already; wait for its end"
    )
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=SECONDS)
    assert process.returncode == 130
    assert stderr.splitlines()[1:] == [
        "experiments wait or run in the background; the same command follows them, this one stops them:",
        f"dvc queue kill {name}",
        "interrupted",
    ]
    assert run_git(folder, "status", "--short") == ""
    done = papers(folder, "run", "first")
    assert done.returncode == 0, done.stderr
    assert list(stored(folder)) == [name]
    assert (folder / "LOG").read_text() == "x"  # it was trained once


@slow
@nightly
def test_message_of_ctrl_c_says_how_to_stop(folder):
    make_project(folder, first=[LONG, AVG])
    process = start_papers(folder, "run", "first")
    name, _, last = names(folder, "first")
    wait_for(folder, f"{name} .*Running(.*\n)*.*{last} .*Queued")
    process.send_signal(signal.SIGINT)
    commands = process.communicate(timeout=SECONDS)[1].splitlines()[-2]
    assert commands == f"dvc queue remove --queued; dvc queue kill {name}"
    for command in commands.split("; "):
        dvc(folder, *command.split()[1:])
    wait_for(folder, f"{name} .*Failed")
    assert not re.search("Running|Queued", dvc(folder, "queue", "status"))
    wait_until(lambda: not processes(folder))


@slow
@nightly
@pytest.mark.faults
def test_killed_command_and_workers(folder):
    make_project(folder, first=['{ label = "long", model = "avg", options = { epochs = 10 } }', AVG])
    expected = names(folder, "first")
    process = start_papers(folder, "run", "first")
    wait_for(folder, f"{expected[0]} .*Running")
    process.kill()
    process.communicate()
    kill_workers(folder)
    done = papers(folder, "run", "first")
    assert done.returncode == 0, done.stderr
    assert stored(folder) == dict(zip(expected, [1.4, 1.4, 2.4], strict=True))
    assert not list((folder / ".dvc/tmp/exps").glob("tmp*"))


OPTIONS = "dim = 20, epochs = 1"
SMALL = f"""{{ label = "avg", model = "avg", set = {{ benchmarks = "sample" }}, options = {{ {OPTIONS} }},
tasks = ["sample-topics"], analyses = ["length"] }}""".replace("\n", " ")
SMALL_LSTM = f"""{{ label = "lstmavg", model = "lstmavg", start = "avg", set = {{ benchmarks = "sample" }},
options = {{ {OPTIONS}, freeze_embeddings = true, matmul_dtype = "float32" }} }}""".replace("\n", " ")


def start_vectors(root, params=PARAMS, version="0.3.0"):
    project = Project(root)
    vars(project).update(params=params, version=version)
    return StartVectors(project)


def test_path_changes_with_what_determines_the_embeddings(tmp_path):
    vectors = start_vectors(tmp_path)
    path = vectors.path(RUN)
    assert path.is_absolute()
    assert path.name == f"{RUN.name}.txt"
    others = [
        start_vectors(tmp_path, changed(PARAMS, "train.select", "none")).path(RUN),
        start_vectors(tmp_path, version="0.4.0").path(RUN),
        vectors.path(replace(RUN, seed=2)),
    ]
    assert len({path, *others}) == 4
    assert start_vectors(tmp_path, changed(PARAMS, "models.charcnn.dim", 1)).path(RUN) == path


def test_model_that_is_not_in_the_cache(tmp_path):
    folder = make_repository(tmp_path / "clone")
    commit(folder)
    vectors = start_vectors(folder)
    assert not vectors.available(RUN)
    add_experiment(folder, RUN.name)  # whose model nobody has
    write_results(folder)
    assert not vectors.available(RUN)
    with pytest.raises(ParameterError, match=f"{RUN.name}: .* not in the DVC cache; run its experiment again"):
        vectors.export(RUN)
    vectors.path(RUN).parent.mkdir(parents=True)
    vectors.path(RUN).touch()
    assert vectors.available(RUN)
    vectors.export(RUN)


@pytest.mark.slow
@pytest.mark.nightly
def test_row_that_starts_from_the_embeddings_of_another_row(tmp_path):
    folder = tmp_path / "clone"
    folder.mkdir()
    copy_repository(folder)
    for file in (*(folder / "experiments").glob("*-*.toml"), *(folder / "experiments/results").glob("*.json")):
        file.unlink()
    declare(folder, "small", SMALL, SMALL_LSTM)
    commit(folder)
    done = papers(folder, "run", "small", "--jobs", "2")
    logs = [dvc(folder, "queue", "logs", name) for name in re.findall(r"`dvc queue logs (\S+)`", done.stderr)]
    told = [line for line in done.stderr.splitlines() if not line.startswith("runs: ")]  # of which each minute has one
    assert (done.returncode, told, logs) == (0, ["0 of 2 runs are here; 2 to run"], [])
    assert "experiments" not in dvc(folder, "status")  # stored results are no dependency of a stage
    assert papers(folder, "run", "small", "--dry").stdout == ""

    results = {file.stem: json.loads(file.read_text()) for file in (folder / "experiments/results").iterdir()}
    avg, lstm = sorted(results)
    for name in (avg, lstm):
        values = results[name]["seeds"]["1"]["values"]
        metrics = json.loads(experiment_file(folder, f"{name}-s1", "metrics/evaluate.json"))
        assert metrics["sample"]["sts"]["mean"] == values["sample.sts.mean"]
        assert ("finetune.sample-topics.test.accuracy" in values) == (name == avg)
    table = results[avg]["seeds"]["1"]["tables"]["length"]
    length = experiment_file(folder, f"{avg}-s1", "metrics/analysis/length.csv")
    assert [len(row) for row in table] == [line.count(",") + 1 for line in length.splitlines()]
    assert results[lstm]["params"]["models.lstmavg.vectors"] == f"{avg}.txt"  # of the same seed
    assert embeddings(folder, f"{lstm}-s1") == embeddings(folder, f"{avg}-s1")
    assert "num_threads: 1" in experiment_file(folder, f"{lstm}-s1", "models.yaml")


def embeddings(folder: Path, experiment: str) -> dict[str, list[float]]:
    """Return the word embeddings of an experiment by word."""
    out = folder.parent / experiment
    dvc(folder, "get", str(folder), "data/model", "--rev", experiment, "--out", str(out))
    file = out.with_suffix(".txt")
    export(load(out), file, Format.WORD2VEC)
    lines = [line.split(" ") for line in file.read_text().splitlines()[1:]]
    return {word: [round(float(number), 5) for number in numbers] for word, *numbers in lines}
