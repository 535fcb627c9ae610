"""The content of a figure as SVG: axes, lines, bars and a legend, in which no text overlaps another one."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from paraphrastic.papers.grid import GAP
from paraphrastic.papers.markup import element
from paraphrastic.papers.series import Drawing, Point, Series, segments, value_text
from paraphrastic.papers.svg import Scale, lines_of, shortened, spaced, text, text_width, tick_text, ticks

WIDTH = 440.0  # in user units, at most 640 pixels; the text is legible at 400 pixels

_PLOT, _MARGIN, _LINE = 220.0, 10.0, 18.0  # height of the plot, outer margin, height of a line of text
_INSETS = 14.0, 60.0  # least and largest distance between the ends of the horizontal axis and the outer points
_KEY = 36.0  # width of the sample of a line in the legend
_MANY = 12  # a series with more points has markers on some of them
_MARKERS = (  # polygons around the origin
    "-3.5,-3.5 3.5,-3.5 3.5,3.5 -3.5,3.5",
    "0,-4.5 4.2,3.2 -4.2,3.2",
    "0,-5 5,0 0,5 -5,0",
    "0,4.5 4.2,-3.2 -4.2,-3.2",
    "-3.5,-4.5 3.5,-4.5 -3.5,4.5 3.5,4.5",
    "0,-4.6 4.4,-1.4 2.7,3.7 -2.7,3.7 -4.4,-1.4",
    "-4.5,-3.5 -4.5,3.5 4.5,-3.5 4.5,3.5",
    "-1.5,-4.5 1.5,-4.5 1.5,-1.5 4.5,-1.5 4.5,1.5 1.5,1.5 1.5,4.5 -1.5,4.5 -1.5,1.5 -4.5,1.5 -4.5,-1.5 -1.5,-1.5",
)
_DASHES = ("none", "7 3", "2 3", "9 3 2 3", "12 4", "4 2", "9 3 2 3 2 3", "1 2")


@dataclass(frozen=True)
class _Axes:
    """The two axes of a chart."""

    x: Scale
    y: Scale

    def place(self, x: float, y: float) -> str:
        """Return a point as SVG writes it."""
        return f"{self.x(x):.1f},{self.y(y):.1f}"


def chart(content: Drawing) -> tuple[str, float]:
    """Return a figure with at least one value as SVG, and its height; its width is `WIDTH`."""
    return _bars(content) if content.figure.kind == "bar" else _lines(content)


def _lines(content: Drawing) -> tuple[str, float]:
    axes, marks = _axes(content)
    body = [*_grid(content, axes, marks)]
    for place, series in enumerate(content.series):
        body += [*_spreads(series.ours, axes, place), *_line(series.theirs, axes, place, "hollow")]
        body += _line(series.ours, axes, place, "solid")
    legend, height = _legend(content, axes.y.start + 3 * _LINE + 4)
    return "".join([*body, *legend]), height


def _axes(content: Drawing) -> tuple[_Axes, list[float]]:
    """Return the axes and the ticks of the vertical one."""
    ends = [point.y + sign * (point.spread or 0) for point in content.points if point.y is not None for sign in (-1, 1)]
    marks = ticks(min(ends), max(ends))
    left = _MARGIN + max(text_width(tick_text(mark)) for mark in marks) + 6
    xs = [point.x for point in content.points]
    inset = _inset(content)
    across = Scale(min(xs), max(xs), left + inset, WIDTH - _MARGIN - inset, content.figure.log)
    return _Axes(across, Scale(marks[0], marks[-1], 2 * _LINE + _PLOT, 2 * _LINE)), marks


def _grid(content: Drawing, axes: _Axes, marks: Sequence[float]) -> Iterator[str]:
    """Yield lines and labels of the axes; the label of the vertical axis stands above it."""
    left, right, bottom = axes.x.start - _inset(content), axes.x.end + _inset(content), axes.y.start
    yield text(shortened(content.figure.y, WIDTH - 2 * _MARGIN), _MARGIN, _LINE - 2)
    for mark in marks:
        y = axes.y(mark)
        yield element("line", class_="axis" if mark == marks[0] else "grid", x1=left, x2=right, y1=y, y2=y)
        yield text(tick_text(mark), left - 6, y + 4, "muted", anchor="end")
    for x, label in spaced(_x_labels(content, axes.x), _MARGIN, WIDTH - _MARGIN):
        yield element("line", class_="axis", x1=x, x2=x, y1=bottom, y2=bottom + 4)
        yield text(label, x, bottom + _LINE - 1, "muted", anchor="middle")
    middle = (left + right) / 2
    yield text(shortened(content.figure.x, right - left), middle, bottom + 2 * _LINE - 1, anchor="middle")


def _inset(content: Drawing) -> float:
    """Return the distance between the ends of the horizontal axis and the outer points: half of the widest category."""
    least, largest = _INSETS
    return min(largest, max([least, *(text_width(label) / 2 for label in content.categories.values())]))


def _x_labels(content: Drawing, axis: Scale) -> list[tuple[float, str]]:
    """Return positions and labels: the categories, the values of the points, or, of many points, round values."""
    if content.categories:
        room = min(2 * _INSETS[1], (axis.end - axis.start) / max(len(content.categories) - 1, 1) - 6)
        return [(axis(x), shortened(label, room)) for x, label in content.categories.items()]
    xs = sorted({point.x for point in content.points})
    marks = xs if len(xs) <= _MANY or axis.log else [mark for mark in ticks(xs[0], xs[-1]) if xs[0] <= mark <= xs[-1]]
    return [(axis(x), tick_text(x)) for x in marks]


def _line(points: Sequence[Point], axes: _Axes, place: int, style: str) -> Iterator[str]:
    width, group = (2 if style == "solid" else 1), f"s{place % len(_MARKERS)}"
    for run in segments(points):
        path = " ".join(axes.place(x, y) for x, y in run)
        yield element("polyline", points=path, class_=group, stroke_width=width, stroke_dasharray=_dash(place))
    known = [point for point in points if point.y is not None]
    step = -(-len(known) // _MANY) or 1
    yield from (
        _marker(axes.x(point.x), axes.y(point.y), place, style) for point in known[::step] if point.y is not None
    )


def _spreads(points: Sequence[Point], axes: _Axes, place: int) -> Iterator[str]:
    """Yield a vertical line of ± one standard deviation at each point with several seeds."""
    for point in points:
        if point.y is not None and point.spread is not None:
            x, low, high = axes.x(point.x), axes.y(point.y - point.spread), axes.y(point.y + point.spread)
            yield element("line", class_=f"spread s{place % len(_MARKERS)}", x1=x, x2=x, y1=low, y2=high)


def _marker(x: float, y: float, place: int, style: str) -> str:
    group = f"{style} s{place % len(_MARKERS)}"
    return element("polygon", points=_shape(place), class_=group, transform=f"translate({x:.1f},{y:.1f})")


def _shape(place: int) -> str:
    return _MARKERS[place % len(_MARKERS)]


def _dash(place: int) -> str:
    return _DASHES[
        (place + place // len(_MARKERS)) % len(_DASHES)
    ]  # the ninth series has the first marker, not its dash


def _legend(content: Drawing, top: float) -> tuple[list[str], float]:
    """Return the legend below `top`, and the height of the figure."""
    room = WIDTH - 2 * _MARGIN
    named = [series for series in content.series if series.label]
    labels = [shortened(_legend_label(series), room - _KEY) for series in named]
    places = [content.series.index(series) for series in named]
    body, y = [], top
    for row in lines_of([_KEY + text_width(label) for label in labels], room, 14):
        x = _MARGIN
        for entry in row:
            body += [_key(x, y, places[entry]), text(labels[entry], x + _KEY, y)]
            x += _KEY + text_width(labels[entry]) + 14
        y += _LINE if row else 0
    if content.has_theirs:
        body.append(text("filled: ours; hollow, thin line: theirs", _MARGIN, y, "muted"))
        y += _LINE
    return body, y - _LINE + _MARGIN


def _legend_label(series: Series) -> str:
    """Return the label of a series; one without results of ours says why."""
    return series.label if any(point.y is not None for point in series.ours) else f"{series.label} {GAP} {series.gap}"


def _key(x: float, y: float, place: int) -> str:
    group, middle = f"key s{place % len(_MARKERS)}", y - 4
    line = element(
        "line", class_=group, x1=x, x2=x + 28, y1=middle, y2=middle, stroke_width=2, stroke_dasharray=_dash(place)
    )
    return line + _marker(x + 14, middle, place, "solid")


def _bars(content: Drawing) -> tuple[str, float]:
    """Return horizontal bars with their values, each below its label; theirs is hollow."""
    room = max(text_width(_value_text(point, series, content)) for series, point in _all_bars(content)) + 8
    values = [*content.values, 0.0]
    axis = Scale(min(values), max(values), _MARGIN, WIDTH - _MARGIN - room)
    y = _LINE - 2
    body = [text(shortened(f"{content.figure.y}, by {content.figure.x}", WIDTH - 2 * _MARGIN), _MARGIN, y)]
    for series in content.series:
        y += _LINE + 6
        body.append(text(shortened(series.label, WIDTH - 2 * _MARGIN), _MARGIN, y))
        for style, points in (("solid", series.ours), ("hollow", series.theirs)):
            for point in points:
                y += _LINE - 2
                body += _bar(point, _value_text(point, series, content), axis, y, style)
    if content.has_theirs:
        y += _LINE + 4
        body.append(text("filled: ours; hollow: theirs", _MARGIN, y, "muted"))
    return "".join(body), y + _MARGIN


def _all_bars(content: Drawing) -> Iterator[tuple[Series, Point]]:
    return ((series, point) for series in content.series for point in (*series.ours, *series.theirs))


def _bar(point: Point, value: str, axis: Scale, y: float, style: str) -> Iterator[str]:
    ends = sorted([axis(0.0), axis(point.y or 0.0)])
    if point.y is not None:
        yield element("rect", class_=f"{style} s0", x=ends[0], y=y - 10, width=ends[1] - ends[0], height=11.0)
    yield text(value, ends[1] + 5, y, "muted")


def _value_text(point: Point, series: Series, content: Drawing) -> str:
    if point.y is None:
        return f"{GAP} {series.gap}".strip()
    gap = f" ({series.gap})" if series.gap and point in series.ours else ""
    return f"{value_text(point, content)}{gap}"
