"""Search the hyperparameters that a paper searched: the runs of a grid, the choice among them, and the row with it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

from pydantic import JsonValue, TypeAdapter, ValidationError

from paraphrastic.base.errors import DataError, ParameterError, unknown_name
from paraphrastic.base.files import write_json
from paraphrastic.papers.experiments import TASKS, Axes, Data, Declaration, Experiment, Experiments, Grid, Row
from paraphrastic.papers.plan import Run, runs_of_row
from paraphrastic.papers.results import Store

_GROUPS = {"test": "sts.2016", "oracle": "transfer.mean"}  # keys of the values of groups that `train.select` names


class Choice(Declaration):
    """The best settings of a row, or of one of its tasks."""

    label: str  # of the row
    columns: list[str]  # that it fills; all if empty
    tasks: list[str]
    tuned: dict[str, JsonValue]  # the settings, by option of the model's block or by dotted key
    note: str  # among how many, and by which value they were chosen


_CHOICES = TypeAdapter(dict[Data, dict[str, list[Choice]]])  # by kind of data and experiment


@dataclass(frozen=True)
class Search:
    """A grid for a row, or for one of its tasks."""

    row: Row  # with the columns and tasks that the search is for
    grid: Grid
    axes: Axes
    key: str  # of the value that chooses: on the sets that select the epoch, or on the development set of the task
    runs: Sequence[tuple[Mapping[str, JsonValue], Sequence[Run]]]  # each point of the grid and its runs by seed

    def best(self, store: Store) -> Choice | None:
        """Return the point with the largest mean over seeds among those with stored results; None if there are none."""
        values = [_mean(store, runs, self.key) for _, runs in self.runs]
        means = {number: value for number, value in enumerate(values) if value is not None}
        if not means:
            return None
        number = max(means, key=means.__getitem__)
        tuned, runs = self.runs[number]
        point = ", ".join(f"{axis} {value}" for axis, value in tuned.items())
        seeds = f"{len(runs)} {'seed' if len(runs) == 1 else 'seeds'}"
        chosen = f"best of {len(means)} by {self.key} ({means[number]:.1f}, {seeds})"
        note = f"{point}: {chosen}, of the grid of {self.grid.source}"
        return Choice(
            label=self.row.all_labels[0], columns=self.row.columns, tasks=self.row.tasks, tuned=dict(tuned), note=note
        )


def searches(
    experiment: Experiment, declared: Experiments, data: Data, over: Sequence[str] = (), seeds: Sequence[int] = ()
) -> list[Search]:
    """Return a search for each row that has a grid, and for each task of the row.

    Args:
        experiment: its rows.
        declared: the presets and grids.
        data: the kind of data.
        over: axes to search; empty for all. The other options are those of the row.
        seeds: of each point; empty for the first of the row.

    Raises:
        ParameterError: no row has an axis of `over`.
    """
    grids = [(row, *found) for row in experiment.rows if not row.hidden and (found := _grid(experiment, row, declared))]
    known = {axis for *_, axes in grids for axis in axes}
    for axis in over:
        if axis not in known:
            raise ParameterError(f"{experiment.id}: {unknown_name('axis', axis, known)}")
    chosen = ((row, grid, {axis: axes[axis] for axis in axes if axis in (over or axes)}) for row, grid, axes in grids)
    return [
        _search(experiment, part, grid, axes, declared, data, seeds)
        for row, grid, axes in chosen
        if axes
        for part in _parts(experiment, row, runs_of_row(experiment, row, declared, data)[0].tasks)
    ]


def _grid(experiment: Experiment, row: Row, declared: Experiments) -> tuple[Grid, Axes] | None:
    """Return the grid of a row and its axes, without those of values that the row itself declares."""
    named, preset = row.grid or experiment.grid, declared.presets.get(row.preset or "")
    name = named or (preset.grid if preset else None)
    if name is None:
        return None
    grid, own = declared.grids[name], preset.over if preset and not named else {}
    declared_here = {*row.options, *row.set, *row.paper_set}
    free = {
        axis: values
        for axis, values in (grid.over | own).items()
        if not any(_point([axis], [value]).keys() & declared_here for value in values)
    }
    return grid, free | row.over


def _parts(experiment: Experiment, row: Row, tasks: Sequence[str]) -> Iterator[Row]:
    """Yield the row for each of its tasks, with the columns of the task; the row as it is if it has none."""
    if not tasks:
        yield row
    for task in tasks:
        keys = {column: key.replace("{task}", task) for column, key in experiment.keys_of(row).items()}
        columns = [column for column, key in keys.items() if key.startswith(f"{TASKS}{task}.")]
        yield row.model_copy(update={"tasks": [task], "paper_tasks": [], "columns": columns})


def _search(
    experiment: Experiment, row: Row, grid: Grid, axes: Axes, declared: Experiments, data: Data, seeds: Sequence[int]
) -> Search:
    corpus = row.corpus or experiment.corpus
    of_search = corpus.model_copy(update={"paper": grid.paper_corpus or corpus.paper})
    shared: dict[str, Any] = {"corpus": of_search, "against": None}
    seeds = seeds or (row.seeds or experiment.seeds)[:1]
    points = [_point(axes, values) for values in product(*axes.values())]
    tried = (row.model_copy(update=shared | {"tuned": grid.options | grid.set | point}) for point in points)
    every = [runs_of_row(experiment, each, declared, data, seeds) for each in tried]
    runs = [[replace(run, analyses=()) for run in group] for group in every]  # the replica adds resamples to each
    select = runs[0][0].settings.get("train.select") or declared.params["train"]["select"]
    keys = (
        key.replace("{task}", task).replace(".test.", ".dev.")
        for task in row.tasks
        for key in experiment.keys_of(row).values()
    )
    return Search(row, grid, axes, next(keys, _GROUPS.get(select, select)), list(zip(points, runs, strict=True)))


def _point(axes: Sequence[str] | Axes, values: Sequence[JsonValue]) -> dict[str, JsonValue]:
    """Return the settings of one value of each axis."""
    point: dict[str, JsonValue] = {}
    for axis, value in zip(axes, values, strict=True):
        point |= value if isinstance(value, dict) else {axis: value}
    return point


def _mean(store: Store, runs: Sequence[Run], key: str) -> float | None:
    results = [result for run in runs if (result := store.result(run)) and not store.changed(run)]
    values = [value for each in results if isinstance(value := each.value(key), int | float)]
    return sum(values) / len(values) if len(values) == len(runs) else None


@dataclass(frozen=True)
class Choices:
    """The choices of searches in a file, by kind of data and experiment."""

    path: Path  # a JSON file; without it there are none

    def add(self, experiment: Experiment, data: Data, choices: Sequence[Choice]) -> None:
        """Store the choices of an experiment in place of earlier ones for the same rows and columns."""
        content = self._read()
        known = {(each.label, *each.columns): each for each in content.setdefault(data, {}).get(experiment.id, [])}
        known |= {(each.label, *each.columns): each for each in choices}
        content[data][experiment.id] = list(known.values())
        write_json(self.path, _CHOICES.dump_python(content))

    def applied(self, experiment: Experiment, data: Data) -> Experiment:
        """Return an experiment with a row `LABEL, tuned` for each choice.

        Raises:
            DataError: the file is damaged, or the experiment lacks a row of it.
        """
        tuned = [self._row(experiment, each) for each in self._read().get(data, {}).get(experiment.id, [])]
        return experiment.model_copy(update={"rows": [*experiment.rows, *tuned]})

    def _row(self, experiment: Experiment, choice: Choice) -> Row:
        labelled = (row for row in experiment.rows if choice.label in row.all_labels)
        row = next((row for row in labelled if {*choice.columns} <= experiment.keys_of(row).keys()), None)
        if row is None:
            raise DataError(f"{self.path}: {experiment.id} has no row '{choice.label}'; remove the entry")
        own = {"label": f"{choice.label}, tuned", "labels": [], "paper_tasks": []}
        return row.model_copy(update=own | choice.model_dump(exclude={"label"}))

    def _read(self) -> dict[Data, dict[str, list[Choice]]]:
        try:
            return _CHOICES.validate_json(self.path.read_bytes())
        except FileNotFoundError:
            return {}
        except ValidationError as error:
            raise DataError(f"{self.path}: not the choices of searches; `git checkout` restores it") from error
