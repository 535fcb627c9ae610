"""The points of a figure: theirs and ours, by series."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import mean, stdev

from paraphrastic.papers.comparison import Cell, Comparison, Line
from paraphrastic.papers.experiments import Figure
from paraphrastic.papers.grid import number


@dataclass(frozen=True)
class Point:
    """A point of a figure.

    Attributes:
        x: horizontal position; a category has the position of its first appearance.
        y: the value; None for a gap.
        spread: standard deviation over seeds; None for fewer than two.
    """

    x: float
    y: float | None
    spread: float | None = None


@dataclass(frozen=True)
class Series:
    """A line or a bar of a figure.

    Attributes:
        label: its name.
        ours: our points, by x.
        theirs: the points of the paper, by x.
        gap: reason why results of ours are missing; empty if all are there.
    """

    label: str
    ours: Sequence[Point]
    theirs: Sequence[Point] = ()
    gap: str = ""


@dataclass(frozen=True)
class Drawing:
    """The content of a figure.

    Attributes:
        figure: how it is drawn.
        series: the lines or bars.
        categories: names of positions on the horizontal axis, if these are no numbers.
    """

    figure: Figure
    series: Sequence[Series]
    categories: Mapping[float, str] = field(default_factory=dict)

    @property
    def points(self) -> list[Point]:
        """All points."""
        return [point for each in self.series for point in (*each.ours, *each.theirs)]

    @property
    def values(self) -> list[float]:
        """The vertical positions of all points."""
        return [point.y for point in self.points if point.y is not None]

    @property
    def decimals(self) -> int:
        """Decimals of values in text: 1, or 3 if all are small."""
        return 1 if max(map(abs, self.values), default=0) >= 10 else 3

    @property
    def has_theirs(self) -> bool:
        """Whether the paper publishes numbers of the figure."""
        return any(each.theirs for each in self.series)


def drawing(comparison: Comparison, figure: Figure) -> Drawing:
    """Return the points of the figure of a comparison."""
    match figure.kind:
        case "curve":
            return Drawing(figure, [_curve(line, figure.column) for line in comparison.lines])
        case "bar":
            return Drawing(figure, [_bar(line, figure.column) for line in comparison.lines])
        case "line":
            return _lines(comparison, figure)


def _curve(line: Line, name: str) -> Series:
    """Return the mean over seeds of the scores at each point of training that all seeds have."""
    curves = [{row[0]: row[1] for row in each.curves.get(name, [])} for each in line.results.values()]
    places = sorted(set.intersection(*map(set, curves))) if curves else []
    points = [_point(x, [curve[x] for curve in curves]) for x in places]
    return Series(line.label, points, gap=line.gap or ("" if points else "no curve"))


def _bar(line: Line, column: str) -> Series:
    cell = line.cells.get(column, Cell("", ()))
    return Series(line.label, [_ours(0, cell)], _theirs(0, cell), line.gap)


def _lines(comparison: Comparison, figure: Figure) -> Drawing:
    """Return one series for each value of `series` of the rows, in their order."""
    placed = [
        (line, row.x, row.series or "") for line in comparison.lines for row in line.rows[:1] if row.x is not None
    ]
    names = [x for _, x, _ in placed if isinstance(x, str)]
    position = {name: float(number) for number, name in enumerate(dict.fromkeys(names))}
    by_series: dict[str, list[tuple[float, Line]]] = {}
    for line, x, name in placed:
        by_series.setdefault(name, []).append((position[x] if isinstance(x, str) else float(x), line))
    series = [_line(name, sorted(found, key=lambda pair: pair[0]), figure.column) for name, found in by_series.items()]
    return Drawing(figure, series, {number: name for name, number in position.items()})


def _line(label: str, lines: Sequence[tuple[float, Line]], column: str) -> Series:
    cells = [(x, line.cells.get(column, Cell("", ()))) for x, line in lines]
    theirs = [point for x, cell in cells for point in _theirs(x, cell)]
    gaps = [line.gap for _, line in lines if line.gap]
    return Series(label, [_ours(x, cell) for x, cell in cells], theirs, gaps[0] if gaps else "")


def _ours(x: float, cell: Cell) -> Point:
    return Point(x, cell.mean, cell.spread)


def _theirs(x: float, cell: Cell) -> list[Point]:
    return [] if cell.published is None else [Point(x, cell.published)]


def _point(x: float, values: Sequence[float]) -> Point:
    return Point(x, mean(values), stdev(values) if len(values) > 1 else None)


def value_text(point: Point, content: Drawing) -> str:
    """Return the value of a point that has one, and its spread after ±."""
    assert point.y is not None
    spread = f" ± {number(point.spread, content.decimals)}" if point.spread is not None else ""
    return f"{number(point.y, content.decimals)}{spread}"


def segments(points: Sequence[Point]) -> Iterator[list[tuple[float, float]]]:
    """Yield the runs of neighbouring points without a gap, as (x, y)."""
    run: list[tuple[float, float]] = []
    for point in points:
        if point.y is None and run:
            yield run
            run = []
        elif point.y is not None:
            run.append((point.x, point.y))
    if run:
        yield run
