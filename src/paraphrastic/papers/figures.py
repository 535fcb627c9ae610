"""Figures as SVG, theirs beside ours, with alternative text."""

from collections.abc import Sequence
from html import escape
from importlib.resources import files

from paraphrastic.papers.bibliography import place
from paraphrastic.papers.charts import WIDTH, chart
from paraphrastic.papers.comparison import Comparison
from paraphrastic.papers.markup import element
from paraphrastic.papers.series import Drawing, Point, Series, drawing, value_text
from paraphrastic.papers.svg import tick_text


def figure_svg(comparison: Comparison, standalone: bool = False) -> str:
    """Return the figure of a comparison; an empty string if there are no numbers to draw.

    Args:
        comparison: of an experiment that declares a figure.
        standalone: whether the text is a file of its own, which contains the style.
    """
    content = _drawing(comparison)
    if not content.values:
        return ""
    body, height = chart(content)
    name, title = comparison.experiment.id, f"{place(comparison.experiment.table)}: {comparison.experiment.title}"
    labels = element("title", escape(title), id=f"{name}-title")
    labels += element("desc", escape(description(comparison)), id=f"{name}-desc")
    style = element("style", figure_style()) if standalone else ""
    attributes: dict[str, object] = {"xmlns": "http://www.w3.org/2000/svg"} if standalone else {}
    attributes |= {"class_": "figure", "viewBox": f"0 0 {WIDTH:g} {height:g}", "role": "img"}
    attributes |= {"aria_labelledby": f"{name}-title", "aria_describedby": f"{name}-desc"}
    background = element("rect", class_="background", width=WIDTH, height=height)
    return element("svg", f"{labels}{style}{background}{body}", **attributes)


def figure_style() -> str:
    """Return the style sheet of figures."""
    return (files(__package__) / "page/figures.css").read_text(encoding="utf-8")


def description(comparison: Comparison) -> str:
    """Return the alternative text of a figure: its axes, and the value or the range of each series."""
    content = _drawing(comparison)
    kind = "Bar chart" if content.figure.kind == "bar" else "Line chart"
    series = [_described(each, content) for each in content.series]
    return " ".join([f"{kind}: {content.figure.y} by {content.figure.x}.", *series])


def _drawing(comparison: Comparison) -> Drawing:
    assert comparison.experiment.figure is not None
    return drawing(comparison, comparison.experiment.figure)


def _described(series: Series, content: Drawing) -> str:
    """Return the values of a bar, or the ends and the highest point of a line, and what is missing."""
    parts = [("ours", series.ours), ("theirs", series.theirs)]
    texts = [f"{name} {summary}" for name, points in parts if (summary := _summary(points, content))]
    gap = [f"gap: {series.gap}"] if series.gap else []
    return f"{series.label or 'all'}: {'; '.join([*texts, *gap])}."


def _summary(points: Sequence[Point], content: Drawing) -> str:
    known = [(point.y, point) for point in points if point.y is not None]
    if not known or content.figure.kind == "bar":
        return "".join(value_text(point, content) for _, point in known)
    highest = max(known, key=lambda pair: pair[0])
    first, last, best = (
        f"{value_text(point, content)} at {content.categories.get(point.x) or tick_text(point.x)}"
        for _, point in (known[0], known[-1], highest)
    )
    return f"from {first} to {last}, highest {best}"
