"""What stands below the numbers of a comparison: its data, sets and settings, its gaps and notes, and counts."""

from collections.abc import Iterable
from statistics import fmean
from typing import NamedTuple

from paraphrastic.papers.comparing import GAP, Comparison, Line, names_of_data

_CLOSE = 3  # points within which a number of ours is close


class Tally(NamedTuple):
    """How far a comparison has come."""

    runs: int  # number of runs
    finished: int  # of them, those with results
    compared: int  # numbers that both the paper and we have
    close: int  # of them, those within 3 points, or 3 % of counts and fractions


def tally(comparison: Comparison) -> Tally:
    """Return how many runs are finished and how many numbers are close."""
    runs = {run.name for line in comparison.lines for run in line.runs}
    finished = {name for line in comparison.lines for name in line.results}
    cells = [cell for line in comparison.lines for cell in line.cells.values()]
    distances = [cell.distance for cell in cells if cell.distance is not None]
    return Tally(len(runs), len(finished), len(distances), sum(abs(each) <= _CLOSE for each in distances))


def facts(comparison: Comparison) -> list[tuple[str, list[str]]]:
    """Return terms with their texts; terms without texts are left out."""
    experiment, lines, count = comparison.experiment, comparison.lines, tally(comparison)
    data = "" if comparison.data == "open" else f" --data {comparison.data}"
    versions = sorted({result.version for line in lines for result in line.results.values()})
    by = f", by version {', '.join(versions)}" if versions else ""
    shown = [row for row in experiment.rows if not row.hidden]
    found = [
        ("data", [_data(comparison)]),
        ("runs", [f"{count.finished} of {count.runs}{by}"] if count.runs else []),
        ("sets", _sets(comparison)),
        ("missing", [experiment.missing] if experiment.missing else []),
        ("command", [f"`paraphrastic papers run {experiment.id}{data}`"]),
        ("settings", _settings(comparison)),
        ("epoch", _epochs(lines)),
        ("gaps", _gaps(comparison)),
        ("changed", _grouped((line.label, f"another {_codes(line.changed)}") for line in lines if line.changed)),
        ("notes", _grouped((label, row.note) for row in shown if row.note for label in row.all_labels)),
    ]
    return [(term, texts) for term, texts in found if texts]


def details(line: Line) -> str:
    """Return the training data of a line's configurations and how many of their runs there are; empty without any."""
    seeds = f"{len(line.runs)} {'run' if len(line.runs) == 1 else 'runs'}"
    return " · ".join([" + ".join(line.data), line.gap or seeds]) if line.rows else ""


def _data(comparison: Comparison) -> str:
    experiment = comparison.experiment
    ours = _codes(name for line in comparison.lines for name in line.data)
    rows = [row for row in experiment.rows if not row.hidden]
    data = [((row.corpus or experiment.corpus).paper, row.paper_tasks or row.tasks) for row in rows]
    theirs = _codes(name for corpora, tasks in data for name in names_of_data(corpora, tasks))
    paper = f"; the paper: {theirs or GAP}" if experiment.paper else ""
    return f"ours: {comparison.data} data, {ours or 'no runs'}{paper}"


def _sets(comparison: Comparison) -> list[str]:
    """Return which sets means and pools are without, and what is compared then."""
    reference, found = comparison.experiment.reference, []
    for column, cell in [pair for line in comparison.lines for pair in line.cells.items()]:
        if cell.lacks and (cell.common or cell.partial):
            relative, without = column == f"to {reference}", f"without {', '.join(cell.lacks)}"
            theirs = f"the differences are of means, ours {without}" if relative else f"theirs and ours are {without}"
            found.append((column, theirs if cell.common else f"* {without}, not compared"))
    return _grouped(found)


def _settings(comparison: Comparison) -> list[str]:
    """Return the parameters whose values are not those on the papers' data, with the rows that they concern."""
    own = [line for line in comparison.lines if line.rows]
    found = ((line.label, each) for line in own for each in line.deviations)
    rows = {each: "; ".join(labels) if len(labels) < len(own) else "all rows" for each, labels in _labels(found)}
    return [f"{each}: {labels}" for each, labels in sorted(rows.items())]


def _epochs(lines: Iterable[Line]) -> list[str]:
    """Return which epoch each row was selected at, and the last one, which tells whether a curve still rises."""
    found = []
    for line in lines:
        curves = [result.curves.get("selection", []) for result in line.results.values()]
        if trained := [curve for curve in curves if len(curve) > 1]:
            best = fmean(max(curve, key=lambda point: point[1])[0] for curve in trained)
            found.append(f"{line.label} {best:.1f} of {trained[0][-1][0]:g}")
    return [f"selected, mean over seeds: {'; '.join(found)}"] if found else []


def _gaps(comparison: Comparison) -> list[str]:
    lines, columns = comparison.lines, comparison.columns
    unmeasured = [column for column in columns if not any(line.cells[column].ours for line in lines)]
    gaps = _grouped((line.label, line.gap) for line in lines if line.gap)
    none = [f"columns not measured: {', '.join(unmeasured)}"] if 0 < len(unmeasured) < len(columns) else []
    return [*gaps, *none]


def _grouped(found: Iterable[tuple[str, str]]) -> list[str]:
    """Return each text after the labels that it is of."""
    return [f"{'; '.join(labels)}: {each}" for each, labels in _labels(found)]


def _labels(found: Iterable[tuple[str, str]]) -> Iterable[tuple[str, dict[str, None]]]:
    labels: dict[str, dict[str, None]] = {}
    for label, each in found:
        labels.setdefault(each, {})[label] = None
    return labels.items()


def _codes(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in dict.fromkeys(names))
