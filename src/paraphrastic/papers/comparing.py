"""A published table beside our results.

Means of the papers have sets that our data may lack. Where the paper states the numbers of single sets, theirs is the
mean over the sets that both have (`Cell.common`). Where it states the mean alone, a column of differences from the row
`reference` of the experiment is added, because differences between rows depend less on the sets.
"""

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import log10
from statistics import fmean, mean, stdev
from typing import Any

import pandas as pd

from paraphrastic.analysis.published import parsed, printed, published
from paraphrastic.papers.experiments import Data, Experiment, Experiments, Row
from paraphrastic.papers.plan import ANY_FILE, Run, expected, merge, runs_of_row, without_seed
from paraphrastic.papers.results import Result, Store, sets_of

GAP = "–"
_COUNT, _OF_SCORES = 100, 2  # larger numbers are counts, those with more decimals fractions, compared in percent
_OF_PAIRS = (".epochs", ".learning_rate", ".optimizer", ".negatives", ".margin")  # options of training on pairs
_ROUNDING = 0.1  # a mean of printed numbers and the printed mean differ by less


@dataclass(frozen=True)
class Cell:
    """A number or text of the paper, and ours, in our unit."""

    theirs: str = ""  # empty if the paper has none
    ours: tuple[float | str, ...] = ()  # one value for each seed that has been run; texts in tables of examples
    published: float | None = None  # the number that `theirs` is; None if it is text or missing
    decimals: int = 1  # with which numbers are shown
    gap: str = ""  # reason why ours is missing; empty if it is there, or none is expected
    lacks: tuple[str, ...] = ()  # sets of the paper that ours is without
    common: bool = False  # whether theirs is without them as well

    @property
    def mean(self) -> float | None:
        """Mean over seeds; None without numbers."""
        return mean(self._numbers) if self._numbers else None

    @property
    def spread(self) -> float | None:
        """Standard deviation over seeds; None for fewer than two."""
        return stdev(self._numbers) if len(self._numbers) > 1 else None

    @property
    def partial(self) -> bool:
        """Whether the paper's number is over more sets than ours, so that they cannot be compared."""
        return bool(self.lacks and self.theirs and not self.common)

    @property
    def distance(self) -> float | None:
        """Our mean minus the published number, perhaps in percent; None if not comparable."""
        if self.mean is None or self.published is None or self.partial:
            return None
        difference = self.mean - self.published
        return 100 * difference / abs(self.published) if self._in_percent else difference

    @property
    def difference(self) -> float | None:
        """The distance, rounded as shown."""
        return None if self.distance is None else round(self.distance, 1 if self._in_percent else self.decimals)

    @property
    def shown_mean(self) -> str:
        """Ours without its spread, with a star if it is partial; – for a gap; empty if none is expected."""
        if self.mean is None:
            return str(self.ours[0]) if self.ours else GAP if self.gap else ""
        return number(self.mean, self.decimals) + ("*" if self.partial else "")

    @property
    def shown_spread(self) -> str:
        """The spread; empty without one."""
        return "" if self.spread is None else number(self.spread, self.decimals)

    @property
    def shown_difference(self) -> str:
        """The difference with its sign; empty without one."""
        if self.difference is None:
            return ""
        return f"{signed(self.difference, 1)} %" if self._in_percent else signed(self.difference, self.decimals)

    @property
    def _in_percent(self) -> bool:
        """Whether the number is no score × 100: a count, or a fraction, which has more decimals than scores."""
        return bool(self.published) and (abs(self.published or 0) > _COUNT or self.decimals > _OF_SCORES)

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
    deviations: Sequence[str] = ()  # parameters with another value than on the papers' data, and both values

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


def names_of_data(corpora: Iterable[str], tasks: Sequence[str]) -> list[str]:
    """Return corpora and tasks; models that are trained on tasks alone declare the corpus sample, which is left out."""
    return list(dict.fromkeys([*(name for name in corpora if name != "sample" or not tasks), *tasks]))


def compare(experiment: Experiment, declared: Experiments, data: Data, store: Store) -> Comparison:
    """Return the published table of an experiment beside the stored results.

    Of several experiments of one table, the first alone has the published rows that it does not declare.

    Raises:
        DataError: the file of the published numbers, or a stored result, is damaged.
    """
    theirs = printed(experiment.paper, experiment.table) if experiment.paper else {}
    table = (experiment.paper, experiment.table)
    if experiment.id in [name for name, each in declared.by_id.items() if (each.paper, each.table) == table][1:]:
        own = {label for row in experiment.rows for label in row.all_labels}
        theirs = {cell: text for cell, text in theirs.items() if cell[0] in own}
    shown = _distinct(experiment, declared, data, {row for row, _ in theirs})
    ours = [column for row in shown for column in experiment.keys_of(row)]
    columns = list(dict.fromkeys([*(column for _, column in theirs), *ours]))
    declared_labels = [label for row in shown for label in row.all_labels]
    labels = list(dict.fromkeys([*(row for row, _ in theirs), *declared_labels]))
    lines = [_line(label, experiment, declared, data, store, columns) for label in labels]
    for column in columns:
        lines = _with_published(lines, column, experiment, theirs)
    for column in [each for each in columns if any(line.cells[each].partial for line in lines)]:
        if experiment.reference and sets_of(experiment.columns.get(column, "")):
            lines = _with_relative(lines, column, experiment.reference)
    return Comparison(experiment, data, list(dict.fromkeys(name for line in lines for name in line.cells)), lines)


def _distinct(experiment: Experiment, declared: Experiments, data: Data, published: set[str]) -> list[Row]:
    """Return the rows to show: of those that the paper lacks, the ones that are not other rows on this kind of data."""
    shown: dict[tuple[Any, ...], list[Row]] = {}
    for row in (row for row in experiment.rows if not row.hidden):
        run = runs_of_row(experiment, row, declared, data)[0]
        alike = shown.setdefault((run.configuration, run.tasks, *experiment.keys_of(row)), [])
        if not alike or published.intersection(row.all_labels):
            alike.append(row)
    return [row for row in experiment.rows if any(row in alike for alike in shown.values())]


def _line(
    label: str, experiment: Experiment, declared: Experiments, data: Data, store: Store, columns: Sequence[str]
) -> Line:
    """Return a row with our values."""
    rows = [row for row in experiment.rows if label in row.all_labels and not row.hidden]
    runs = {id(row): runs_of_row(experiment, row, declared, data) for row in rows}
    every = [run for group in runs.values() for run in group]
    results = {run.name: result for run in every if (result := store.result(run)) is not None}
    query = label.partition(" ")[2]  # without the model that the label begins with
    cells = {}
    for column in columns:
        keys = [(row, experiment.keys_of(row).get(column, "")) for row in rows]
        filling = [(row, key.replace("{label}", label).replace("{query}", query)) for row, key in keys if key]
        own = [(run, key) for row, key in filling for run in runs[id(row)] if run.name in results]
        found = [(results[run.name], key.replace("{task}", "".join(run.tasks[:1]))) for run, key in own]
        values = tuple(value for result, key in found if (value := result.value(key)) is not None)
        lacks = dict.fromkeys(name for result, key in found for name in result.lacks(key))
        cells[column] = Cell(ours=values, lacks=tuple(lacks) if values else (), gap="" if values else "not measured")
    changed = sorted({key for run in every for key in store.changed(run)})
    return Line(label, rows, merge(every), results, cells, changed, _deviations(experiment, rows, declared, data))


def _deviations(experiment: Experiment, rows: Sequence[Row], declared: Experiments, data: Data) -> list[str]:
    """Return the parameters that have another value on the papers' data, as "`epochs` 1 in place of 10".

    Columns follow where other rows with the same label have the paper's value.
    """
    found: dict[str, list[Row]] = {}
    for row in rows if experiment.paper and declared.params and data != "paper" else ():
        run, papers = (runs_of_row(experiment, row, declared, each)[0] for each in (data, "paper"))
        ours, theirs = (without_seed(expected(declared.params, each)) for each in (run, papers))
        for key in sorted(key for key in ours.keys() & theirs.keys() if ours[key] != theirs[key] and _reads(run, key)):
            start = f"{run.start.model}'s" if run.start and key.endswith(".vectors") else ours[key]  # not a file's hash
            name = key.removeprefix(f"models.{run.model}.")
            found.setdefault(f"`{name}` {_value(start)} in place of {_value(theirs[key])}", []).append(row)
    shown = []
    for text, some in found.items():
        columns = dict.fromkeys(column for row in some for column in experiment.keys_of(row))
        shown.append(text if len(some) == len(rows) or not columns else f"{text} ({', '.join(columns)})")
    return [each for each in shown if not each.startswith("`benchmarks`")]


def _reads(run: Run, key: str) -> bool:
    """Return whether a run reads a parameter; one on tasks alone reads nothing of pairs, one of tagging no model."""
    if not run.tasks or run.corpora != ["sample"]:
        return True
    unread = ("tokenize.", *(["models."] if run.families == {"tags"} else []))
    is_of_pairs = run.model != "ldc" and key.startswith("models.") and key.endswith(_OF_PAIRS)
    return not (key.startswith(unread) or is_of_pairs)


def _value(value: Any) -> str:
    """Return the value of a parameter as text; an empty one is none."""
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none"
    if isinstance(value, bool):
        return str(value).lower()
    return "the paper's" if value == ANY_FILE else "none" if value is None else str(value)


def _with_published(
    lines: Sequence[Line], column: str, experiment: Experiment, theirs: Mapping[tuple[str, str], str]
) -> list[Line]:
    """Add the paper's numbers in our unit; means are over the sets that all of our results have, if it has theirs."""
    key = experiment.columns.get(column, "")
    lacks = {name for line in lines for name in line.cells[column].lacks}
    sets = sets_of(key) if experiment.paper and "[" not in key else []
    single = published(experiment.paper) if experiment.paper and sets else None
    texts = {line.label: theirs.get((line.label, column), "") for line in lines}
    usual = max((_decimals(text) for text in texts.values() if parsed(text) is not None), default=1)
    found = []
    for line in lines:
        text, number_of_paper = texts[line.label], parsed(texts[line.label])
        own = single[(single["row"] == line.label) & single["column"].isin(sets)] if single is not None else None
        common = None if own is None else _common_mean(own, experiment.table, sets, lacks, number_of_paper)
        value = common if common is not None or number_of_paper is None else experiment.scale * number_of_paper
        decimals = usual if number_of_paper is None else _decimals(text)
        decimals = max(0, decimals - round(log10(experiment.scale)))
        shown = text if value is None or value == number_of_paper else number(value, decimals)
        filled = any(column in experiment.keys_of(row) for row in line.rows)
        cell = line.cells[column]
        gap = (line.gap or cell.gap if text or filled else "") if cell.gap else ""
        cell = replace(cell, theirs=shown, published=value, decimals=decimals, gap=gap, common=common is not None)
        found.append(replace(line, cells={**line.cells, column: cell}))
    return found


def _common_mean(
    single: pd.DataFrame, table: str, sets: Sequence[str], lacks: Container[str], printed_mean: float | None
) -> float | None:
    """Return the mean of a row of the paper on `sets` without `lacks`; None if there are no numbers of single sets.

    Numbers of another table count if their mean is the printed one.
    """
    if printed_mean is not None and not lacks:
        return None
    own = single if printed_mean is not None else single[single["table"] == table]
    numbers = {name: parsed(text) for name, text in zip(own["column"], own["value"], strict=True)}
    values = {name: value for name, value in numbers.items() if value is not None and abs(value) <= 100}
    if len(values) < len(sets) or (printed_mean is not None and abs(fmean(values.values()) - printed_mean) > _ROUNDING):
        return None
    return fmean(value for name, value in values.items() if name not in lacks)


def _with_relative(lines: Sequence[Line], column: str, reference: str) -> list[Line]:
    """Add a column after `column` that has the difference from the row `reference`, theirs and ours."""
    base = next(line.cells[column] for line in lines if line.label == reference)
    found = []
    for line in lines:
        cell, relative = line.cells[column], Cell()
        if line.label != reference and base.mean is not None and base.published is not None:
            value = None if cell.published is None else cell.published - base.published
            ours = tuple(each - base.mean for each in cell.ours if not isinstance(each, str))
            text = "" if value is None else signed(value, cell.decimals)
            relative = replace(cell, theirs=text, published=value, ours=ours, common=True)
        cells: dict[str, Cell] = {}
        for name, each in line.cells.items():
            cells |= {name: each} | ({f"to {reference}": relative} if name == column else {})
        found.append(replace(line, cells=cells))
    return found


def _decimals(text: str) -> int:
    return len(text.partition(".")[2])


def number(value: float, decimals: int) -> str:
    """Return a number with a minus sign and commas between thousands; 0.0 has no sign."""
    return f"{value:z,.{decimals}f}".replace("-", "−")


def signed(value: float, decimals: int) -> str:
    """Return a number with its sign; 0.0 has none."""
    text = f"{value:+,.{decimals}f}".replace("-", "−")
    return text if text.strip("+−0.,") else text[1:]
