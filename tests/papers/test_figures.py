"""Figures: alternative text, and the marks of series, spreads and gaps in the SVG."""

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from paraphrastic.papers.figures import description, figure_svg
from tests.helpers.paper_comparisons import make_comparison, make_line

SVG = "{http://www.w3.org/2000/svg}"
LINES = {"kind": "line", "x": "training pairs", "y": "mean", "column": "mean"}
BARS = {"kind": "bar", "x": "match function", "y": "MAP", "column": "mean"}
CURVE = {"kind": "curve", "x": "epochs", "y": "accuracy", "column": "selection"}


def draw(comparison):
    """Return the root of the SVG of a comparison."""
    return ElementTree.fromstring(figure_svg(comparison))


def marks(root, kind):
    """Return the marks of data: points, bars, rules or lines."""
    return [each for each in root.iter() if each.get("aria-roledescription") == kind]


def corners(line):
    """Return the corners of each unbroken part of a line, as (x, y)."""
    return [
        [tuple(map(float, each.split(","))) for each in part.rstrip("Z").split("L")]
        for part in line.get("d").split("M")[1:]
    ]


def bar(root, label):
    """Return the left and right end of a bar."""
    (path,) = [each.get("d") for each in marks(root, "bar") if each.get("aria-label").endswith(label)]
    left, width = map(float, re.fullmatch(r"M([\d.-]+),[\d.-]+h([\d.-]+)v.*", path).groups())
    return left, left + width


def texts(root):
    return [each.text for each in root.iter(f"{SVG}text")]


def growth(theirs="", ours=((60.0,), (64.0,), (65.0,)), **options):
    """Return a comparison whose figure is a line through three rows."""
    lines = [
        make_line(f"avg {x}", {"mean": (theirs, value)}, x=x, series="avg", finished=bool(value))
        for x, value in zip((1000, 10_000, 100_000), ours, strict=True)
    ]
    return make_comparison(*lines, figure=LINES | options)


def test_alternative_text_of_a_line():
    assert description(growth()) == (
        "Line chart: mean by training pairs. avg: ours from 60.0 at 1,000 to 65.0 at 100,000, highest 65.0 at 100,000."
    )
    small = [make_line(str(x), {"mean": ("", (0.5,))}, x=x, series="s") for x in (1 / 512, 1_000_000)]
    assert "from 0.500 at 0.00195 to 0.500 at 1,000,000" in description(make_comparison(*small, figure=LINES))


def test_gap_breaks_the_line_and_a_series_without_results_says_why():
    comparison = growth(ours=((60.0,), (), (65.0,)))
    assert len(corners(marks(draw(comparison), "line mark")[0])) == 2
    assert description(comparison).endswith("gap: 0 of 1 runs.")
    lines = [
        make_line("charcnn", {"mean": ("", ())}, curve=[[1, 50.0], [2, 60.0]]),
        make_line("charlstm", {"mean": ("", ())}, finished=0),
    ]
    assert {"charcnn", "charlstm – 0 of 1 runs"} <= set(texts(draw(make_comparison(*lines, figure=CURVE))))


def test_theirs_is_hollow_and_spread_over_seeds_is_a_vertical_line():
    root = draw(growth(theirs="62.0"))
    assert [each.get("fill") for each in marks(root, "point")] == 3 * ["white"] + 3 * ["#0060a8"]
    assert [each.get("stroke-width") for each in marks(root, "line mark")] == ["1", "2"]
    assert "filled: ours; hollow, thin line: theirs" in texts(root)
    assert len(marks(draw(growth()), "point")) == 3
    lines = [make_line(str(x), {"mean": ("", (60.0, 64.0))}, seeds=2, x=x) for x in (1, 2)]
    rules = marks(draw(make_comparison(*lines, figure=LINES)), "rule mark")
    assert [(float(each.get("x2")), abs(float(each.get("y2"))) > 100) for each in rules] == 2 * [(0, True)]
    assert not marks(draw(growth()), "rule mark")


def test_axes_of_categories_and_logarithms():
    lines = [make_line(name, {"mean": ("", (1.0 + len(name),))}, x=name, series="avg") for name in ("large", "small")]
    root = draw(make_comparison(*lines, figure=LINES))
    assert {"large", "small"} <= set(texts(root))
    assert description(make_comparison(*lines, figure=LINES)).count("at large") == 2  # first and highest

    def positions(log):
        return [x for x, _ in corners(marks(draw(growth(log=log)), "line mark")[0])[0]]

    first, middle, last = positions(log=True)
    assert middle - first == pytest.approx(last - middle, abs=0.2)
    first, middle, last = positions(log=False)
    assert (middle - first) / (last - first) == pytest.approx(9_000 / 99_000, abs=0.01)


def test_nine_series_differ_in_colour_marker_or_dash():
    lines = [make_line(f"row {n} {x}", {"mean": ("", (n,))}, x=x, series=f"s {n}") for n in range(9) for x in (1, 2)]
    root = draw(make_comparison(*lines, figure=LINES))
    dashes = [(each.get("stroke"), each.get("stroke-dasharray")) for each in marks(root, "line mark")]
    shapes = [(each.get("fill"), each.get("d")) for each in marks(root, "point")][::2]
    assert (len(set(dashes)), len(set(shapes))) == (9, 9)
    assert (len({dash for _, dash in dashes}), len({shape for _, shape in shapes})) == (5, 8)


def test_curve_is_the_mean_over_seeds_and_has_no_markers():
    curve = [[epoch / 4, 50 + epoch] for epoch in range(1, 41)]
    comparison = make_comparison(make_line("avg", {"mean": ("", ())}, curve=curve, seeds=2), figure=CURVE)
    root = draw(comparison)
    assert len(corners(marks(root, "line mark")[0])[0]) == 40
    assert not marks(root, "point")
    assert "from 51.0 ± 0.0 at 0.25 to 90.0 ± 0.0 at 10" in description(comparison)


def test_bars_with_values_and_a_gap():
    lines = [
        make_line("max", {"mean": ("77.1", (70.0, 72.0))}, seeds=2),
        make_line("global", {"mean": ("", ())}, seeds=2, finished=0),
    ]
    comparison = make_comparison(*lines, figure=BARS)
    root = draw(comparison)
    assert {"max", "71.0 ± 1.4", "77.1", "global", "– 0 of 2 runs"} <= set(texts(root))
    (_, ours), (_, theirs) = bar(root, "max; origin: ours"), bar(root, "max; origin: theirs")
    assert ours / theirs == pytest.approx(71 / 77.1, abs=0.01)
    assert "filled: ours; hollow: theirs" in texts(root)
    assert description(comparison) == (
        "Bar chart: MAP by match function. max: ours 71.0 ± 1.4; theirs 77.1. global: gap: 0 of 2 runs."
    )
    lines = [make_line(name, {"mean": ("", (value,))}) for name, value in (("a", 20.0), ("b", -20.0))]
    root = draw(make_comparison(*lines, figure=BARS))
    (zero, right), (left, end) = bar(root, ": a"), bar(root, ": b")
    assert end == pytest.approx(zero)
    assert zero - left == pytest.approx(right - zero)


def test_charts_are_drawn_from_these_specifications(monkeypatch):
    """After a wanted change of the charts, write `drawn` to charts.json."""
    points = [make_line(f"avg {x}", {"mean": ("62.0", (60.0, 64.0))}, seeds=2, x=x, series="avg") for x in (1, 20)]
    gap = make_line("lstm", {"mean": ("", ())}, finished=0, x=1, series="lstm")
    many = [[epoch / 4, 50 + epoch] for epoch in range(1, 15)]
    comparisons = {
        "line": make_comparison(*points, gap, figure=LINES | {"log": True}),
        "categories": make_comparison(make_line("a", {"mean": ("", (0.5,))}, x="small", series="a"), figure=LINES),
        "curve": make_comparison(make_line("avg", {"mean": ("", ())}, curve=many), figure=CURVE),
        "bar": make_comparison(make_line("max", {"mean": ("77.1", (70.0, 72.0))}, seeds=2), gap, figure=BARS),
        "bar of ours": make_comparison(make_line("max", {"mean": ("", (70.0,))}), figure=BARS),
    }
    monkeypatch.setattr("vl_convert.vegalite_to_svg", str)
    drawn = {name: json.loads(figure_svg(each)) for name, each in comparisons.items()}
    assert drawn == json.loads(Path(__file__).with_name("charts.json").read_text(encoding="utf-8"))


def test_nothing_to_draw():
    assert figure_svg(make_comparison(make_line("a", {"mean": ("", ())}, finished=0), figure=BARS)) == ""
    assert figure_svg(make_comparison(make_line("a", {"mean": ("", ())}), figure=CURVE)) == ""
    label = "<script> & " + 100 * "w"
    shown = texts(draw(make_comparison(make_line(label, {"mean": ("", (1.0,))}), figure=BARS)))
    assert [each for each in shown if re.fullmatch("<script> & www+…", each)]
