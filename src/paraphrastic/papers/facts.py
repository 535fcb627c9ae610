"""Facts about a comparison, from its command to its notes; and how many numbers are close.

A text may hold code between backticks; everything else in it is plain text.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from paraphrastic.papers.comparison import Comparison
from paraphrastic.papers.experiments import Data
from paraphrastic.papers.grid import BOUNDS, Closeness, grid

Fact = tuple[str, Sequence[str]]

LEGEND: dict[Closeness, str] = {  # class of a difference → its bounds
    name: f"within {bound:g} {'point' if bound == 1 else 'points'}" if bound < float("inf") else "farther"
    for bound, name in BOUNDS
}
_COLOUR = (
    "The colour of a number of ours is its distance from that of the paper. Points are of scores × 100; counts above "
    "100 are compared in percent. ± is the standard deviation over seeds."
)
_OPEN = "Ours is trained on open data and not on that of the papers, so that distances show both the data and the code."


@dataclass(frozen=True)
class Tally:
    """How far a comparison has come.

    Attributes:
        runs: number of runs.
        finished: of them, those with results.
        compared: numbers that both the paper and we have.
        close: of them, those within 3 points.
    """

    runs: int
    finished: int
    compared: int
    close: int


def tally(comparison: Comparison) -> Tally:
    """Return how many runs are finished and how many numbers are close."""
    runs = {run.name for line in comparison.lines for run in line.runs}
    finished = {name for line in comparison.lines for name in line.results}
    classes = Counter(cell.closeness for _, cells in grid(comparison).rows for cell in cells if cell.closeness)
    return Tally(len(runs), len(finished), classes.total(), classes["close"] + classes["near"])


def facts(comparison: Comparison) -> list[Fact]:
    """Return terms with their texts; terms without texts are left out."""
    found = [
        ("command", [f"`{command(comparison)}`"]),
        ("data", [_data(comparison)]),
        ("runs", _runs(comparison)),
        ("sets", _sets(comparison)),
        ("missing", [text for text in [comparison.experiment.missing] if text]),
        ("gaps", _gaps(comparison)),
        ("changed", _changed(comparison)),
        ("notes", _notes(comparison)),
    ]
    return [(term, texts) for term, texts in found if texts]


def command(comparison: Comparison) -> str:
    """Return the command that runs an experiment."""
    data = "" if comparison.data == "open" else f" --data {comparison.data}"
    return f"paraphrastic papers run {comparison.experiment.id}{data}"


def legend(data: Data) -> list[str]:
    """Return sentences that say what the colours of cells mean."""
    return [_COLOUR, *([_OPEN] if data == "open" else [])]


def _data(comparison: Comparison) -> str:
    experiment = comparison.experiment
    ours = _codes(name for line in comparison.lines for name in line.data)
    theirs = _codes(
        name
        for row in experiment.rows
        if not row.hidden
        for name in [*(row.corpus or experiment.corpus).paper, *row.tasks]
        if name != "sample" or not row.tasks
    )
    paper = f"; the paper: {theirs or '–'}" if experiment.paper else ""
    return f"ours: {comparison.data} data, {ours or 'no runs'}{paper}"


def _runs(comparison: Comparison) -> list[str]:
    versions = sorted({result.version for line in comparison.lines for result in line.results.values()})
    count = tally(comparison)
    by = f", by version {', '.join(versions)}" if versions else ""
    return [f"{count.finished} of {count.runs}{by}"] if count.runs else []


def _sets(comparison: Comparison) -> list[str]:
    cells = (cell for _, shown in grid(comparison).rows for cell in shown)
    return [f"* {text}: not compared" for text in dict.fromkeys(cell.partial for cell in cells) if text]


def _gaps(comparison: Comparison) -> list[str]:
    labels: dict[str, list[str]] = {}
    for line in comparison.lines:
        if line.gap:
            labels.setdefault(line.gap, []).append(line.label)
    unmeasured = [column for column in comparison.columns if column not in comparison.measured]
    columns = [f"columns not measured: {', '.join(unmeasured)}"] if unmeasured else []
    return [*(f"{reason}: {', '.join(names)}" for reason, names in labels.items()), *columns]


def _changed(comparison: Comparison) -> list[str]:
    changed = [(line.label, line.changed) for line in comparison.lines if line.changed]
    return [f"{label}: measured with another {_codes(keys)}" for label, keys in changed]


def _notes(comparison: Comparison) -> list[str]:
    return [
        f"{', '.join(row.all_labels)}: {row.note}" for row in comparison.experiment.rows if row.note and not row.hidden
    ]


def _codes(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in dict.fromkeys(names))
