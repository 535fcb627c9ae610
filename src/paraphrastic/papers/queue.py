"""Run experiments through DVC's queue, and follow them to their end.

For DVC (3.67), an experiment whose worker was killed stays running: `dvc queue start` does not take it up again.
"""

import hashlib
import os
import re
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
from filelock import FileLock, Timeout

from paraphrastic.analysis.comparison.repository import dvc, dvc_folder, dvc_repository
from paraphrastic.base.errors import ParameterError, ParaphrasticError
from paraphrastic.sources.locations import cache_folder

QUEUED, RUNNING, LOST = "queued", "running", "lost"

_SECONDS = 5.0  # between two looks at the queue
_ATTEMPTS = 20  # to stop what is left of an experiment, and to wait for a worker


class QueueError(ParaphrasticError):
    """An experiment could not be queued, or it failed."""


@dataclass
class Queue:
    """The queue of experiments of a DVC repository."""

    root: Path  # the repository

    def run(
        self, commands: Mapping[str, Sequence[str]], jobs: int, on_end: Callable[[str, float | None], bool]
    ) -> list[str]:
        """Queue experiments, unless they wait or run already, and follow them until all have ended.

        Args:
            commands: by name of the experiment, the command that queues it.
            jobs: how many run at the same time.
            on_end: called with the name of an experiment that has ended and its minutes, or None if it ran before this
                call. It returns whether the experiment has results.

        Returns:
            The names of those without results.

        Raises:
            QueueError: DVC refuses a command, or another process works on the queue.
        """
        with self._lock():
            states = self.states()
            for number, (name, command) in enumerate(commands.items(), start=1):
                if states.get(name) not in (QUEUED, RUNNING):
                    self._put(name, command, states)
                if number == jobs:
                    self._start_workers(jobs, self._listed())
            return self._follow(commands, jobs, on_end, _running(states))

    def check(self) -> None:
        """Raise a QueueError if DVC (3.67) cannot prepare folders of experiments: it writes its cache as ASCII."""
        with self._dvc_queue() as (_, repo):
            cache = repo.cache.local_cache_dir
        if not cache.isascii():
            remedy = "name another folder with `dvc cache dir --local FOLDER`, or move the clone"
            raise QueueError(f"{cache}: DVC's queue needs a cache whose path is ASCII; {remedy}")

    def states(self) -> dict[str, str]:
        """Return whether an experiment is queued, running or lost, by name; those that have ended are left out.

        An experiment is lost if it is running for DVC, but no worker lives: it was killed, the computer restarted, or
        the worker took the experiment while it was ending because the queue had been empty.
        """
        before, workers = self._listed(), self._workers()
        return {
            name: LOST if not workers and before.get(name) == state == RUNNING else state
            for name, state in self._listed().items()
        }

    def how_to_stop(self) -> str:
        """Return the commands that end the experiments of the queue; an empty string if there are none.

        `dvc queue stop --kill` does not end the processes of stages.
        """
        states = self._listed()
        remove = ["dvc queue remove --queued"] if QUEUED in states.values() else []
        kill = [f"dvc queue kill {' '.join(_running(states))}"] if _running(states) else []
        return "; ".join([*remove, *kill])

    def _put(self, name: str, command: Sequence[str], states: Mapping[str, str]) -> None:
        """Queue an experiment in place of one of the same name that was lost or has no results."""
        if states.get(name) == LOST:
            self._stop(name)
        self._remove_earlier(name)
        self._dvc(command)

    def _follow(
        self,
        commands: Mapping[str, Sequence[str]],
        jobs: int,
        on_end: Callable[[str, float | None], bool],
        before: Sequence[str],
    ) -> list[str]:
        """Follow experiments until all have ended; of those that ran `before`, it is not known when they began."""
        pending, failed, put_again = list(commands), list[str](), set[str]()
        started = dict[str, float | None].fromkeys(before)
        while pending:
            states, now = self.states(), time.monotonic()
            started = dict.fromkeys(_running(states), now) | started
            ended = [name for name in pending if states.get(name) not in (QUEUED, RUNNING)]
            minutes = {name: (now - start) / 60 for name, start in started.items() if start is not None}
            without = [name for name in ended if states.get(name) == LOST or not on_end(name, minutes.get(name))]
            again = [name for name in without if name not in put_again and not self._began(name, states)]
            for name in again:  # once: an experiment may be what kills its worker
                self._put(name, commands[name], states)
                started.pop(name, None)
            put_again.update(again)
            failed += [name for name in without if name not in again]
            pending = [name for name in pending if name not in ended or name in again]
            self._start_workers(jobs, states)
            time.sleep(_SECONDS if pending else 0)
        return failed

    def _began(self, name: str, states: Mapping[str, str]) -> bool:
        """Return whether the stages of an experiment without results were started.

        They were not if it is lost, or if a worker could not prepare its folder, such as when git locks its files.
        """
        if states.get(name) == LOST:
            return False
        with self._dvc_queue() as (queue, _):
            failed = [done.entry for done in queue.iter_failed() if done.entry.name == name]
            return not failed or queue.proc.get(failed[-1].stash_rev) is not None

    def _listed(self) -> dict[str, str]:
        """Return the state of each queued or running experiment by name."""
        with self._dvc_queue() as (queue, _):
            entries = [(entry.name, QUEUED) for entry in queue.iter_queued()]
            entries += [(entry.name, RUNNING) for entry in queue.iter_active()]
        return {name: state for name, state in entries if name}

    def _workers(self) -> int:
        """Return how many workers of this queue live. Asking them is no way to know: those that end do not reply."""
        with self._dvc_queue() as (queue, _):
            node = rf"dvc-exp-{hashlib.sha256(queue.wdir.encode()).hexdigest()[:6]}-\d+@"  # as DVC names them
        # where the package setproctitle is installed, Celery replaces the arguments by a title that contains the name
        commands = (" ".join(process.info["cmdline"] or []) for process in psutil.process_iter(["cmdline"]))
        return len({name for command in commands for name in re.findall(node, command)})

    def _start_workers(self, jobs: int, states: Mapping[str, str]) -> None:
        if QUEUED in states.values() and self._workers() < jobs:
            self._dvc(["dvc", "queue", "start", "--jobs", str(jobs)])

    def _stop(self, name: str) -> None:
        """Stop what is left of a lost experiment, so that it can be queued again."""
        folder = self._folder(name)
        for _ in range(_ATTEMPTS):
            if self._listed().get(name) != RUNNING:
                shutil.rmtree(folder, ignore_errors=True)
                return
            self._dvc(["dvc", "queue", "kill", name])  # first interrupts its process; without one marks it as failed
            time.sleep(_SECONDS)
        raise QueueError(f"{name}: its process does not end; `dvc queue kill --force {name}`, then try again")

    def _folder(self, name: str) -> str:
        """Return the folder in which DVC runs an experiment."""
        from dvc.repo.experiments.executor.base import ExecutorInfo

        with self._dvc_queue() as (queue, _):
            for entry in (each for each in queue.iter_active() if each.name == name):
                with suppress(FileNotFoundError):
                    return str(ExecutorInfo.load_json(queue.get_infofile_path(entry.stash_rev)).root_dir)
        return ""

    def _remove_earlier(self, name: str) -> None:
        """Remove an experiment that lacks results; with `--force` in its place, DVC would repeat every stage."""
        from dvc.repo.experiments.refs import ExpRefInfo

        with self._dvc_queue() as (_, repo):
            commit = repo.scm.get_ref(str(ExpRefInfo(repo.scm.get_rev(), name)))
        if commit:
            self._dvc(["dvc", "exp", "remove", name])

    @contextmanager
    def _dvc_queue(self) -> Iterator[tuple[Any, Any]]:
        """Yield the queue of DVC, and its repository."""
        with dvc_repository(self.root) as repo:
            yield repo.experiments.celery_queue, repo

    @contextmanager
    def _lock(self) -> Iterator[None]:
        path = dvc_folder(self.root) / "tmp/papers.lock"
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with FileLock(path, timeout=0):
                yield
        except Timeout as error:
            raise QueueError("`paraphrastic papers run` works in this clone already; wait for its end") from error

    def _dvc(self, command: Sequence[str]) -> None:
        # stages run in another folder, with the interpreter of this process
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
        environment = {**os.environ, "PATH": path, "PARAPHRASTIC_CACHE": str(cache_folder().absolute())}
        for attempt in range(_ATTEMPTS):
            try:
                dvc(self.root, command, environment)
                return
            except ParameterError as error:  # DVC does not wait for a worker that takes an experiment from its queue
                if "is busy, it is being blocked" not in str(error):
                    raise QueueError(str(error)) from error
                if attempt + 1 == _ATTEMPTS:
                    remedy = "wait for the end of other commands of DVC in this clone, then run this again"
                    raise QueueError(f"{str(error).partition(', it is being blocked')[0]}; {remedy}") from error
            time.sleep(_SECONDS)


def _running(states: Mapping[str, str]) -> list[str]:
    return [name for name, state in states.items() if state == RUNNING]
