"""The queue of DVC, without DVC; tests/papers/test_running.py runs it."""

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from hashlib import sha256
from pathlib import Path

import pytest
from dvc.repo import Repo

from paraphrastic.papers import queue as module
from paraphrastic.papers.queue import Queue, QueueError
from tests.helpers.recorded_results import make_repository
from tests.helpers.repository import run_git

PYTHON = [sys.executable, "-c"]


class ScriptedQueue(Queue):
    """A queue whose entries change as told each time that they are listed, and that notes its commands.

    Args:
        root: a folder.
        listings: what DVC lists, one after the other; the last one stays.
        workers: how many workers live.
    """

    def __init__(self, root, listings, workers=1):
        super().__init__(root)
        self.listings, self.workers, self.commands = list(listings), workers, []
        self.unprepared = []  # experiments whose stages were not started, each time that they fail

    def _listed(self):
        return self.listings.pop(0) if len(self.listings) > 1 else self.listings[0]

    def _workers(self):
        return self.workers

    def _dvc(self, command):
        self.commands.append(list(command))

    def _began(self, name, states):
        if name in self.unprepared:
            self.unprepared.remove(name)
            return False
        return states.get(name) != "lost"

    def _folder(self, name):
        return ""

    def _remove_earlier(self, name):
        pass


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch):
    monkeypatch.setattr(module, "_SECONDS", 0.0)


@pytest.fixture
def folder(tmp_path):
    return make_repository(tmp_path / "clone")


def test_states_of_experiments(tmp_path):
    entries = {"a": "queued", "b": "running"}
    assert ScriptedQueue(tmp_path, [entries]).states() == entries
    assert ScriptedQueue(tmp_path, [entries], workers=0).states() == {"a": "queued", "b": "lost"}
    assert ScriptedQueue(tmp_path, [{"a": "queued"}, {"a": "running"}], workers=0).states() == {"a": "running"}
    assert ScriptedQueue(tmp_path, [{"a": "running"}, {}], workers=0).states() == {}


def follow(queue, ends, names=("a", "b")):
    """Run a queue; return the failed experiments and those that ended."""
    ended = []
    failed = queue.run({name: [name] for name in names}, 2, lambda name, minutes: (ended.append(name), ends)[1])
    return failed, ended


def test_experiments_that_wait_or_run_are_not_queued_again(tmp_path):
    entries = [{"a": "queued", "b": "running"}] * 4
    queue = ScriptedQueue(tmp_path, [*entries, {"a": "running"}, {"a": "running"}, {}], workers=2)
    assert follow(queue, ends=True, names=("a", "b", "c")) == ([], ["b", "c", "a"])
    assert queue.commands == [["c"]]
    queue = ScriptedQueue(tmp_path, [{}])
    assert follow(queue, ends=False) == (["a", "b"], ["a", "b"])


def test_lost_experiment_is_stopped_and_queued_again(tmp_path):
    entries = [{"a": "running"}] * 3
    queue = ScriptedQueue(tmp_path, [*entries, {}], workers=0)
    assert follow(queue, ends=True, names=("a",)) == ([], ["a"])
    assert queue.commands == [["dvc", "queue", "kill", "a"], ["a"]]


def test_experiment_whose_worker_ends_is_queued_again_once(tmp_path):
    lost, put = [{"a": "running"}] * 3, [["dvc", "queue", "kill", "a"], ["a"]]
    queue = ScriptedQueue(tmp_path, [{}, {}, *lost, {}], workers=0)
    assert follow(queue, ends=True, names=("a",)) == ([], ["a"])
    assert queue.commands == [["a"], *put]
    queue = ScriptedQueue(tmp_path, [{}, {}, *lost, {}, *lost], workers=0)
    assert follow(queue, ends=True, names=("a",)) == (["a"], [])
    assert queue.commands == [["a"], *put]


def test_experiment_that_could_not_be_prepared_is_queued_again_once(tmp_path):
    queue = ScriptedQueue(tmp_path, [{}])
    queue.unprepared = ["a", "a"]
    assert follow(queue, ends=False) == (["b", "a"], ["a", "b", "a"])
    assert queue.commands == [["a"], ["b"], ["a"]]


def test_workers_are_started_while_experiments_wait(tmp_path):
    queue = ScriptedQueue(tmp_path, [{}, {}, {"a": "queued"}, {"a": "queued"}, {"a": "queued"}, {}], workers=0)
    follow(queue, ends=True, names=("a",))
    assert queue.commands == [["a"], *[["dvc", "queue", "start", "--jobs", "2"]]]


def test_minutes_are_those_that_it_was_seen_running(tmp_path, monkeypatch):
    clock = iter(range(0, 6000, 60))
    monkeypatch.setattr(time, "monotonic", lambda: next(clock))
    running = {"a": "running"}
    queue = ScriptedQueue(
        tmp_path, [{}, {}, {}, {"a": "queued"}, {"a": "queued"}, running, running, running, running, {}]
    )
    minutes = []
    queue.run({"a": ["a"]}, 1, lambda _, value: minutes.append(value) or True)
    queue = ScriptedQueue(tmp_path, [{}, {}, *[running] * 6, {}])  # it began while the command queued others
    queue.run({"a": ["a"]}, 1, lambda _, value: minutes.append(value) or True)
    queue = ScriptedQueue(tmp_path, [running] * 6 + [{}])  # it ran before: when it began is not known
    queue.run({"a": ["a"]}, 1, lambda _, value: minutes.append(value) or True)
    assert minutes == [pytest.approx(2, abs=1), pytest.approx(2, abs=1), None]


def test_commands_that_stop_experiments(tmp_path):
    assert ScriptedQueue(tmp_path, [{}]).how_to_stop() == ""
    assert ScriptedQueue(tmp_path, [{"a": "queued"}]).how_to_stop() == "dvc queue remove --queued"
    queue = ScriptedQueue(tmp_path, [{"a": "running", "b": "queued", "c": "running"}])
    assert queue.how_to_stop() == "dvc queue remove --queued; dvc queue kill a c"


def test_second_process_is_refused(tmp_path):
    first = ScriptedQueue(tmp_path, [{}])

    def second(name, minutes):
        with pytest.raises(QueueError, match="works in this clone already; wait for its end"):
            follow(ScriptedQueue(tmp_path, [{}]), ends=True)
        return True

    assert first.run({"a": ["a"]}, 1, second) == []


def test_repository_without_experiments(folder):
    queue = Queue(folder)
    assert queue.states() == {}
    assert queue.how_to_stop() == ""
    assert queue._workers() == 0


@pytest.mark.parametrize(
    "shape", ["dvc exp queue-worker {name} --clean", "[celeryd: {name}:MainProcess] -active- (worker)"]
)
def test_workers_are_known_by_their_arguments_or_by_the_title_that_replaces_them(folder, shape):
    with Repo(str(folder)) as repo:
        wdir = repo.experiments.celery_queue.wdir
    name = f"dvc-exp-{sha256(wdir.encode()).hexdigest()[:6]}-1@localhost"
    with subprocess.Popen([shape.format(name=name), "60"], executable=shutil.which("sleep")) as worker:
        assert Queue(folder)._workers() == 1
        worker.kill()
    assert Queue(folder)._workers() == 0


def test_cache_whose_path_is_not_ascii(tmp_path):
    queue = Queue(make_repository(tmp_path / "à b"))
    with pytest.raises(QueueError, match=r"à b/\.dvc/cache: .*; name another .* FOLDER`, or move the clone$"):
        queue.check()
    (tmp_path / "à b/.dvc/config.local").write_text(f"[cache]\n    dir = {tmp_path / 'a b'}\n")
    queue.check()


def test_command_that_fails(folder):
    script = "import sys; sys.exit('WARNING: a\\nERROR: the reason\\nERROR: more')"
    with pytest.raises(QueueError, match=r"failed: the reason$"):
        Queue(folder)._dvc([*PYTHON, script])
    with pytest.raises(QueueError, match=r"failed: no reason given$"):
        Queue(folder)._dvc([*PYTHON, "import sys; sys.exit(1)"])


def test_worker_that_takes_an_experiment_is_awaited(folder, monkeypatch):
    """Until the last attempt, which has a remedy."""
    lock, holder = folder / ".dvc/tmp/exps/rwlock", {"pid": os.getpid(), "cmd": "dvc queue-worker"}
    (folder / "dvc.yaml").write_text("stages:\n  a:\n    cmd: echo\n")
    run_git(folder, "add", ".")
    run_git(folder, "commit", "--quiet", "--message", "A stage")
    lock.parent.mkdir(parents=True, exist_ok=True)
    lock.write_text(json.dumps({"read": {}, "write": {"refs/exps/celery/stash": holder}}))
    with monkeypatch.context() as patch:
        patch.setattr(module, "_ATTEMPTS", 1)
        with pytest.raises(QueueError, match=r"refs/exps/celery/stash' is busy; wait for .* run this again$"):
            Queue(folder)._dvc(["dvc", "exp", "run", "--queue", "--name", "a"])
    with monkeypatch.context() as patch:
        patch.setattr(module.time, "sleep", lambda seconds: lock.unlink())
        Queue(folder)._dvc(["dvc", "exp", "run", "--queue", "--name", "a"])
    assert Queue(folder).states() == {"a": "queued"}


def test_process_that_a_command_leaves_behind_is_not_awaited(folder):
    start = time.monotonic()
    script = "import subprocess, sys; subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(5)'])"
    Queue(folder)._dvc([*PYTHON, script])
    assert time.monotonic() - start < 4


def test_ctrl_c_waits_for_the_end_of_a_command(folder):
    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        Queue(folder)._dvc([*PYTHON, "import time; time.sleep(1.5); open('done', 'w').close()"])
    assert (folder / "done").exists()


def test_environment_of_stages(folder, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PARAPHRASTIC_CACHE", "cache")
    monkeypatch.setenv("PATH", "/usr/bin")
    script = "import os, shutil; print(os.environ['PARAPHRASTIC_CACHE'], shutil.which('dvc'), file=open('out', 'w'))"
    Queue(folder)._dvc([*PYTHON, script])
    cache, dvc = (folder / "out").read_text().split()
    assert cache == str(tmp_path / "cache")
    assert Path(dvc).parent == Path(sys.executable).parent
