"""Figures: valid SVG with alternative text, marks of series, gaps, and labels that keep apart."""

import re
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
    return ElementTree.fromstring(figure_svg(comparison, standalone=True))


def by_class(root, name, tag):
    return [each for each in root.iter(f"{SVG}{tag}") if name in each.get("class", "").split()]


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
        "Line chart: mean by training pairs. avg: ours from 60.0 at 1k to 65.0 at 100k, highest 65.0 at 100k."
    )
    root = draw(growth())
    title, text = root.find(f"{SVG}title"), root.find(f"{SVG}desc")
    assert (title.text, text.text) == ("Table 2: A title", description(growth()))
    assert root.get("role") == "img"
    assert root.get("aria-labelledby") == title.get("id")
    assert root.get("aria-describedby") == text.get("id")


def test_gap_breaks_the_line_and_is_said():
    comparison = growth(ours=((60.0,), (), (65.0,)))
    assert [len(line.get("points").split()) for line in by_class(draw(comparison), "s0", "polyline")] == [1, 1]
    assert description(comparison).endswith("gap: 0 of 1 runs.")


def test_series_without_results_says_why_in_the_legend():
    lines = [
        make_line("charcnn", {"mean": ("", ())}, curve=[[1, 50.0], [2, 60.0]]),
        make_line("charlstm", {"mean": ("", ())}, finished=0),
    ]
    assert {"charcnn", "charlstm – 0 of 1 runs"} <= set(texts(draw(make_comparison(*lines, figure=CURVE))))


def test_theirs_is_hollow_beside_ours():
    root = draw(growth(theirs="62.0"))
    assert len(by_class(root, "solid", "polygon")) == 3 + 1  # and the one in the legend
    assert len(by_class(root, "hollow", "polygon")) == 3
    assert "filled: ours; hollow, thin line: theirs" in texts(root)
    assert not by_class(draw(growth()), "hollow", "polygon")


def test_spread_over_seeds_is_a_vertical_line():
    lines = [make_line(str(x), {"mean": ("", (60.0, 64.0))}, seeds=2, x=x) for x in (1, 2)]
    (first, _) = by_class(draw(make_comparison(*lines, figure=LINES)), "spread", "line")
    assert first.get("x1") == first.get("x2")
    assert float(first.get("y1")) > float(first.get("y2"))


def test_logarithmic_axis():
    def positions(log):
        points = by_class(draw(growth(log=log)), "s0", "polyline")[0].get("points").split()
        return [float(point.split(",")[0]) for point in points]

    first, middle, last = positions(log=True)
    assert middle - first == pytest.approx(last - middle, abs=0.2)
    first, middle, last = positions(log=False)
    assert (middle - first) / (last - first) == pytest.approx(9_000 / 99_000, abs=0.01)


def test_categories_on_the_axis():
    lines = [make_line(name, {"mean": ("", (1.0 + len(name),))}, x=name, series="avg") for name in ("large", "small")]
    root = draw(make_comparison(*lines, figure=LINES))
    assert {"large", "small"} <= set(texts(root))
    assert description(make_comparison(*lines, figure=LINES)).count("at large") == 2  # first and highest


def test_nine_series_differ_in_marker_or_dash():
    lines = [make_line(f"row {n}", {"mean": ("", (n,))}, x=1, series=f"series {n}") for n in range(9)]
    root = draw(make_comparison(*lines, figure=LINES))
    markers = [each.get("points") for each in by_class(root, "solid", "polygon")][:9]
    dashes = [each.get("stroke-dasharray") for each in by_class(root, "key", "line")]
    assert len(set(zip(markers, dashes, strict=True))) == 9
    assert len(set(markers)) == 8


def test_curve_is_the_mean_over_seeds_and_has_few_markers():
    curve = [[epoch / 4, 50 + epoch] for epoch in range(1, 41)]
    comparison = make_comparison(make_line("avg", {"mean": ("", ())}, curve=curve, seeds=2), figure=CURVE)
    root = draw(comparison)
    assert len(by_class(root, "s0", "polyline")[0].get("points").split()) == 40
    assert len(by_class(root, "solid", "polygon")) <= 12
    assert "from 51.0 ± 0.0 at 0.25 to 90.0 ± 0.0 at 10" in description(comparison)


def test_bars_with_values_and_a_gap():
    lines = [
        make_line("max", {"mean": ("77.1", (70.0, 72.0))}, seeds=2),
        make_line("global", {"mean": ("", ())}, seeds=2, finished=0),
    ]
    comparison = make_comparison(*lines, figure=BARS)
    root = draw(comparison)
    assert {"max", "71.0 ± 1.4", "77.1", "global", "– 0 of 2 runs"} <= set(texts(root))
    ours, theirs = by_class(root, "solid", "rect") + by_class(root, "hollow", "rect")
    assert float(ours.get("width")) / float(theirs.get("width")) == pytest.approx(71 / 77.1, abs=0.01)
    assert description(comparison) == (
        "Bar chart: MAP by match function. max: ours 71.0 ± 1.4; theirs 77.1. global: gap: 0 of 2 runs."
    )


def test_negative_bar_ends_at_zero():
    lines = [make_line(name, {"mean": ("", (value,))}) for name, value in (("a", 20.0), ("b", -20.0))]
    right, left = by_class(draw(make_comparison(*lines, figure=BARS)), "solid", "rect")
    assert float(left.get("x")) + float(left.get("width")) == pytest.approx(float(right.get("x")), abs=0.1)
    assert float(left.get("width")) == pytest.approx(float(right.get("width")), abs=0.1)


def test_nothing_to_draw():
    assert figure_svg(make_comparison(make_line("a", {"mean": ("", ())}, finished=0), figure=BARS)) == ""
    assert figure_svg(make_comparison(make_line("a", {"mean": ("", ())}), figure=CURVE)) == ""


def test_labels_are_escaped_and_shortened():
    label = "<script> & " + 100 * "w"
    svg = figure_svg(make_comparison(make_line(label, {"mean": ("", (1.0,))}), figure=BARS))
    assert "<script>" not in svg
    assert "&lt;script&gt; &amp; www" in svg
    assert re.search("w…</text>", svg)


def test_only_a_file_of_its_own_has_a_style():
    assert "<style>" in figure_svg(growth(), standalone=True)
    assert "<style>" not in figure_svg(growth())
