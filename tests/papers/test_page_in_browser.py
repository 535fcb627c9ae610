"""The HTML file in a headless browser: no script errors, requests, broken links, or text outside its box."""

import pytest

from paraphrastic.papers.html import html_page
from paraphrastic.papers.project import Project
from tests.helpers.browser import check_page, find_browser
from tests.helpers.paper_comparisons import make_comparison, make_line
from tests.helpers.repository import ROOT

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(find_browser() is None, reason="neither Chromium nor Chrome is installed"),
]

LONG = "a name that is longer than any column, with words and_without.any-place/to.break/" + 30 * "x"
FIGURE = "<svg viewBox='0 0 50 50' role='img' aria-labelledby='t'><title id='t'>t</title>"
TABLE = "<table><thead><tr><th>a</th></tr></thead><tbody><tr><td>1</td></tr></tbody></table>"


def committed():
    """Return the page with all declarations and the results that are stored in this repository."""
    project = Project(ROOT)
    return html_page([project.compare(each, "open") for each in project.experiments.by_id.values()])


def made_up():
    """Return a page with every kind of table and figure, long texts and gaps."""
    sets = {f"sts.201{number}.answers-students": ("60.0", (60.0 + number, 61.0)) for number in range(12)}
    wide = [make_line(f"{name} {LONG}", sets, seeds=3, finished=2) for name in ("avg", "lstm")]
    gaps = make_line("glove", dict.fromkeys(sets, ("50.0", ())), configured=False)
    lists = [make_line(f"avg {n}", {str(k): ("word", (LONG,)) for k in range(1, 8)}) for n in range(3)]
    points = [
        make_line(
            f"{series} {x}",
            {"mean": (str(x % 7 + 60.5), (x % 11 + 60.0, 61.0))},
            x=x,
            seeds=2,
            series=f"{series} {LONG[:25]}",
        )
        for series in range(9)
        for x in (1000, 10_000, 15_000, 100_000, 1_000_000)
    ]
    bars = [make_line(f"{n} {LONG}", {"mean": ("-3.5", ((n - 2) * 30.0,))}) for n in range(5)]
    curve = [[n / 4, 50 + n % 17] for n in range(1, 40)]
    curves = [make_line(f"{n} {LONG}", {}, curve=curve) for n in range(3)]
    axes = {"x": LONG, "y": LONG, "column": "mean"}
    table = [["sentence", "score"], [LONG, 1.0], ["a short one", -2.5]]
    shown = make_line("avg", {"mean": ("", (1.0,))}, tables={"errors": table}, note=LONG)
    return html_page(
        [
            make_comparison(*wide, gaps, id="wide", title=LONG, caption=f"{LONG} `{LONG}`", finding=LONG, missing=LONG),
            make_comparison(*lists, id="lists"),
            make_comparison(*points, id="lines", figure=axes | {"kind": "line", "log": True}),
            make_comparison(
                *bars, make_line("gap", {"mean": ("", ())}, finished=0), id="bars", figure=axes | {"kind": "bar"}
            ),
            make_comparison(*curves, id="curves", figure=axes | {"kind": "curve", "column": "selection"}),
            make_comparison(shown, id="analyses", shows=["errors", "missing"]),
        ]
    )


@pytest.mark.parametrize("page", [committed, made_up])
@pytest.mark.parametrize("width", [400, 1400])
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_page(tmp_path, page, width, dark):
    assert check_page(page(), tmp_path, width, dark) == []


@pytest.mark.parametrize(
    ("broken", "finding"),
    [
        ("<script>undefined.x</script>", "script error"),
        ("<script>Promise.reject('no')</script>", "script error"),
        ("<script>console.error('no')</script>", "console"),
        ("<a href='#nowhere'>link</a>", "broken link"),
        ("<a href='page.md'>link</a>", "broken link"),
        ("<p id='twice'>a</p><p id='twice'>b</p>", "repeated id"),
        ("<img src='https://example.org/a.png'>", "request"),
        ("<p style='width: 50px; white-space: nowrap'>much too long for its box</p>", "text outside its box"),
        ("<div style='width: 3000px'>wide</div>", "the page is wider than the window"),
        ("<p style='color: #aaa; background: #fff'>pale</p>", "contrast below 4.5"),
        (f"{FIGURE}<text x='45' y='20'>text</text></svg>", "label outside its figure"),
        (f"{FIGURE}<text x='1' y='20'>ab</text><text x='5' y='22'>cd</text></svg>", "labels overlap"),
        ("<svg viewBox='0 0 90 50'><text x='1' y='20'>ab</text></svg>", "figure without alternative text"),
        (TABLE, "table that cannot be sorted"),
    ],
)
def test_broken_page_is_found(tmp_path, broken, finding):
    page = html_page([]).replace("</body>", f"{broken}</body>")
    assert any(found.startswith(finding) for found in check_page(page, tmp_path))


@pytest.mark.parametrize(
    ("old", "new", "finding"),
    [
        ("number(a) - number(b)", "number(b) - number(a)", "numbers are not in order"),
        ("isMissing(a) - isMissing(b)", "isMissing(b) - isMissing(a)", "missing values are not last"),
        ("if (chosen) cell.setAttribute", "if (false) cell.setAttribute", "aria-sort is not ascending"),
        (": original));", ": original.toReversed()));", "a third click does not restore the order"),
        ("words.every", "words.some", "search shows a row without the words"),
        ("row.hidden = !all &&", "row.hidden =", "search for an experiment hides its rows"),
        ("section.hidden = !all && shown === 0", "section.hidden = false", "search shows a section without the words"),
    ],
)
def test_broken_script_is_found(tmp_path, old, new, finding):
    page = made_up()
    assert page.count(old) == 1
    assert any(found.startswith(finding) for found in check_page(page.replace(old, new), tmp_path))
