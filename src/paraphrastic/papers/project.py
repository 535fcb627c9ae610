"""A clone of the repository: its declarations, parameters and stored results, and the runs that are missing."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import Any, Self

from paraphrastic.analysis import names as analyses
from paraphrastic.analysis.comparison.repository import project_root
from paraphrastic.analysis.comparison.revisions import WORKSPACE, predictions_of
from paraphrastic.analysis.comparison.two_runs import OF_TWO_RUNS, pairs_of_two_runs
from paraphrastic.analysis.resamples import of_predictions
from paraphrastic.base.errors import DataError, ParameterError, ParaphrasticError, unknown_name
from paraphrastic.base.parameters import PARAMS, place, read_mapping
from paraphrastic.papers.claims import Claims
from paraphrastic.papers.comparing import Comparison, compare
from paraphrastic.papers.experiments import CLAIMS, REPLICA, TASKS, Data, Experiment, Experiments, read_toml
from paraphrastic.papers.plan import SUITES, Run, differences, expected, merge, plan, read_all, runs_of_row, start_of
from paraphrastic.papers.records import Record, records
from paraphrastic.papers.results import Result, Store, Table, check_key, rows_of
from paraphrastic.papers.tuning import Choices
from paraphrastic.papers.verdicts import Decision, decide
from paraphrastic.sources.catalogue import catalogue, corpus, suite
from paraphrastic.sources.locations import DataLocations
from paraphrastic.sources.own_files import listed
from paraphrastic.sources.source import Source

_AGAINST = "against"  # the analyses of two runs are computed again if this table has another content


@dataclass(frozen=True)
class DataNeeds:
    """Sources that runs need."""

    names: Sequence[str]  # corpora of training pairs, and suites of evaluation sets as `suite NAME`
    sources: Sequence[Source]  # their sources
    absent: Sequence[Source]  # the sources of which files are not here; `download` fetches those that have addresses

    @classmethod
    def of(cls, runs: Sequence[Run], locations: DataLocations) -> Self:
        """Return the needs of runs: of the sources to bring of a suite, those with a set that a run shows."""
        corpora = sorted({name for run in runs for name in run.corpora})
        suites = {str(each): each for run in runs for each in listed(run.settings["benchmarks"])}
        families = frozenset[str]().union(*(run.families for run in runs))
        members = [each for name in sorted(suites) for each in suite(suites[name]).sources]
        unread = {each.name for each in members if each.manual and not families & {n.split(".")[0] for n in each.rows}}
        vectors = [catalogue().sources[run.vectors] for run in runs if run.vectors]
        sources = [*corpus(corpora), *(each for each in members if each.name not in unread), *vectors]
        distinct = list({each.name: each for each in sources}.values())
        names = [*corpora, *(f"suite {name}" for name in sorted(suites))]
        return cls(names, distinct, [each for each in distinct if not locations.has(each)])

    @property
    def manual(self) -> list[Source]:
        """The absent sources that a person has to bring."""
        return [each for each in self.absent if each.manual]

    def check(self, locations: DataLocations) -> None:
        """Raise a ParameterError if a source is absent and has no address."""
        for each in self.manual:
            raise ParameterError(f"{each.name} is not here: {locations.how_to_provide(each)}")


@dataclass(frozen=True)
class Project:
    """A clone of the repository."""

    root: Path  # its folder
    read_only: bool = False  # whether results that are collected are kept in memory only

    @cached_property
    def experiments(self) -> Experiments:
        """The declarations in `experiments/`.

        Raises:
            DataError: a declaration is wrong, or names something that does not exist.
        """
        declared = Experiments.load(self.root / "experiments", self.params)
        check(declared)
        return declared

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
            return str(read_toml(path)["project"]["version"])
        except (OSError, ValueError, LookupError, TypeError, RecursionError) as error:
            raise DataError(f"{path}: has no version; restore it with `git checkout pyproject.toml`") from error

    @cached_property
    def store(self) -> Store:
        """The stored results."""
        return Store(self.root / "experiments/results", self.params, self.read_only)

    @cached_property
    def claims(self) -> Claims:
        """The claims of the papers.

        Raises:
            DataError: the file is missing or wrong, or names a row that is not declared.
        """
        return Claims.load(self.root / "experiments" / CLAIMS, self._on_replica)

    def decide(self) -> list[Decision]:
        """Return the verdict on each claim from the stored results."""
        claims, find = self.claims, self._on_replica.__getitem__
        return decide(claims.claims, find, self.experiments, self.store, claims.looks)

    @cached_property
    def _on_replica(self) -> Mapping[str, Experiment]:
        """The experiments with the rows that were tuned on the replica, by id."""
        return {name: self._tuned(each, "replica") for name, each in self.experiments.by_id.items()}

    @cached_property
    def choices(self) -> Choices:
        """The settings that searches chose."""
        return Choices(self.root / "experiments/tuned.json")

    def _tuned(self, experiment: Experiment, data: Data) -> Experiment:
        """Return an experiment with its tuned rows; raise a DataError if one names an unknown key."""
        tuned = self.choices.applied(experiment, data)
        for row in tuned.rows[len(experiment.rows) :]:
            run = runs_of_row(tuned, row, self.experiments, data)[0]
            _check_run(run, self.params, f"{self.choices.path}: {experiment.id}: row '{row.label}'")
        return tuned

    def plan(self, experiments: Sequence[Experiment], data: Data, seeds: Sequence[int] = ()) -> list[Run]:
        """Return the distinct runs that `experiments` need with their tuned rows, see `plan.plan`."""
        return plan([self._tuned(each, data) for each in experiments], self.experiments, data, seeds)

    def collect(self, runs: Sequence[Run]) -> list[str]:
        """Store results of `runs` in DVC's records, see `collect_from`."""
        with records(self.root) as found:
            return self.collect_from(runs, found)

    def collect_from(self, runs: Sequence[Run], records: Sequence[Record]) -> list[str]:
        """Store the results in `records` of runs whose results are not stored or are of an earlier version.

        Records that have the name of a stored result are those that were stored; they are read again only for runs
        whose stored result is outdated.

        Returns:
            Warnings: runs with two results, and stored results that do not count any more.
        """
        unknown = [each for each in records if not self.store.has(each.name)]
        warnings = []
        for run in runs:
            own = [each for each in records if each.name == run.name and self.store.has(run.name)]
            candidates = own + unknown if self.missing([run]) else unknown
            warnings += self._add(run, list(matching(run, candidates, self.params)))
        return [*warnings, *self._outdated(runs)]

    def missing(self, runs: Sequence[Run]) -> list[Run]:
        """Return the runs without a stored result of this version and these parameters."""
        version, results = self.version, [(run, self.store.result(run)) for run in runs]
        return [run for run, result in results if not result or result.version != version or self.store.changed(run)]

    def to_run(self, runs: Sequence[Run]) -> list[Run]:
        """Return the runs without such a result, and both of two runs that have one but were never compared."""
        results = [(run, self.store.result(run)) for run in runs if run.against]
        apart = [run for run, result in results if result and _AGAINST not in result.tables]
        return merge([*self.missing(runs), *(each for run in apart for each in (run.against, run) if each)])

    def compare(self, experiment: Experiment, data: Data) -> Comparison:
        """Return the published table of an experiment beside the stored results."""
        return compare(self._tuned(experiment, data), self.experiments, data, self.store)

    def shown(self, experiment: Experiment) -> Comparison:
        """Return the comparison that the pages show: with the replica if it has results, otherwise with open data."""
        if experiment.paper and self.experiments.replica:
            replica = self.compare(experiment, "replica")
            cells = [cell for line in replica.lines for cell in line.cells.values()]  # none in a figure of curves
            if any(line.results for line in replica.lines) and (not cells or any(cell.ours for cell in cells)):
                return replica
        return self.compare(experiment, "open")

    def compare_runs(self, runs: Sequence[Run]) -> list[str]:
        """Store the analyses of two runs for each run that has results and another run to be compared with.

        Returns:
            Warnings: runs whose scores are not in the DVC cache of this clone.
        """
        warnings = []
        for run, other in [(run, run.against) for run in runs if run.against]:
            own, result = self.store.result(run), self.store.result(other)
            if own is None or result is None or self.missing([run, other]):
                continue
            values = sha256(json.dumps(dict(result.values), sort_keys=True).encode()).hexdigest()[:8]
            against = [["experiment", "values"], [other.name, values]]
            if own.tables.get(_AGAINST) == against:
                continue
            try:
                pairs, _ = pairs_of_two_runs(run.name, other.name)
            except ParaphrasticError as error:
                warnings.append(f"{run.name} is not compared with {other.name}: {error}")
                continue
            tables = {name: rows_of(analysis(pairs)) for name, analysis in OF_TWO_RUNS.items()}
            self.store.add_tables(run, tables | {_AGAINST: against})
        return warnings

    def _add(self, run: Run, found: Sequence[tuple[Record, Result]]) -> list[str]:
        """Store the first result of this version, or of any, unless one is stored; return a warning if one differs."""
        if not found:
            return []
        warnings: list[str] = []
        name, chosen = "the stored result", self.store.result(run)
        if chosen is None or self.missing([run]):
            record, chosen = min(found, key=lambda each: each[1].version != self.version)
            name = f"'{record.name}'"
            tables, warnings = _replicates(run, record)
            self.store.add(run, replace(chosen, tables={**chosen.tables, **tables}), record.parameters)
        other = [each.name for each, result in found if result.version == chosen.version and chosen.contradicts(result)]
        if not other:
            return warnings
        return [
            *warnings,
            f"{run.name}: {name} and '{other[0]}' have different results; {name} counts, remove the wrong one",
        ]

    def _outdated(self, runs: Iterable[Run]) -> list[str]:
        """Return one line for each reason why stored results do not count."""
        names: dict[str, list[str]] = {}
        for run in runs:
            result, changed = self.store.result(run), self.store.changed(run)
            if result is not None and changed:
                names.setdefault(f"stored with another {changed[0]}", []).append(run.name)
            elif result is not None and result.version != self.version:
                names.setdefault(f"stored by version {result.version}, this is {self.version}", []).append(run.name)
        counted = {
            reason: f"{first} and {len(other)} more" if other else first for reason, (first, *other) in names.items()
        }
        return [f"{each}: {reason}; `paraphrastic papers run` runs it again" for reason, each in counted.items()]


def find_project(read_only: bool = False) -> Project:
    """Return the repository that contains the working directory.

    Args:
        read_only: as for `Project`.

    Raises:
        ParameterError: none does.
    """
    root = project_root()
    if (root / "experiments").is_dir() and (root / "dvc.yaml").is_file():
        return Project(root, read_only)
    raise ParameterError(f"{Path.cwd()}: no folder `experiments` here; run this in a clone of the repository")


def check(declared: Experiments) -> None:
    """Raise a DataError for an unknown name in declarations: of a model, key, corpus, suite or analysis."""
    starts = [(f"{REPLICA}: start", start_of(declared.replica, declared))] if declared.replica else []
    rows = (
        (f"{experiment.id}.toml: row '{row.all_labels[0]}'", runs_of_row(experiment, row, declared, data)[0])
        for data in SUITES
        if data != "replica" or declared.replica
        for experiment in declared.by_id.values()
        for row in experiment.rows
    )
    for where, run in chain(starts, rows):
        _check_run(run, declared.params, f"experiments/{where}")
    for experiment in declared.by_id.values():
        for key in {key for row in experiment.rows for key in experiment.keys_of(row).values()}:
            check_key(key, f"experiments/{experiment.id}.toml")


def _check_run(run: Run, params: Mapping[str, Any], where: str) -> None:
    """Raise a DataError for an unknown name in a run that `where` declares; the run it starts from is another one."""
    try:
        if run.model not in params["models"]:
            raise ParameterError(unknown_name("model", run.model, params["models"]))
        for key in (*run.settings, *([f"models.{run.model}.vectors"] if run.start else [])):
            _check_key(key, params)
            if key.startswith("models.") and not key.startswith(f"models.{run.model}."):
                raise ParameterError(f"'{key}' is an option of another model than {run.model}; remove it")
        if run.vectors and run.vectors not in catalogue().sources:
            raise ParameterError(unknown_name("source", run.vectors, catalogue().sources))
        corpus(run.settings["corpus"])
        suite(run.settings["benchmarks"])
        for name in run.analyses:
            if name not in analyses():
                raise ParameterError(unknown_name("analysis", name, analyses()))
    except ParameterError as error:
        raise DataError(f"{where}: {error}") from error


def _check_key(key: str, params: Mapping[str, Any]) -> None:
    block: Any = params
    for name in key.split("."):
        known = block if isinstance(block, Mapping) else {}
        if name not in known:
            raise ParameterError(f"no parameter '{place(key)}': {unknown_name('key', name, known)}")
        block = known[name]
    if "." not in key and isinstance(block, Mapping):
        raise ParameterError(f"'{key}' is a section of parameters; quote the whole key, as in \"{key}.KEY\"")


def matching(run: Run, records: Iterable[Record], params: Mapping[str, Any]) -> Iterator[tuple[Record, Result]]:
    """Yield the records with results of the parameters of `run`, the experiment that has its name first."""
    wanted = expected(params, run)
    for record in sorted(records, key=lambda each: each.name != run.name):
        if record.parameters and not differences(record.parameters, wanted) and (result := record.result(run)):
            yield record, result


def _replicates(run: Run, record: Record) -> tuple[dict[str, Table], list[str]]:
    """Return the replicates of the tasks of a run, and a warning for each that is not in the DVC cache here."""
    tables, warnings = {}, []
    for task in run.tasks:
        try:
            predictions = predictions_of(record.rev or WORKSPACE, task)
        except ParaphrasticError as error:
            warnings.append(f"{run.name}: intervals of {task} do not resample its rows: {error}")
            continue
        tables[f"{TASKS}{task}"] = rows_of(of_predictions(task, predictions))
    return tables, warnings
