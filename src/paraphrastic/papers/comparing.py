"""A published table beside our results."""

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from paraphrastic.analysis.published import parsed, printed
from paraphrastic.papers.experiments import Data, Experiment, Experiments, Row
from paraphrastic.papers.plan import Run, runs_of_row
from paraphrastic.papers.results import Result, Store

Closeness = Literal["close", "near", "off", "far"]
PARTS = ("theirs", "ours", "difference")  # of a cell
BOUNDS: tuple[tuple[float, Closeness], ...] = ((1, "close"), (3, "near"), (10, "off"), (float("inf"), "far"))
GAP = "–"
NARROW = 3  # tables with at most as many columns have a column of differences; wider ones show them on demand
_COUNT = 100  # larger numbers are counts, whose differences are in percent
_WIDE = 8  # a table with more columns than this, and than rows, is transposed


@dataclass(frozen=True)
class Cell:
    """A number of the paper and ours."""

    theirs: str  # as printed; empty if the paper has none
    ours: tuple[float | str, ...]  # one value for each seed that has been run; texts in tables of examples
    scale: float = 1.0  # factor from the paper's unit to ours
    lacks: tuple[str, ...] = ()  # sets of the paper's mean that ours is without

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
        value = parsed(self.theirs)
        return None if value is None else self.scale * value

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
    """A row of a comparison."""

    label: str  # the row of the published table
    rows: Sequence[Row]  # the declarations of the configurations that fill it; none if we have none
    runs: Sequence[Run]  # their runs, one for each seed
    results: Mapping[str, Result]  # the results of those that have been run, by name of the run
    cells: Mapping[str, Cell]  # by column
    changed: Sequence[str] = ()  # parameters that had another value when a result was stored

    @property
    def data(self) -> list[str]:
        """Names of corpora, also those of the runs that it starts from, and of supervised tasks."""
        corpora = [name for run in self.runs for each in (run.start, run) if each for name in each.corpora]
        return names_of_data(corpora, [task for run in self.runs for task in run.tasks])

    @property
    def gap(self) -> str:
        """Reason why results are missing; empty if all are there."""
        if not self.rows:
            return "no configuration of ours"
        return f"{len(self.results)} of {len(self.runs)} runs" if len(self.results) < len(self.runs) else ""


@dataclass(frozen=True)
class Comparison:
    """A table or figure: theirs and ours."""

    experiment: Experiment  # its declaration
    data: Data  # the kind of data of our results
    columns: list[str]  # of the published table, then those that only we have
    lines: list[Line]  # rows of the published table, then those that only we have

    @property
    def measured(self) -> set[str]:
        """The columns that at least one configuration of ours fills."""
        return {column for line in self.lines for row in line.rows for column in self.experiment.keys_of(row)}


def names_of_data(corpora: Iterable[str], tasks: Sequence[str]) -> list[str]:
    """Return corpora and tasks; models that are trained on tasks alone declare the corpus sample, which is left out."""
    return list(dict.fromkeys([*(name for name in corpora if name != "sample" or not tasks), *tasks]))


def compare(experiment: Experiment, declared: Experiments, data: Data, store: Store) -> Comparison:
    """Return the published table of an experiment beside the stored results.

    Raises:
        DataError: the file of the published numbers, or a stored result, is damaged.
    """
    theirs = printed(experiment.paper, experiment.table) if experiment.paper else {}
    shown = [row for row in experiment.rows if not row.hidden]
    ours = [column for row in shown for column in experiment.keys_of(row)]
    columns = list(dict.fromkeys([*(column for _, column in theirs), *ours]))
    declared_labels = [label for row in shown for label in row.all_labels]
    labels = list(dict.fromkeys([*(row for row, _ in theirs), *declared_labels]))
    lines = [_line(label, experiment, declared, data, store, columns, theirs) for label in labels]
    return Comparison(experiment, data, columns, lines)


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
        query = label.partition(" ")[2]  # without the model that the label begins with
        filling = [(row, key.replace("{label}", label).replace("{query}", query)) for row, key in keys if key]
        own = [(run, key) for row, key in filling for run in runs[id(row)] if run.name in results]
        found = [(results[run.name], key.replace("{task}", "".join(run.tasks[:1]))) for run, key in own]
        values = tuple(value for result, key in found if (value := result.value(key)) is not None)
        lacks = dict.fromkeys(name for result, key in found for name in result.lacks(key))
        return Cell(theirs.get((label, column), ""), values, experiment.scale, tuple(lacks) if values else ())

    cells = {column: cell(column) for column in columns}
    changed = sorted({key for run in every for key in store.changed(run)})
    return Line(label, rows, every, results, cells, changed)


@dataclass(frozen=True)
class Shown:
    """The texts of a cell."""

    theirs: str  # the number of the paper as printed; empty if there is none
    ours: str  # mean of our numbers in the same unit and with as many decimals; – for a gap; empty if none is expected
    spread: str = ""  # their standard deviation; empty for fewer than two
    difference: str = ""  # ours minus theirs with its sign; empty if either is missing
    closeness: Closeness | None = None  # class of the difference
    reason: str = ""  # why ours is missing; empty if it is there
    partial: str = ""  # the sets that our mean is without, if the paper's has them; there is no difference then

    @property
    def ours_and_spread(self) -> str:
        """Ours, its spread after ±, and a star if it is partial."""
        return (f"{self.ours} ± {self.spread}" if self.spread else self.ours) + ("*" if self.partial else "")


@dataclass(frozen=True)
class Heading:
    """The label of a row or column."""

    text: str  # of the published table
    details: str = ""  # training data of our configuration, and the number of its runs; empty for a column of the paper


@dataclass(frozen=True)
class Grid:
    """A table to show."""

    columns: Sequence[Heading]  # headings of the columns
    rows: Sequence[tuple[Heading, Sequence[Shown]]]  # headings of the rows, each with its cells
    ours: Sequence[bool]  # for each column, whether we measure it
    transposed: bool = False  # whether the rows are the columns of the paper

    def entries(self) -> list[tuple[Heading, Heading, Shown]]:
        """Return row, column and texts of all cells that are not empty; rows and columns are those of the paper."""
        cells = ((row, *cell) for row, shown in self.rows for cell in zip(self.columns, shown, strict=True))
        filled = [(row, column, cell) for row, column, cell in cells if cell.theirs or cell.ours]
        return [(column, row, cell) for row, column, cell in filled] if self.transposed else filled

    def parts(self, column: int) -> list[str]:
        """Return which of `PARTS` the cells of a column have; `ours` also if all are gaps that we measure."""
        found = {"ours"} if self.ours[column] else set()
        cells = [cells[column] for _, cells in self.rows]
        return [part for part in PARTS if part in found or any(getattr(cell, part) not in ("", GAP) for cell in cells)]


def grid(comparison: Comparison) -> Grid:
    """Return a comparison as a table; one that is wide and short is transposed, so that its columns are models.

    If the columns are ranks, the rows are lists of texts, such as nearest neighbours, which have one cell.
    """
    columns, lines, measured = comparison.columns, comparison.lines, comparison.measured
    down = [Heading(line.label, details(line)) for line in lines]
    if len(columns) > 1 and columns == [str(rank) for rank in range(1, len(columns) + 1)]:
        lists = [[_list(line, columns)] for line in lines]
        return Grid([Heading("in order")], list(zip(down, lists, strict=True)), [bool(measured)])
    across = [Heading(column) for column in columns]
    cells = [[_shown(comparison, line, column) for column in columns] for line in lines]
    if len(columns) > max(len(lines), _WIDE):
        rows = list(zip(across, map(list, zip(*cells, strict=True)), strict=True))
        return Grid(down, rows, [bool(line.rows) for line in lines], transposed=True)
    return Grid(across, list(zip(down, cells, strict=True)), [column in measured for column in columns])


def details(line: Line) -> str:
    """Return the training data of a line's configurations and how many of their runs there are; empty without any."""
    if not line.rows:
        return ""
    seeds = f"{len(line.runs)} {'run' if len(line.runs) == 1 else 'runs'}"
    return " · ".join([" + ".join(line.data), line.gap or seeds])


def _list(line: Line, columns: Sequence[str]) -> Shown:
    """Return the texts of a line by rank, ours of the first seed, and how many are in both lists."""
    theirs = [text for column in columns if (text := line.cells[column].theirs)]
    ours = [str(values[0]) for column in columns if (values := line.cells[column].ours)]
    if not ours:
        return Shown(", ".join(theirs), GAP, reason=line.gap or "not measured")
    both = f"{len(set(theirs) & set(ours))} of {len(theirs)} in both" if theirs else ""
    return Shown(", ".join(theirs), ", ".join(ours), difference=both)


def _shown(comparison: Comparison, line: Line, column: str) -> Shown:
    cell = line.cells[column]
    if not cell.ours:
        filled = any(column in comparison.experiment.keys_of(row) for row in line.rows)
        return Shown(cell.theirs, GAP, reason=line.gap or "not measured") if cell.theirs or filled else Shown("", "")
    if cell.mean is None:
        return Shown(cell.theirs, str(cell.ours[0]))
    texts = [cell.theirs] if cell.theirs else [other.cells[column].theirs for other in comparison.lines]
    decimals = max((len(text.partition(".")[2]) for text in texts if parsed(text) is not None), default=1)
    spread = "" if cell.spread is None else number(cell.spread / cell.scale, decimals)
    return _with_difference(Shown(cell.theirs, number(cell.mean / cell.scale, decimals), spread), cell, decimals)


def _with_difference(shown: Shown, cell: Cell, decimals: int) -> Shown:
    """Add the difference, or why there is none: in percent for counts; its class is that of the rounded difference."""
    if cell.lacks and cell.published is not None:
        return replace(shown, partial=f"without {', '.join(cell.lacks)}")
    if cell.difference is None or cell.published is None:
        return shown
    difference, published = cell.difference / cell.scale, cell.published / cell.scale
    if abs(published) > _COUNT:
        size = round(100 * difference / abs(published), 1)
        text = f"{signed(size, 1)} %"
    else:
        size, text = cell.scale * round(difference, decimals), signed(difference, decimals)
    close = (name for bound, name in BOUNDS if abs(round(size, 6)) <= bound)
    return replace(shown, difference=text, closeness=next(close, "far"))


def number(value: float, decimals: int) -> str:
    """Return a number with a minus sign and commas between thousands."""
    return f"{value:,.{decimals}f}".replace("-", "−")


def signed(value: float, decimals: int) -> str:
    """Return a number with its sign; 0.0 has none."""
    text = number(value, decimals)
    zero = not text.strip("−0.,")
    return text.lstrip("−") if zero else text if text[0] == "−" else f"+{text}"
