"""Stored results: one JSON file for each configuration, with the values of each seed."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any

import pandas as pd
from pydantic import AfterValidator, Field, FiniteFloat, TypeAdapter, ValidationError

from paraphrastic.analysis import names as analyses
from paraphrastic.analysis.comparison.two_runs import OF_TWO_RUNS
from paraphrastic.base.errors import DataError, unknown_name
from paraphrastic.base.files import write_text
from paraphrastic.evaluation.headline import PAPERS_SETS
from paraphrastic.papers.experiments import TASKS
from paraphrastic.papers.plan import RESAMPLES, Flat, Run, differences, expected, without_seed

Values = Mapping[str, int | FiniteFloat]
_POOLED = ("length[", "unknown-words[")  # the analyses of pairs of all sets of STS
Table = list[list[Any]]  # rows, the first being the names of the columns


def _checked_table(table: Table) -> Table:
    header = table[0] if table else [None]
    if not all(isinstance(name, str) for name in header) or any(len(row) != len(header) for row in table):
        raise ValueError("a table begins with names of columns, and each row has a cell for each")
    return table


@dataclass(frozen=True)
class Result:
    """What one run measured."""

    version: str  # version of the package that computed it
    # metrics by key: those of metrics/evaluate.json and of metrics/finetune, by dotted key, and of each set,
    # `sts.2012.MSRpar` being its main metric and `sts.2012.MSRpar.spearman` another one
    values: Values
    # analyses by name, and the replicates of tasks, see `of_predictions`, by `finetune.TASK`
    tables: Mapping[str, Annotated[Table, AfterValidator(_checked_table)]] = field(default_factory=dict)
    # (epochs, score) on the development data by name: `selection`, or that of a task
    curves: Mapping[str, list[Annotated[list[float], Field(min_length=2, max_length=2)]]] = field(default_factory=dict)
    minutes: float | None = None  # duration of the run; None if it is not known

    def has(self, run: Run) -> bool:
        """Return whether this has what `run` measures: evaluation sets, tasks, analyses.

        Replicates of a metric can be missing, if it was not in a table when this was measured.
        """
        sets = not run.sets or any(not key.startswith(TASKS) for key in self.values)
        tasks = all(any(key.startswith(f"{TASKS}{task}.") for key in self.values) for task in run.tasks)
        analyses = all(name in self.tables for name in run.analyses)
        return sets and tasks and analyses

    def with_parts_of(self, other: "Result") -> "Result":
        """Return this result with the tasks and analyses that only `other`, of the same version, has."""
        if other.version != self.version:
            return self
        values, tables = {**other.values, **self.values}, {**other.tables, **self.tables}
        minutes = max((each for each in (self.minutes, other.minutes) if each is not None), default=None)
        return Result(self.version, values, tables, {**other.curves, **self.curves}, minutes)

    def of_families(self, families: frozenset[str]) -> "Result":
        """Return this result with those replicates of `resamples` alone that belong to `families` of a run."""
        if RESAMPLES not in self.tables:
            return self
        at = [n for n, key in enumerate(self.tables[RESAMPLES][0]) if _family(key) in families]
        kept = [[row[n] for n in at] for row in self.tables[RESAMPLES]] if at else [[]]
        return replace(self, tables={**self.tables, RESAMPLES: kept})

    @property
    def families(self) -> frozenset[str]:
        """The families of sets whose replicates this has."""
        return frozenset(map(_family, self.tables.get(RESAMPLES, [[]])[0]))

    def contradicts(self, other: "Result") -> bool:
        """Return whether a value that both results have differs."""
        return any(self.values[key] != other.values[key] for key in self.values.keys() & other.values.keys())

    def value(self, key: str) -> float | str | None:
        """Return a value, or a cell of an analysis; None if there is none.

        Args:
            key: `minutes`, a key of `values`, or `ANALYSIS[COLUMN=CELL,…].COLUMN`, for example
                `length[length=≤ 4].pearson`; no condition stands for the first row.
        """
        cell = re.fullmatch(r"([\w-]+)\[(.*)\]\.(\w+)", key)
        if cell is None:
            return self.minutes if key == "minutes" else self.values.get(key)
        conditions = [part.partition("=")[::2] for part in cell[2].split(",") if part]
        header, *rows = self.tables.get(cell[1]) or [[]]
        records = (dict(zip(header, row, strict=False)) for row in rows)
        found = (each for each in records if all(str(each.get(name)) == text for name, text in conditions))
        return next(found, {}).get(cell[3])

    def replicates(self, key: str) -> list[float]:
        """Return the bootstrap replicates of a value, (1000,); an empty list if none are stored."""
        task = re.fullmatch(rf"({re.escape(TASKS)}[^.]+)\.(.+)", key)
        name, column = task.groups() if task else (RESAMPLES, key)
        header, *rows = self.tables.get(name) or [[]]
        return [row[header.index(column)] for row in rows] if column in header else []

    def lacks(self, key: str) -> list[str]:
        """Return the sets of the papers that a value is without, see `sets_of`."""
        return [name for name in sets_of(key) if name not in self.values]


def check_key(key: str, where: str) -> None:
    """Raise a DataError if a key that `where` declares reads an analysis that does not exist."""
    name, bracket, _ = key.partition("[")
    if bracket and name not in (known := {*analyses(), *OF_TWO_RUNS}):
        raise DataError(f"{where}: {unknown_name('analysis', name, known)}")


def _family(key: str) -> str:
    """Return the name in `Run.families` of the sets that a metric is computed from."""
    first = key.partition(".")[0]
    return "sts" if first == "transfer" else first


@dataclass(frozen=True)
class Configuration:
    """The stored results of one configuration."""

    params: Flat  # the parameters that determine them, by dotted key, without the seed
    seeds: Mapping[int, Result]  # result by seed


_CONFIGURATION = TypeAdapter(Configuration)


class Store:
    """The files `NAME.json` in a folder.

    Args:
        folder: created when the first result is added.
        params: content of params.yaml and the other parameter files.
        read_only: whether results that are added are kept in memory only.
    """

    def __init__(self, folder: Path, params: Mapping[str, Any], read_only: bool = False) -> None:
        self._folder, self._params, self._read_only = folder, params, read_only
        self._read: dict[str, Configuration] = {}

    def result(self, run: Run) -> Result | None:
        """Return the stored result of a run; None if there is none or if it lacks tasks or analyses of the run.

        Raises:
            DataError: the file of its configuration is damaged.
        """
        configuration = self._configuration(run.configuration)
        result = configuration.seeds.get(run.seed) if configuration else None
        return result if result and result.has(run) else None

    def changed(self, run: Run) -> list[str]:
        """Return the parameters of a stored result that have another value in params.yaml now."""
        configuration = self._configuration(run.configuration)
        if configuration is None:
            return []
        return differences(without_seed(configuration.params), without_seed(expected(self._params, run)))

    def has(self, name: str) -> bool:
        """Return whether there is a result of the experiment `name`."""
        configuration, _, seed = name.rpartition("-s")
        known = self._configuration(configuration)
        return known is not None and seed.isdecimal() and int(seed) in known.seeds

    def add(self, run: Run, result: Result, params: Flat) -> None:
        """Store the result of a run beside what it has of this version; results of other parameters are dropped.

        `params` are those of the result, among them those that determine it. Those of tasks count for a run with tasks
        only.
        """
        configuration = self._configuration(run.configuration)
        kept = configuration if configuration and not self.changed(run) else Configuration({}, {})
        known = kept.seeds.get(run.seed, Result("", {}))
        result = result.with_parts_of(known).of_families(run.families | known.families)
        determining = without_seed(expected(self._params, run)).keys()
        own = {key: value for key, value in without_seed(params).items() if key in determining}
        self._write(run.configuration, Configuration({**kept.params, **own}, {**kept.seeds, run.seed: result}))

    def add_tables(self, run: Run, tables: Mapping[str, Table]) -> None:
        """Add analyses to a stored result."""
        self._change(run, lambda result: replace(result, tables={**result.tables, **tables}))

    def note_minutes(self, run: Run, minutes: float) -> None:
        """Add the duration of a run to its stored result; a shorter one found stages in DVC's run cache."""
        self._change(run, lambda result: replace(result, minutes=max(result.minutes or 0.0, round(minutes, 1))))

    def minutes(self) -> dict[tuple[str, ...], float]:
        """Return the mean duration of the stored runs by model and suite of evaluation sets, and by corpora besides."""
        durations: dict[tuple[Any, ...], list[float]] = {}
        names = [path.stem for path in sorted(self._folder.glob("*.json"))]
        for configuration in filter(None, map(self._configuration, names)):
            known = [each.minutes for each in configuration.seeds.values() if each.minutes is not None]
            key = configuration.params.get("model"), str(configuration.params.get("benchmarks"))
            durations.setdefault(key, []).extend(known)
            corpora = configuration.params.get("corpus")
            durations.setdefault((*key, *(corpora if isinstance(corpora, list) else ())), []).extend(known)
        return {key: sum(known) / len(known) for key, known in durations.items() if known}

    def _change(self, run: Run, change: Callable[[Result], Result]) -> None:
        """Replace the stored result of a run, if there is one, by what `change` returns for it."""
        configuration, result = self._configuration(run.configuration), self.result(run)
        if configuration is not None and result is not None:
            seeds = {**configuration.seeds, run.seed: change(result)}
            self._write(run.configuration, replace(configuration, seeds=seeds))

    def _write(self, name: str, configuration: Configuration) -> None:
        """Write a configuration; equal results are equal bytes, in whichever order their parts were added."""
        if not self._read_only:
            write_text(self._folder / f"{name}.json", _json(asdict(configuration)) + "\n")
        self._read[name] = configuration

    def _configuration(self, name: str) -> Configuration | None:
        path = self._folder / f"{name}.json"
        if name not in self._read and path.exists():
            try:
                self._read[name] = _CONFIGURATION.validate_json(path.read_bytes())
            except ValidationError as error:
                remedy = f"restore it with `git checkout {path}`, or remove it and run `paraphrastic papers run` again"
                raise DataError(f"{path}: not a stored result; {remedy}") from error
        return self._read.get(name)


def sets_of(key: str) -> list[str]:
    """Return the sets of the papers that a value is of, if it is of several.

    They are those of `transfer.mean`, of the means of `norm-weights`, of the mean of a year, such as `sts.2013`, and of
    bins of pairs of all years.
    """
    prefix = "sts." if key.startswith(_POOLED) else f"{key}."
    every = key == "transfer.mean" or (key.startswith("norm-weights[") and key.endswith(".pearson"))
    return [name for name in PAPERS_SETS if every or name.startswith(prefix)]


def _json(value: Any, line: str = "\n") -> str:
    """Return JSON with a line for each key, in order, and each list on one line: a table may have 1,000 rows."""
    if not isinstance(value, dict) or not value:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    inner = f"{line} "
    pairs = (f"{json.dumps(str(key), ensure_ascii=False)}: {_json(each, inner)}" for key, each in sorted(value.items()))
    return f"{{{inner}{f',{inner}'.join(pairs)}{line}}}"


def rows_of(table: pd.DataFrame) -> Table:
    """Return the rows of a table of an analysis, the first being the names of the columns."""
    rows: Table = table.astype(object).where(table.notna(), "").to_numpy().tolist()
    return [list(table.columns), *rows]
