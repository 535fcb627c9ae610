"""Figures of experiments, theirs beside ours: drawn by Vega-Lite as SVG, and described in words."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from paraphrastic.papers.comparing import GAP, Cell, Comparison, Line, number
from paraphrastic.papers.experiments import Figure

Vega = dict[str, Any]

# Liberation Sans is part of vl-convert: texts have the same widths, and the SVG the same bytes, on every computer
FONT = "Liberation Sans, Arial, Helvetica, sans-serif"
_COLOURS = ["#0060a8", "#b84700", "#00745a", "#8a3d90", "#7a5c00", "#b0265c", "#3d5a6c", "#4a4a4a", "#5c3fa3"]
_MANY = 12  # an axis with more positions has round ticks
_WIDTH, _CHARACTER = 520, 7  # of the plot, and of a character in the legend, in pixels
_TICKS = "abs(datum.value) < 1000 ? format(datum.value, '.3~r') : format(datum.value, '~s')"


@dataclass(frozen=True)
class Point:
    """A point of a figure, or a bar."""

    series: str  # the line that it belongs to, or the bar
    origin: str  # `ours` or `theirs`
    x: float | str  # horizontal position, a number or a category; empty for a bar
    y: float | None  # the value; None for a gap
    spread: float | None = None  # standard deviation over seeds; None for fewer than two
    gap: str = ""  # reason why results of ours are missing

    def text(self, decimals: int) -> str:
        """Return the value and its spread after ±; the reason of a gap."""
        if self.y is None:
            return f"{GAP} {self.gap}"
        return number(self.y, decimals) + (f" ± {number(self.spread, decimals)}" if self.spread is not None else "")


def figure_svg(comparison: Comparison) -> str:
    """Return the figure of a comparison; an empty string if there are no numbers to draw."""
    import vl_convert

    figure, points = _content(comparison)
    if all(point.y is None for point in points):
        return ""
    axis = {"labelLimit": 250, "labelFontSize": 11, "titleFontSize": 12, "titleFontWeight": "normal"}
    config = {"font": FONT, "view": {"stroke": None}, "axis": axis, "range": {"category": _COLOURS}}
    content: Vega = {"width": _WIDTH, "background": "white", "padding": 8, "config": config}
    content |= _bars(figure, points) if figure.kind == "bar" else _lines(figure, points)
    if any(point.origin == "theirs" for point in points):
        text = "filled: ours; hollow: theirs" if figure.kind == "bar" else "filled: ours; hollow, thin line: theirs"
        content["title"] = {"text": text, "orient": "bottom", "anchor": "start", "fontWeight": "normal", "fontSize": 11}
    svg: str = vl_convert.vegalite_to_svg(json.dumps(content))
    return svg


def description(comparison: Comparison) -> str:
    """Return the alternative text of a figure: its axes, and the value or the ends and the peak of each series."""
    figure, points = _content(comparison)
    decimals = _decimals(points)
    texts = [f"{'Bar' if figure.kind == 'bar' else 'Line'} chart: {figure.y} by {figure.x}."]
    for name in dict.fromkeys(point.series for point in points):
        parts = []
        for origin in ("ours", "theirs"):
            own = [each for each in points if (each.series, each.origin) == (name, origin) and each.y is not None]
            values = [each.text(decimals) for each in own]
            if own and figure.kind == "bar":
                parts.append(f"{origin} {values[0]}")
            elif own:
                places = [f"{value} at {_position(each.x)}" for value, each in zip(values, own, strict=True)]
                best = max(range(len(own)), key=[each.y or 0 for each in own].__getitem__)
                parts.append(f"{origin} from {places[0]} to {places[-1]}, highest {places[best]}")
        gaps = [f"gap: {each.gap}" for each in points if each.series == name and each.gap]
        texts.append(f"{name or 'all'}: {'; '.join([*parts, *gaps[:1]])}.")
    return " ".join(texts)


def _content(comparison: Comparison) -> tuple[Figure, list[Point]]:
    """Return the declared figure of a comparison, and its points: by x within a series, categories in their order."""
    figure = comparison.experiment.figure
    assert figure is not None
    points = [point for line in comparison.lines for point in _points(line, figure)]
    xs = list(dict.fromkeys(point.x for point in points))
    order = xs if any(isinstance(x, str) for x in xs) else sorted(xs)
    return figure, sorted(points, key=lambda point: order.index(point.x)) if figure.kind == "line" else points


def _points(line: Line, figure: Figure) -> Iterator[Point]:
    """Yield the points of a line: of a curve the means over seeds where all have a score."""
    if figure.kind != "curve":
        cell, row = line.cells.get(figure.column, Cell()), line.rows[0] if line.rows and figure.kind == "line" else None
        name, x = (line.label, "") if row is None else (row.series or "", row.x or 0)
        yield Point(name, "ours", x, cell.mean, cell.spread, line.gap)
        if cell.published is not None:
            yield Point(name, "theirs", x, cell.published)
        return
    curve = figure.column.replace("{task}", next((task for run in line.runs for task in run.tasks), ""))
    scores = [{row[0]: row[1] for row in each.curves.get(curve, [])} for each in line.results.values()]
    common = sorted(set.intersection(*map(set, scores))) if scores else []
    for x in common:
        cell = Cell(ours=tuple(each[x] for each in scores))
        yield Point(line.label, "ours", x, cell.mean, cell.spread, line.gap)
    if not common:
        yield Point(line.label, "ours", 0, None, gap=line.gap or "no curve")


def _position(x: float | str) -> str:
    """Return a category, or a number such as 50,000 or 0.00195."""
    return x if isinstance(x, str) else f"{x:,.0f}" if x >= 100 else f"{x:.3g}"


def _decimals(points: Sequence[Point]) -> int:
    """Return the decimals of values in text: 1, or 3 if all are small."""
    return 1 if max((abs(point.y) for point in points if point.y is not None), default=0) >= 10 else 3


def _lines(figure: Figure, points: Sequence[Point]) -> Vega:
    """Return lines through points, with a rule of ± one standard deviation at each point with several seeds."""
    xs = list(dict.fromkeys(point.x for point in points if point.y is not None))
    x: Vega = {"field": "x", "title": figure.x}
    if isinstance(xs[0], str):
        x |= {"type": "ordinal", "sort": xs, "axis": {"labelAngle": 0}}
    else:
        axis: Vega = {"grid": False, "labelOverlap": "greedy", "labelExpr": _TICKS}
        axis |= {"values": xs} if len(xs) <= _MANY or figure.log else {}
        scale = {"type": "log" if figure.log else "linear", "zero": False, "nice": False, "padding": 10}
        x |= {"type": "quantitative", "axis": axis, "scale": scale}
    y: Vega = {"type": "quantitative", "title": figure.y, "scale": {"zero": False}, "axis": {"labelExpr": _TICKS}}
    rows = list(_rows(points))
    labels = list(dict.fromkeys(row["label"] for row in rows))
    columns = max(1, _WIDTH // (_CHARACTER * max(map(len, labels)) + 40))
    legend = {"orient": "bottom", "columns": columns, "labelLimit": _WIDTH, "symbolOpacity": 1, "labelFontSize": 12}
    series: Vega = {"field": "label", "type": "nominal", "title": "", "scale": {"domain": labels}}
    series["legend"] = legend | ({"symbolDash": [1, 0]} if figure.kind == "line" else {}) if any(labels) else None

    def line(origin: str, width: float, **filling: Any) -> Vega:
        mark = {"type": "line", "strokeWidth": width, "point": figure.kind == "line" and {"opacity": 1, **filling}}
        encoding = {"strokeDash": series} | ({"shape": series} if figure.kind == "line" else {})
        return {"transform": [{"filter": f"datum.origin == '{origin}'"}], "mark": mark, "encoding": encoding}

    ends = {"y": {**y, "field": "low"}, "y2": {"field": "high"}}
    rule = {"transform": [{"filter": "isValid(datum.low)"}], "mark": {"type": "rule", "opacity": 0.6}, "encoding": ends}
    return {
        "height": 260,
        "data": {"values": rows},
        "encoding": {"x": x, "y": {**y, "field": "y"}, "color": series},
        "layer": [rule, line("theirs", 1, fill="white"), line("ours", 2, filled=True)],
    }


def _bars(figure: Figure, points: Sequence[Point]) -> Vega:
    """Return horizontal bars with their values after them; theirs is hollow, below ours."""
    both = any(point.origin == "theirs" for point in points)
    x: Vega = {"type": "quantitative", "title": figure.y, "axis": {"labelExpr": _TICKS, "tickCount": 6}}
    end = {"x": {**x, "field": "end"}, "text": {"field": "text"}}
    fill = {"condition": {"test": "datum.origin == 'theirs'", "value": "white"}, "value": _COLOURS[0]}
    y: Vega = {"field": "name", "type": "nominal", "sort": None, "title": figure.x, "axis": {"domain": False}}
    y["scale"] = {"paddingInner": 0.35, "paddingOuter": 0.2}
    offset = {"yOffset": {"field": "origin", "sort": ["ours", "theirs"]}} if both else {}
    return {
        "height": {"step": 18, "for": "offset"} if both else {"step": 24},
        "data": {"values": list(_rows(points))},
        "encoding": {"y": y, **offset},
        "layer": [
            {"mark": {"type": "bar", "stroke": _COLOURS[0]}, "encoding": {"x": {**x, "field": "y"}, "fill": fill}},
            {"mark": {"type": "text", "align": "left", "dx": 5}, "encoding": end},
        ],
    }


def _rows(points: Sequence[Point]) -> Iterator[Vega]:
    """Yield the data of the marks: one row for each point."""
    measured = {point.series for point in points if point.y is not None and point.origin == "ours"}
    gaps = {point.series: f"{point.series} {GAP} {point.gap}" for point in points if point.origin == "ours"}
    decimals = _decimals(points)
    for point in points:
        label = point.series if point.series in measured else gaps[point.series]
        row = {"name": point.series, "label": label, "origin": point.origin, "x": point.x, "y": point.y}
        row |= {"end": max(point.y or 0, 0), "text": point.text(decimals)}
        if point.y is not None and point.spread is not None:
            row |= {"low": point.y - point.spread, "high": point.y + point.spread}
        yield row
