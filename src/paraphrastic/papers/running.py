"""Run what is missing of experiments."""

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory

from paraphrastic.analysis.comparison.repository import files_of
from paraphrastic.base.errors import ParameterError
from paraphrastic.export import Format, export
from paraphrastic.inference.model_folder import load
from paraphrastic.papers.plan import Run, expected, merge, needs_vectors
from paraphrastic.papers.project import Project, matching
from paraphrastic.papers.queue import Queue
from paraphrastic.papers.records import records
from paraphrastic.sources.catalogue import catalogue
from paraphrastic.sources.fetching import fetch_visibly
from paraphrastic.sources.locations import DataLocations


@dataclass(frozen=True)
class StartVectors:
    """The files of word embeddings in the folder data/start of a project."""

    project: Project

    def path(self, run: Run) -> Path:
        """Return the file of the embeddings of `run`.

        Experiments run in other folders, so that the path is absolute. DVC does not watch the file, so that the path
        changes with everything that determines its content.
        """
        content = json.dumps([expected(self.project.params, run), self.project.version], sort_keys=True)
        digest = hashlib.sha256(content.encode()).hexdigest()[:8]
        return self.project.root.resolve() / "data/start" / digest / f"{run.name}.txt"

    def available(self, run: Run) -> bool:
        """Return whether the embeddings of `run` are exported, or its model is in the DVC cache."""
        return self.path(run).exists() or self._revision(run) is not None

    def export(self, run: Run) -> None:
        """Write the word embeddings of `run` as word2vec text, unless the file is there.

        Raises:
            ParameterError: its model is not in the DVC cache.
            ModelError: its model has no word embeddings.
        """
        if self.path(run).exists():
            return
        revision = self._revision(run)
        if revision is None:
            raise ParameterError(f"{run.name}: its model is not in the DVC cache; run its experiment again")
        with TemporaryDirectory() as folder:
            with files_of(self.project.root, revision) as files:
                files.get("data/model", f"{folder}/model", recursive=True)
            export(load(Path(folder) / "model"), self.path(run), Format.WORD2VEC)

    def _revision(self, run: Run) -> str | None:
        """Return a commit with the results of `run` whose model is in the DVC cache."""
        with records(self.project.root) as found:
            results = matching(run, [each for each in found if each.rev], self.project.params)
            current = (record.rev for record, result in results if result.version == self.project.version)
            return next((rev for rev in current if rev and self._has_model(rev)), None)

    def _has_model(self, revision: str) -> bool:
        try:
            with files_of(self.project.root, revision) as files, files.open("data/model/config.json"):
                return True
        except FileNotFoundError:
            return False


@dataclass(frozen=True)
class Runner:
    """Runs experiments of a project through DVC's queue."""

    project: Project  # the repository
    jobs: int = 1  # how many run at the same time; each has one thread if there are several
    # file of word vectors that models of words start from on the papers' data; None for none
    vectors: Path | None = None

    @property
    def queue(self) -> Queue:
        """The queue of DVC."""
        return Queue(self.project.root)

    def needed(self, runs: Sequence[Run]) -> list[Run]:
        """Return the runs that are to run, and those whose embeddings they start from if these are not here."""
        to_run = self.project.to_run(runs)
        starts = merge(run.start for run in to_run if run.start)
        return merge([*to_run, *(start for start in starts if not self._start_vectors.available(start))])

    def command(self, run: Run) -> list[str]:
        """Return the command that queues a run."""
        block = self.project.params["models"][run.model] or {}
        threads = 1 if self.jobs > 1 and "num_threads" in block else None
        if run.start:
            return run.command(self._start_vectors.path(run.start), threads)
        if run.vectors:
            return run.command(_fetched(run.vectors), threads)
        named = self.vectors.resolve() if self.vectors and needs_vectors(self.project.params, run) else None
        return run.command(named, threads)

    def run(self, runs: Sequence[Run], on_end: Callable[[Run], None]) -> list[str]:
        """Run experiments, first those whose embeddings others start from, and store the result of each when it ends.

        Args:
            runs: as `needed` returns them.
            on_end: called after a result is stored.

        Returns:
            The names of those that failed.

        Raises:
            QueueError: an experiment cannot be queued, or not in this folder.
        """
        self.queue.check()
        failed = self._run([run for run in runs if run.start is None], on_end)
        started = {run.name: run.start for run in runs if run.start is not None}
        absent = [name for name, start in started.items() if not self._start_vectors.available(start)]
        for name in started.keys() - absent:
            self._start_vectors.export(started[name])
        failed += self._run([run for run in runs if run.start is not None and run.name not in absent], on_end)
        return failed + absent

    def _run(self, runs: Sequence[Run], on_end: Callable[[Run], None]) -> list[str]:
        """Run experiments; return the names of those without results."""
        by_name = {run.name: run for run in runs}

        def store(name: str, minutes: float | None) -> bool:
            """Store the result of an experiment that has ended; return whether it has one."""
            run, project = by_name[name], self.project
            with records(project.root) as found:
                project.collect_from([run], [each for each in found if each.name == name])
            if minutes is not None:
                project.store.note_minutes(run, minutes)
            if project.missing([run]):
                return False
            on_end(run)
            return True

        commands = {name: self.command(run) for name, run in by_name.items()}
        return self.queue.run(commands, self.jobs, store) if commands else []

    @cached_property
    def _start_vectors(self) -> StartVectors:
        return StartVectors(self.project)


def _fetched(name: str) -> Path:
    """Return the file of a source of word vectors; experiments run in other folders, so that the path is absolute."""
    source, locations = catalogue().sources[name], DataLocations.from_environment()
    fetch_visibly([source], None, locations)
    (path,) = locations.paths(source)
    return path.absolute()
