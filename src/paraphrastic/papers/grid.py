"""A comparison as texts in rows and columns, in the form that the terminal, Markdown and HTML show."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from paraphrastic.papers.comparison import Cell, Comparison, Line

Closeness = Literal["close", "near", "off", "far"]
Part = Literal["theirs", "ours", "difference"]

BOUNDS: tuple[tuple[float, Closeness], ...] = ((1, "close"), (3, "near"), (10, "off"), (float("inf"), "far"))
GAP = "–"

NARROW = 3  # tables with at most as many columns have a column of differences; wider ones show them on demand

_COUNT = 100  # larger numbers are counts, whose differences are in percent
_WIDE = 8  # a table with more columns than this, and than rows, is transposed


@dataclass(frozen=True)
class Shown:
    """The texts of a cell.

    Attributes:
        theirs: the number of the paper as printed; empty if there is none.
        ours: mean of our numbers in the same unit and with as many decimals; – for a gap; empty if none is expected.
        spread: their standard deviation; empty for fewer than two.
        difference: ours minus theirs with its sign; empty if either is missing.
        closeness: class of the difference.
        reason: why ours is missing; empty if it is there.
        partial: the sets that our mean is without, if the paper's has them; there is no difference then.
    """

    theirs: str
    ours: str
    spread: str = ""
    difference: str = ""
    closeness: Closeness | None = None
    reason: str = ""
    partial: str = ""

    @property
    def ours_and_spread(self) -> str:
        """Ours, its spread after ±, and a star if it is partial."""
        return (f"{self.ours} ± {self.spread}" if self.spread else self.ours) + ("*" if self.partial else "")

    @property
    def difference_or_reason(self) -> str:
        """The difference, or why there is none."""
        return self.difference or self.partial

    @property
    def parts(self) -> set[Part]:
        """The parts that are not empty; a gap counts if we have a configuration for it."""
        texts: dict[Part, str] = {"theirs": self.theirs, "ours": self.ours, "difference": self.difference}
        return {part for part, text in texts.items() if text and text != GAP}


@dataclass(frozen=True)
class Heading:
    """The label of a row or column.

    Attributes:
        text: of the published table.
        details: training data of our configuration, and the number of its runs; empty for a column of the paper.
    """

    text: str
    details: str = ""


@dataclass(frozen=True)
class Grid:
    """A table to show.

    Attributes:
        columns: headings of the columns.
        rows: headings of the rows, each with its cells.
        ours: for each column, whether we measure it.
        transposed: whether the rows are the columns of the paper.
    """

    columns: Sequence[Heading]
    rows: Sequence[tuple[Heading, Sequence[Shown]]]
    ours: Sequence[bool]
    transposed: bool = False

    @property
    def corner(self) -> str:
        """Heading of the row labels."""
        return "set" if self.transposed else "row"

    def entries(self) -> list[tuple[Heading, Heading, Shown]]:
        """Return row, column and texts of all cells that are not empty; rows and columns are those of the paper."""
        cells = [
            (row, column, cell) for row, shown in self.rows for column, cell in zip(self.columns, shown, strict=True)
        ]
        filled = [entry for entry in cells if entry[2].theirs or entry[2].ours]
        return [(column, row, cell) for row, column, cell in filled] if self.transposed else filled

    def parts(self, column: int) -> list[Part]:
        """Return which parts the cells of a column have."""
        found = {part for _, cells in self.rows for part in cells[column].parts}
        found |= {"ours"} if self.ours[column] else set()
        return [part for part in ("theirs", "ours", "difference") if part in found]


def grid(comparison: Comparison) -> Grid:
    """Return a comparison as a table; one that is wide and short is transposed, so that its columns are models."""
    if is_list(comparison):
        return _lists(comparison)
    columns, lines = comparison.columns, comparison.lines
    across = [Heading(column) for column in columns]
    down = [Heading(line.label, details(line)) for line in lines]
    cells = [[_shown(comparison, line, column) for column in columns] for line in lines]
    if len(columns) > max(len(lines), _WIDE):
        rows = list(zip(across, map(list, zip(*cells, strict=True)), strict=True))
        return Grid(down, rows, [bool(line.rows) for line in lines], transposed=True)
    measured = comparison.measured
    return Grid(across, list(zip(down, cells, strict=True)), [column in measured for column in columns])


def is_list(comparison: Comparison) -> bool:
    """Return whether the rows are lists of texts, such as nearest neighbours: the columns are ranks."""
    columns = comparison.columns
    return len(columns) > 1 and columns == [str(rank) for rank in range(1, len(columns) + 1)]


def details(line: Line) -> str:
    """Return the training data of a line's configurations and how many of their runs there are; empty without any."""
    if not line.rows:
        return ""
    seeds = f"{len(line.runs)} {'run' if len(line.runs) == 1 else 'runs'}"
    return " · ".join([" + ".join(line.data), line.gap or seeds])


def closeness(difference: float) -> Closeness:
    """Return the class of a difference: within 1, 3 or 10 points, or farther; NaN is farther."""
    return next((name for bound, name in BOUNDS if abs(difference) <= bound), "far")


def _lists(comparison: Comparison) -> Grid:
    rows = [(Heading(line.label, details(line)), [_list(line, comparison.columns)]) for line in comparison.lines]
    return Grid([Heading("in order")], rows, [bool(comparison.measured)])


def _list(line: Line, columns: Sequence[str]) -> Shown:
    """Return the texts of a line by rank, ours of the first seed, and how many are in both lists."""
    theirs = [text for column in columns if (text := line.cells[column].theirs)]
    ours = [str(values[0]) for column in columns if (values := line.cells[column].ours)]
    if not ours:
        return Shown(", ".join(theirs), GAP, reason=_reason(line))
    both = f"{len(set(theirs) & set(ours))} of {len(theirs)} in both" if theirs else ""
    return Shown(", ".join(theirs), ", ".join(ours), difference=both)


def _shown(comparison: Comparison, line: Line, column: str) -> Shown:
    cell = line.cells[column]
    if not cell.ours:
        filled = any(column in comparison.experiment.keys_of(row) for row in line.rows)
        return Shown(cell.theirs, GAP, reason=_reason(line)) if cell.theirs or filled else Shown("", "")
    if cell.mean is None:
        return Shown(cell.theirs, str(cell.ours[0]))
    decimals = _decimals([cell.theirs] if cell.theirs else (other.cells[column].theirs for other in comparison.lines))
    shown = Shown(cell.theirs, number(cell.mean / cell.scale, decimals), _spread(cell, decimals))
    return _with_difference(shown, cell, decimals)


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
    return Shown(shown.theirs, shown.ours, shown.spread, text, closeness(round(size, 6)))


def _reason(line: Line) -> str:
    return line.gap or "not measured"


def _decimals(texts: Iterable[str]) -> int:
    """Return the largest number of decimals; 1 without numbers."""
    numbers = [text for text in texts if text.replace(",", "").replace(".", "", 1).lstrip("+-").isdigit()]
    return max((len(text.partition(".")[2]) for text in numbers), default=1)


def number(value: float, decimals: int) -> str:
    """Return a number with a minus sign and commas between thousands."""
    return f"{value:,.{decimals}f}".replace("-", "−")


def signed(value: float, decimals: int) -> str:
    """Return a number with its sign; 0.0 has none."""
    text = number(value, decimals)
    zero = not text.strip("−0.,")
    return text.lstrip("−") if zero else text if text[0] == "−" else f"+{text}"


def _spread(cell: Cell, decimals: int) -> str:
    return "" if cell.spread is None else number(cell.spread / cell.scale, decimals)
