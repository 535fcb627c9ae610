"""A clone of the repository: its declarations, parameters and stored results, and the runs that are missing."""

import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

from paraphrastic.analysis.comparison.two_runs import OF_TWO_RUNS, pairs_of_two_runs
from paraphrastic.base.errors import DataError, ParameterError, ParaphrasticError
from paraphrastic.base.parameters import PARAMS, read_mapping
from paraphrastic.papers.checking import check
from paraphrastic.papers.collecting import collect, missing
from paraphrastic.papers.comparison import Comparison, compare
from paraphrastic.papers.data_needs import DataNeeds
from paraphrastic.papers.experiments import Data, Experiment, Experiments
from paraphrastic.papers.parameters import needs_vectors, read_all
from paraphrastic.papers.plan import Run, plan
from paraphrastic.papers.records import records
from paraphrastic.papers.results import Store, rows_of
from paraphrastic.sources.locations import DataLocations

_AGAINST = "against"  # the analyses of two runs are computed again if this table has another content


@dataclass(frozen=True)
class Project:
    """A clone of the repository.

    Attributes:
        root: its folder.
        read_only: whether results that are collected are kept in memory only.
    """

    root: Path
    read_only: bool = False

    @cached_property
    def experiments(self) -> Experiments:
        """The declarations in `experiments/`.

        Raises:
            DataError: a declaration is wrong, or names something that does not exist.
        """
        declared = Experiments.load(self.root / "experiments")
        check(declared, self.params)
        return replace(declared, params=self.params)

    @cached_property
    def params(self) -> Mapping[str, Any]:
        """Content of all parameter files.

        Raises:
            DataError: a file is missing or not YAML, or a block is missing.
        """
        try:
            content = read_all(lambda path: read_mapping(self.root / path))
        except ParameterError as error:
            raise DataError(f"{error}; restore the file with `git checkout`") from error
        for name in ("tokenize", "vocabulary", "train"):
            if not isinstance(content.get(name), dict):
                raise DataError(f"{self.root / PARAMS}: no block '{name}'; restore it with `git checkout {PARAMS}`")
        return content

    @cached_property
    def version(self) -> str:
        """Version of the package in this clone, which need not be the installed one.

        Raises:
            DataError: pyproject.toml is missing or damaged.
        """
        path = self.root / "pyproject.toml"
        try:
            return str(tomllib.loads(path.read_text(encoding="utf-8"))["project"]["version"])
        except (OSError, ValueError, LookupError, TypeError) as error:
            raise DataError(f"{path}: has no version; restore it with `git checkout pyproject.toml`") from error

    @cached_property
    def store(self) -> Store:
        """The stored results."""
        return Store(self.root / "experiments/results", self.params, self.read_only)

    def plan(self, experiments: Sequence[Experiment], data: Data, seeds: Sequence[int] = ()) -> list[Run]:
        """Return the distinct runs that `experiments` need, see `plan.plan`."""
        return plan(experiments, self.experiments, data, seeds)

    def collect(self, runs: Sequence[Run]) -> list[str]:
        """Store the results of `runs` that DVC's records have; return warnings, see `collecting.collect`."""
        with records(self.root) as found:
            return collect(runs, self.store, found, self.params, self.version)

    def missing(self, runs: Sequence[Run]) -> list[Run]:
        """Return the runs without a stored result of this version and these parameters."""
        return missing(runs, self.store, self.version)

    def compare(self, experiment: Experiment, data: Data) -> Comparison:
        """Return the published table of an experiment beside the stored results."""
        return compare(experiment, self.experiments, data, self.store)

    def compare_runs(self, runs: Sequence[Run]) -> list[str]:
        """Store the analyses of two runs for each run that has results and another run to be compared with.

        Returns:
            Warnings: runs whose scores are not in the DVC cache of this clone.
        """
        pairs = [run for run in runs if run.against and not self.missing([run, run.against])]
        outdated = [run for run in pairs if self.store.tables(run).get(_AGAINST) != self._against(run)]
        return [warning for run in outdated for warning in self._compare_runs(run)]

    def _compare_runs(self, run: Run) -> list[str]:
        assert run.against is not None
        try:
            pairs, _ = pairs_of_two_runs(run.name, run.against.name)
        except ParaphrasticError as error:
            return [f"{run.name} is not compared with {run.against.name}: {error}"]
        tables = {name: rows_of(analysis(pairs)) for name, analysis in OF_TWO_RUNS.items()}
        self.store.add_tables(run, tables | {_AGAINST: self._against(run)})
        return []

    def _against(self, run: Run) -> list[list[Any]]:
        """Return the name and a hash of the values of the run that `run` is compared with, as a table."""
        other = self.store.result(run.against) if run.against else None
        values = json.dumps(dict(other.values), sort_keys=True) if other else ""
        return [["experiment", "values"], [run.against and run.against.name, sha256(values.encode()).hexdigest()[:8]]]

    def data_needs(self, experiments: Sequence[Experiment], data: Data) -> DataNeeds:
        """Return the data that `experiments` need."""
        return DataNeeds.of(self.plan(experiments, data), DataLocations.from_environment())

    def needs_vectors(self, run: Run) -> bool:
        """Return whether the user names the word vectors of `run`, see `parameters.needs_vectors`."""
        return needs_vectors(self.params, run)


def find_project(read_only: bool = False) -> Project:
    """Return the repository that contains the working directory.

    Args:
        read_only: as for `Project`.

    Raises:
        ParameterError: none does.
    """
    for folder in (Path.cwd(), *Path.cwd().parents):
        if (folder / "experiments").is_dir() and (folder / "dvc.yaml").is_file():
            return Project(folder, read_only)
    raise ParameterError(f"{Path.cwd()}: no folder `experiments` here; run this in a clone of the repository")
