"""The HTML file: structure, escapes, gaps, classes, and that it names nothing to fetch."""

import re
from html.parser import HTMLParser

import pytest

from paraphrastic.papers.html import html_page
from tests.helpers.paper_comparisons import VERSION, make_comparison, make_line

VOID = {"meta", "link", "input", "wbr"}


class Page(HTMLParser):
    """The elements of a page, each as [tag, attributes, own text], and a check that tags match."""

    def __init__(self, text):
        super().__init__()
        self.elements, self._open = [], [["", {}, ""]]
        self.feed(text)
        assert len(self._open) == 1

    def handle_starttag(self, tag, attrs):
        self.elements.append([tag, dict(attrs), ""])
        if tag not in VOID:
            self._open.append(self.elements[-1])

    def handle_endtag(self, tag):
        assert self._open.pop()[0] == tag

    def handle_data(self, data):
        self._open[-1][2] += data

    def all(self, tag, **attributes):
        return [
            (found, text)
            for name, found, text in self.elements
            if name == tag and all(found.get(key.rstrip("_")) == value for key, value in attributes.items())
        ]


def page(*lines, **experiment):
    return Page(html_page([make_comparison(*lines, **experiment)]))


def test_cells_of_a_narrow_table():
    found = page(make_line("avg", {"mean": ("68.4", (67.0, 68.0))}, seeds=2))
    (section,) = found.all("section")
    assert section[0] == {"id": "acl2017-t2"}
    (ours,) = [cell for cell in found.all("td", class_="close") if "title" in cell[0]]
    assert ours == ({"class": "close", "title": "−0.9 from 68.4"}, "67.5")
    assert found.all("span", class_="spread") == [({"class": "spread"}, " ± 0.7")]
    assert ({"class": "close"}, "−0.9") in found.all("td")  # the difference is text too
    assert ({}, "68.4") in found.all("td")
    assert [text for _, text in found.all("th", scope="col")][-4:] == ["row", "theirs", "ours", "difference"]


def test_differences_of_a_wide_table_stand_in_the_cells():
    cells = {f"set{number}": ("60.0", (65.0,)) for number in range(4)}
    found = page(make_line("avg", cells))
    assert found.all("span", class_="difference") == [({"class": "difference"}, "+5.0")] * 4
    assert found.all("span", class_="value") == [({"class": "value"}, "65.0")] * 4
    assert [text for _, text in found.all("th", scope="col")][-3:] == ["ours", "theirs", "ours"]
    assert {attributes["colspan"] for attributes, _ in found.all("th", scope="colgroup")} == {"2"}


def test_mean_over_fewer_sets_has_a_star_and_says_which():
    found = page(make_line("avg", {"mean": ("68.4", (67.0,))}, lacks=["pit2015"]))
    assert [attributes.get("title") for attributes, text in found.all("td") if text == "67.0*"] == ["without pit2015"]


def test_gap_is_a_gap_with_its_reason():
    found = page(make_line("avg", {"mean": ("68.4", ())}, seeds=3, finished=0))
    assert found.all("td", class_="gap") == [({"class": "gap", "title": "0 of 3 runs"}, "–")]
    assert "0 of 3 runs: avg" in [text for _, text in found.all("dd")]


def test_facts_finding_and_paper():
    found = page(make_line("avg", {"mean": ("68.4", (67.0,))}), finding="It holds.", missing="A reason.")
    assert "paraphrastic papers run acl2017-t2" in [text for _, text in found.all("code")]
    assert f"1 of 1, by version {VERSION}" in [text for _, text in found.all("dd")]
    assert "A reason." in [text for _, text in found.all("dd")]
    assert ({}, "Finding.") in found.all("strong")
    assert ({}, " It holds.") in found.all("p")
    assert [attributes["href"] for attributes, _ in found.all("a") if ":" in attributes["href"]] == [
        "https://arxiv.org/abs/1705.00364"
    ]


def test_texts_are_escaped():
    bad = "<b>&\"'"
    line = make_line(bad, {bad: (bad, (bad,))}, note=bad)
    text = html_page([make_comparison(line, title=bad, caption=f"{bad} `{bad}`", finding=bad, missing=bad)])
    Page(text)  # tags match
    assert "<b>" not in text
    assert "<code>&lt;b&gt;&amp;" in text


def test_links_within_the_page():
    found = page(make_line("avg", {"mean": ("68.4", (67.0,))}))
    ids = {attributes["id"] for _, attributes, _ in found.elements if "id" in attributes}
    targets = {attributes["href"][1:] for attributes, _ in found.all("a") if attributes["href"].startswith("#")}
    assert targets == {"acl2017-t2"} <= ids


def test_figure_and_its_gap():
    bars = {"kind": "bar", "x": "model", "y": "mean", "column": "mean"}
    assert len(page(make_line("avg", {"mean": ("", (67.0,))}), figure=bars).all("svg", role="img")) == 1
    gap = page(make_line("avg", {"mean": ("", ())}, finished=0), figure=bars)
    assert gap.all("p", class_="gap") == [({"class": "gap"}, "No results yet.")]


def test_analysis_that_is_shown_whole():
    table = [["sentence", "error"], ["a <dog> in the park", -1.5]]
    found = page(make_line("avg", {"mean": ("", (1.0,))}, tables={"errors": table}), shows=["errors"])
    assert found.all("h4") == [({}, "avg: errors")]
    assert ({"class": "text"}, "a <dog> in the park") in found.all("td")
    assert ({}, "-1.5") in found.all("td")
    gap = page(make_line("avg", {"mean": ("", ())}, finished=0), shows=["errors"])
    assert gap.all("p", class_="gap") == [({"class": "gap"}, "errors: no results yet.")]


def test_nothing_is_fetched():
    text = html_page([make_comparison(make_line("avg", {"mean": ("68.4", (67.0,))}))])
    assert "default-src 'none'" in text
    assert not [word for word in (" src", "url(", "@import", "import(", "fetch(", "XMLHttpRequest") if word in text]
    assert re.findall(r'<link [^>]*href="([^"]*)"', text) == ["data:,"]


def luminance(colour):
    channels = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(first, second):
    dark, light = sorted([luminance(first), luminance(second)])
    return (light + 0.05) / (dark + 0.05)


def pairs(text, rule, name):
    """Return the light and the dark colour of a property of a rule."""
    (declarations,) = re.findall(rf"^{re.escape(rule)} \{{([^}}]*)\}}", text, re.M)
    return re.search(rf"(?<![\w-]){name}: light-dark\((#\w{{6}}), (#\w{{6}})\)", declarations).groups()


@pytest.mark.parametrize("name", ["close", "near", "off", "far"])
@pytest.mark.parametrize("theme", [0, 1])
def test_contrast_of_text_on_colours(name, theme):
    text = html_page([])
    colour, background = (pairs(text, f".papers .{name}", key)[theme] for key in ("color", "background"))
    assert contrast(colour, background) >= 4.5


@pytest.mark.parametrize("theme", [0, 1])
def test_contrast_of_the_series_of_figures(theme):
    text = html_page([])
    background = pairs(text, "body", "background")[theme]
    for number in range(8):
        assert contrast(pairs(text, f".figure .s{number}", "color")[theme], background) >= 3
