"""Figures of experiments, theirs beside ours: drawn by Vega-Lite as SVG, and described in words."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import mean, stdev
from typing import Any

from paraphrastic.papers.comparing import GAP, Cell, Comparison, Line, number
from paraphrastic.papers.experiments import Figure

Vega = dict[str, Any]

# Liberation Sans is part of vl-convert: texts have the same widths, and the SVG the same bytes, on every computer
FONT = "Liberation Sans, Arial, Helvetica, sans-serif"
_COLOURS = ["#0060a8", "#b84700", "#00745a", "#8a3d90", "#7a5c00", "#b0265c", "#3d5a6c", "#4a4a4a"]
_SHAPES = ["circle", "triangle-up", "diamond", "triangle-down", "square", "cross", "triangle-right"]
_DASHES = [[1, 0], [7, 3], [2, 3], [9, 3, 2, 3], [12, 4]]  # combined with shapes and colours, 280 series differ
_MANY = 12  # a series with more points has markers on some of them, an axis with more positions has round ticks
_WIDTH, _CHARACTER = 520, 7  # of the plot, and of a character in the legend, in pixels
_TICKS = "abs(datum.value) < 1000 ? format(datum.value, '.3~r') : format(datum.value, '~s')"


@dataclass(frozen=True)
class Point:
    """A point of a figure."""

    x: float | str  # horizontal position, a number or a category; empty for a bar
    y: float | None  # the value; None for a gap
    spread: float | None = None  # standard deviation over seeds; None for fewer than two


@dataclass(frozen=True)
class Series:
    """A line or a bar of a figure."""

    label: str  # its name
    ours: Sequence[Point]  # our points, by x
    theirs: Sequence[Point] = ()  # the points of the paper, by x
    gap: str = ""  # reason why results of ours are missing; empty if all are there

    @property
    def known(self) -> list[float]:
        """All values."""
        return [point.y for point in (*self.ours, *self.theirs) if point.y is not None]

    @property
    def shown_label(self) -> str:
        """The label; that of a series without results of ours says why."""
        return self.label if any(point.y is not None for point in self.ours) else f"{self.label} {GAP} {self.gap}"


def figure_svg(comparison: Comparison) -> str:
    """Return the figure of a comparison; an empty string if there are no numbers to draw."""
    import vl_convert

    figure, series = _content(comparison)
    if not any(each.known for each in series):
        return ""
    axis = {"labelLimit": 250, "labelFontSize": 11, "titleFontSize": 12, "titleFontWeight": "normal"}
    config = {"font": FONT, "view": {"stroke": None}, "axis": axis, "legend": {"labelFontSize": 12}}
    content: Vega = {"width": _WIDTH, "background": "white", "padding": 8, "config": config}
    content |= _bars(figure, series) if figure.kind == "bar" else _lines(figure, series)
    if any(each.theirs for each in series):
        text = "filled: ours; hollow: theirs" if figure.kind == "bar" else "filled: ours; hollow, thin line: theirs"
        content["title"] = {"text": text, "orient": "bottom", "anchor": "start", "fontWeight": "normal", "fontSize": 11}
    svg: str = vl_convert.vegalite_to_svg(json.dumps(content))
    return svg


def description(comparison: Comparison) -> str:
    """Return the alternative text of a figure: its axes, and the value or the range of each series."""
    figure, series = _content(comparison)
    kind = "Bar chart" if figure.kind == "bar" else "Line chart"
    decimals, texts = _decimals(series), [f"{kind}: {figure.y} by {figure.x}."]
    for each in series:
        sides = [("ours", each.ours), ("theirs", each.theirs)]
        parts = [f"{name} {summary}" for name, points in sides if (summary := _summary(points, figure, decimals))]
        parts += [f"gap: {each.gap}"] if each.gap else []
        texts.append(f"{each.label or 'all'}: {'; '.join(parts)}.")
    return " ".join(texts)


def _content(comparison: Comparison) -> tuple[Figure, list[Series]]:
    """Return the declared figure of a comparison, and its lines or bars."""
    figure = comparison.experiment.figure
    assert figure is not None
    match figure.kind:
        case "curve":
            return figure, [_curve(line, figure.column) for line in comparison.lines]
        case "bar":
            return figure, [
                Series(each.label, *_points("", each, figure.column), each.gap) for each in comparison.lines
            ]
        case "line":
            return figure, list(_series(comparison, figure.column))


def _curve(line: Line, name: str) -> Series:
    """Return the mean over seeds of the scores at each point of training that all seeds have."""
    name = name.replace("{task}", next((task for run in line.runs for task in run.tasks), ""))
    curves = [{row[0]: row[1] for row in each.curves.get(name, [])} for each in line.results.values()]
    points = []
    for x in sorted(set.intersection(*map(set, curves))) if curves else []:
        values = [curve[x] for curve in curves]
        points.append(Point(x, mean(values), stdev(values) if len(values) > 1 else None))
    return Series(line.label, points, gap=line.gap or ("" if points else "no curve"))


def _series(comparison: Comparison, column: str) -> Iterator[Series]:
    """Yield one series for each value of `series` of the rows, with its points by x; categories stay in their order."""
    placed = [(row.series or "", row.x, line) for line in comparison.lines for row in line.rows[:1]]
    order = list(dict.fromkeys(x for _, x, _ in placed if isinstance(x, str)))
    for name in dict.fromkeys(name for name, _, _ in placed):
        own = [(x, line) for each, x, line in placed if each == name and x is not None]
        own.sort(key=lambda pair: order.index(pair[0]) if isinstance(pair[0], str) else pair[0])
        points = [_points(x, line, column) for x, line in own]
        gaps = [line.gap for _, line in own if line.gap]
        ours, theirs = ([point for pair in points for point in pair[side]] for side in (0, 1))
        yield Series(name, ours, theirs, gaps[0] if gaps else "")


def _points(x: float | str, line: Line, column: str) -> tuple[list[Point], list[Point]]:
    """Return our point of a cell, and that of the paper if it has one."""
    cell = line.cells.get(column, Cell("", ()))
    return [Point(x, cell.mean, cell.spread)], [] if cell.published is None else [Point(x, cell.published)]


def _summary(points: Sequence[Point], figure: Figure, decimals: int) -> str:
    """Return the value of a bar, or the ends and the highest point of a line."""
    known = [(point.y, point) for point in points if point.y is not None]
    if not known or figure.kind == "bar":
        return "".join(_value_text(point, decimals) for _, point in known)
    highest = max(known, key=lambda pair: pair[0])
    first, last, best = (
        f"{_value_text(point, decimals)} at {_position_text(point.x)}" for _, point in (known[0], known[-1], highest)
    )
    return f"from {first} to {last}, highest {best}"


def _value_text(point: Point, decimals: int) -> str:
    """Return the value of a point that has one, and its spread after ±."""
    assert point.y is not None
    return number(point.y, decimals) + (f" ± {number(point.spread, decimals)}" if point.spread is not None else "")


def _position_text(x: float | str) -> str:
    """Return a category, or a number: 1,000,000 as 1M, 50,000 as 50k, 1/512 as 0.00195."""
    if isinstance(x, str):
        return x
    for size, suffix in ((1e6, "M"), (1e3, "k")):
        if abs(x) >= size:
            return f"{x / size:g}{suffix}"
    return f"{x:.3g}" if 0 < x < 0.1 else f"{x:g}"


def _decimals(series: Sequence[Series]) -> int:
    """Return the decimals of values in text: 1, or 3 if all are small."""
    return 1 if max((abs(value) for each in series for value in each.known), default=0) >= 10 else 3


def _lines(figure: Figure, series: Sequence[Series]) -> Vega:
    """Return lines through points, with a rule of ± one standard deviation at each point with several seeds."""
    xs = list(dict.fromkeys(point.x for each in series for point in (*each.ours, *each.theirs)))
    few = len(xs) <= _MANY or figure.log
    axis: Vega = {"grid": False, "labelOverlap": "greedy"} | ({"values": xs} if few else {})
    x: Vega = {"field": "x", "title": figure.x}
    if isinstance(xs[0], str):
        x |= {"type": "ordinal", "sort": xs, "axis": {"labelAngle": 0}}
    else:
        scale = {"type": "log" if figure.log else "linear", "zero": False, "nice": False, "padding": 10}
        x |= {"type": "quantitative", "axis": axis | {"labelExpr": _TICKS}, "scale": scale}
    y: Vega = {"type": "quantitative", "title": figure.y, "scale": {"zero": False}, "axis": {"labelExpr": _TICKS}}
    labels = [each.shown_label for each in series]
    columns = max(1, _WIDTH // (_CHARACTER * max(map(len, labels)) + 40))
    legend: Vega | None = (
        {"orient": "bottom", "columns": columns, "labelLimit": _WIDTH, "symbolOpacity": 1, "symbolDash": [1, 0]}
        if any(labels)
        else None
    )

    def by_series(values: Sequence[Any], legend: Vega | None = legend) -> Vega:
        scale = {"domain": labels, "range": [values[place % len(values)] for place in range(len(labels))]}
        return {"field": "label", "type": "nominal", "title": "", "scale": scale, "legend": legend}

    def marks(origin: str, width: float, **filling: Any) -> Iterator[Vega]:
        own: Vega = {"filter": f"datum.origin == '{origin}'"}
        line = {
            "mark": {"type": "line", "strokeWidth": width},
            "encoding": {"strokeDash": by_series(_DASHES, legend=None)},
        }
        point = {"mark": {"type": "point", "opacity": 1, **filling}, "encoding": {"shape": by_series(_SHAPES)}}
        yield {"transform": [own], **line}
        yield {"transform": [own, {"filter": "datum.marked && isValid(datum.y)"}], **point}

    ends = {"y": {**y, "field": "low"}, "y2": {"field": "high"}}
    rule = {"transform": [{"filter": "isValid(datum.low)"}], "mark": {"type": "rule", "opacity": 0.6}, "encoding": ends}
    return {
        "height": 260,
        "data": {"values": list(_rows(series))},
        "encoding": {"x": x, "y": {**y, "field": "y"}, "color": by_series(_COLOURS)},
        "layer": [rule, *marks("theirs", 1, fill="white"), *marks("ours", 2, filled=True)],
    }


def _bars(figure: Figure, series: Sequence[Series]) -> Vega:
    """Return horizontal bars with their values after them; theirs is hollow, below ours."""
    both, rows = any(each.theirs for each in series), list(_rows(series))
    x: Vega = {"type": "quantitative", "title": figure.y, "axis": {"labelExpr": _TICKS, "tickCount": 6}}
    end = {"x": {**x, "field": "end"}, "text": {"field": "text"}}
    fill = {"condition": {"test": "datum.origin == 'theirs'", "value": "white"}, "value": _COLOURS[0]}
    y: Vega = {"y": {"field": "name", "type": "nominal", "sort": None, "title": figure.x, "axis": {"domain": False}}}
    y["y"]["scale"] = {"paddingInner": 0.35, "paddingOuter": 0.2}
    y |= {"yOffset": {"field": "origin", "sort": ["ours", "theirs"]}} if both else {}
    return {
        "height": {"step": 18, "for": "offset"} if both else {"step": 24},
        "data": {"values": rows},
        "encoding": y,
        "layer": [
            {"mark": {"type": "bar", "stroke": _COLOURS[0]}, "encoding": {"x": {**x, "field": "y"}, "fill": fill}},
            {"mark": {"type": "text", "align": "left", "dx": 5}, "encoding": end},
        ],
    }


def _rows(series: Sequence[Series]) -> Iterator[Vega]:
    """Yield the data of the marks: one row for each point."""
    decimals = _decimals(series)
    for each in series:
        for origin, points in (("ours", each.ours), ("theirs", each.theirs)):
            known = [point for point in points if point.y is not None]
            marked = known[:: -(-len(known) // _MANY) or 1]
            for point in points:
                row = {"name": each.label, "label": each.shown_label, "origin": origin, "x": point.x, "y": point.y}
                gap = f" ({each.gap})" if each.gap and origin == "ours" else ""
                if point.y is None:
                    yield row | {"end": 0, "text": f"{GAP} {each.gap}"}
                else:
                    low, high = point.y - (point.spread or 0), point.y + (point.spread or 0)
                    row |= {
                        "end": max(point.y, 0),
                        "text": _value_text(point, decimals) + gap,
                        "marked": point in marked,
                    }
                    yield row | ({"low": low, "high": high} if point.spread is not None else {})
