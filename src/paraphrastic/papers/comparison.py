"""A published table beside our results."""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from paraphrastic.analysis.published import published
from paraphrastic.papers.experiments import Data, Experiment, Experiments, Row
from paraphrastic.papers.plan import Run, runs_of_row
from paraphrastic.papers.results import Result, Store


@dataclass(frozen=True)
class Cell:
    """A number of the paper and ours.

    Attributes:
        theirs: as printed; empty if the paper has none.
        ours: one value for each seed that has been run; texts in tables of examples.
        scale: factor from the paper's unit to ours.
        lacks: sets of the paper's mean that ours is without.
    """

    theirs: str
    ours: tuple[float | str, ...]
    scale: float = 1.0
    lacks: tuple[str, ...] = ()

    @property
    def mean(self) -> float | None:
        """Mean over seeds; None without numbers."""
        return statistics.mean(self._numbers) if self._numbers else None

    @property
    def spread(self) -> float | None:
        """Standard deviation over seeds; None for fewer than two."""
        return statistics.stdev(self._numbers) if len(self._numbers) > 1 else None

    @property
    def published(self) -> float | None:
        """The number of the paper in our unit; None if it is text or missing."""
        try:
            return self.scale * float(self.theirs.replace(",", ""))
        except ValueError:
            return None

    @property
    def difference(self) -> float | None:
        """Our mean minus the published number, in our unit; None if either is missing, or ours is over fewer sets."""
        if self.mean is None or self.published is None or self.lacks:
            return None
        return self.mean - self.published

    @property
    def _numbers(self) -> list[float]:
        return [value for value in self.ours if not isinstance(value, str)]


@dataclass(frozen=True)
class Line:
    """A row of a comparison.

    Attributes:
        label: the row of the published table.
        rows: the declarations of the configurations that fill it; none if we have none.
        runs: their runs, one for each seed.
        results: the results of those that have been run, by name of the run.
        cells: by column.
        changed: parameters that had another value when a result was stored.
    """

    label: str
    rows: Sequence[Row]
    runs: Sequence[Run]
    results: Mapping[str, Result]
    cells: Mapping[str, Cell]
    changed: Sequence[str] = ()

    @property
    def data(self) -> list[str]:
        """Names of corpora, also those of the runs that it starts from, and of supervised tasks.

        Models that are trained on tasks alone declare the corpus sample, which is left out.
        """
        corpora = [name for run in self.runs for each in (run.start, run) if each for name in each.corpora]
        tasks = [task for run in self.runs for task in run.tasks]
        return list(dict.fromkeys([*(name for name in corpora if name != "sample" or not tasks), *tasks]))

    @property
    def gap(self) -> str:
        """Reason why results are missing; empty if all are there."""
        if not self.rows:
            return "no configuration of ours"
        return f"{len(self.results)} of {len(self.runs)} runs" if len(self.results) < len(self.runs) else ""


@dataclass(frozen=True)
class Comparison:
    """A table or figure: theirs and ours.

    Attributes:
        experiment: its declaration.
        data: the kind of data of our results.
        columns: of the published table, then those that only we have.
        lines: rows of the published table, then those that only we have.
    """

    experiment: Experiment
    data: Data
    columns: list[str]
    lines: list[Line]

    @property
    def measured(self) -> set[str]:
        """The columns that at least one configuration of ours fills."""
        return {column for line in self.lines for row in line.rows for column in self.experiment.keys_of(row)}


def compare(experiment: Experiment, declared: Experiments, data: Data, store: Store) -> Comparison:
    """Return the published table of an experiment beside the stored results.

    Raises:
        DataError: the file of the published numbers, or a stored result, is damaged.
    """
    theirs = _published(experiment)
    shown = [row for row in experiment.rows if not row.hidden]
    ours = [column for row in shown for column in experiment.keys_of(row)]
    columns = list(dict.fromkeys([*(column for _, column in theirs), *ours]))
    declared_labels = [label for row in shown for label in row.all_labels]
    labels = list(dict.fromkeys([*(row for row, _ in theirs), *declared_labels]))
    lines = [_line(label, experiment, declared, data, store, columns, theirs) for label in labels]
    return Comparison(experiment, data, columns, lines)


def _published(experiment: Experiment) -> dict[tuple[str, str], str]:
    """Return the published numbers by row and column; none without a paper."""
    if experiment.paper is None:
        return {}
    table = published(experiment.paper)
    table = table[table["table"] == experiment.table]
    return {(row, column): value for row, column, value in table[["row", "column", "value"]].itertuples(index=False)}


def _line(
    label: str,
    experiment: Experiment,
    declared: Experiments,
    data: Data,
    store: Store,
    columns: Sequence[str],
    theirs: Mapping[tuple[str, str], str],
) -> Line:
    rows = [row for row in experiment.rows if label in row.all_labels and not row.hidden]
    runs = {id(row): runs_of_row(experiment, row, declared, data) for row in rows}
    every = [run for group in runs.values() for run in group]
    results = {run.name: result for run in every if (result := store.result(run)) is not None}

    def cell(column: str) -> Cell:
        keys = [(row, experiment.keys_of(row).get(column, "")) for row in rows]
        filling = [(row, _filled(key, label)) for row, key in keys if key]
        found = [(results[run.name], key) for row, key in filling for run in runs[id(row)] if run.name in results]
        values = tuple(value for result, key in found if (value := result.value(key)) is not None)
        lacks = dict.fromkeys(name for result, key in found for name in result.lacks(key))
        return Cell(theirs.get((label, column), ""), values, experiment.scale, tuple(lacks) if values else ())

    cells = {column: cell(column) for column in columns}
    changed = sorted({key for run in every for key in store.changed(run)})
    return Line(label, rows, every, results, cells, changed)


def _filled(key: str, label: str) -> str:
    """Return a key with the label of its row; `{query}` stands for a label without the model that it begins with."""
    return key.replace("{label}", label).replace("{query}", label.partition(" ")[2])
