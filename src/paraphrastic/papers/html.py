"""One HTML file with tables and figures, theirs beside ours; opening it fetches nothing."""

from collections.abc import Iterable, Sequence
from html import escape
from importlib.resources import files
from string import Template

from paraphrastic.papers.analysis_tables import AnalysisTable, analysis_tables
from paraphrastic.papers.bibliography import PAPERS, place
from paraphrastic.papers.comparison import Comparison
from paraphrastic.papers.facts import LEGEND, facts, legend, tally
from paraphrastic.papers.figures import figure_style, figure_svg
from paraphrastic.papers.grid import GAP, NARROW, Grid, Heading, Part, Shown, grid
from paraphrastic.papers.markup import element, with_code

_LONG = 14  # characters of a text that is broken into lines


def html_page(comparisons: Sequence[Comparison]) -> str:
    """Return a page with these comparisons, by paper, in their order."""
    papers = dict.fromkeys(each.experiment.paper for each in comparisons)
    sections = [_paper(name, [each for each in comparisons if each.experiment.paper == name]) for name in papers]
    return Template(_page_file("page.html")).substitute(
        style="\n".join([_page_file("page.css"), _page_file("tables.css"), figure_style()]),
        script=_page_file("tables.js"),
        legend=_legend(comparisons),
        overview=_overview(comparisons),
        sections="\n".join(sections),
    )


def _page_file(name: str) -> str:
    """Return a file of the folder `page` of this package."""
    return (files(__package__) / "page" / name).read_text(encoding="utf-8")


def _legend(comparisons: Sequence[Comparison]) -> str:
    samples = "".join(element("li", element("span", text, class_=name)) for name, text in LEGEND.items())
    samples += element("li", element("span", f"{GAP} no result", class_="gap"))
    data = comparisons[0].data if comparisons else "open"
    texts = "".join(element("p", with_code(sentence)) for sentence in legend(data))
    return element("ul", samples, class_="legend") + texts


def _overview(comparisons: Sequence[Comparison]) -> str:
    """Return a table with one row for each comparison."""
    return _plain_table("Overview", _OVERVIEW, map(_overview_row, comparisons))


_OVERVIEW = ("experiment", "title", "runs", "numbers compared", "within 3 points")


def _overview_row(comparison: Comparison) -> str:
    """Return the cells of a row."""
    experiment, count = comparison.experiment, tally(comparison)
    link = element("a", escape(experiment.id), href=f"#{experiment.id}")
    numbers = (f"{count.finished} of {count.runs}", str(count.compared), str(count.close) if count.compared else GAP)
    title = element("td", escape(f"{place(experiment.table)}: {experiment.title}"), class_="text")
    return element("th", link, scope="row") + title + "".join(element("td", text) for text in numbers)


def _paper(name: str, comparisons: Iterable[Comparison]) -> str:
    paper = PAPERS[name]
    link = element("a", escape(paper.title), href=paper.url)
    about = element("p", f"{escape(paper.authors)}, {link}, {escape(paper.venue)}")
    return element("h2", escape(name), id=name) + about + "\n".join(map(_section, comparisons))


def _section(comparison: Comparison) -> str:
    experiment = comparison.experiment
    heading = f"{place(experiment.table)}: {experiment.title}"
    anchor = element("a", "#", href=f"#{experiment.id}", class_="anchor", aria_label=f"Link to {experiment.id}")
    parts = [
        element("h3", f"{escape(heading)} {anchor}"),
        element("p", with_code(experiment.caption)),
        element("p", element("strong", "Finding.") + f" {with_code(experiment.finding)}") if experiment.finding else "",
        _figure(comparison),
        html_table(grid(comparison), heading) if comparison.columns else "",
        *map(_analysis, analysis_tables(comparison)),
        _facts(comparison),
    ]
    return element("section", "\n".join(filter(None, parts)), id=experiment.id)


def _figure(comparison: Comparison) -> str:
    if comparison.experiment.figure is None:
        return ""
    svg = figure_svg(comparison)
    return element("figure", svg or element("p", "No results yet.", class_="gap"))


def _analysis(table: AnalysisTable) -> str:
    if not table.rows:
        return element("p", f"{escape(table.title)}: no results yet.", class_="gap")
    rows = (
        "".join(element("td", escape(text, quote=False), class_=_text_class(text)) for text in row)
        for row in table.rows
    )
    return element("h4", escape(table.title)) + _plain_table(table.title, table.columns, rows)


def _plain_table(label: str, columns: Sequence[str], rows: Iterable[str]) -> str:
    """Return a table in a box that scrolls, from the cells of its rows."""
    head = element("tr", "".join(element("th", escape(text), scope="col") for text in columns))
    body = "\n".join(element("tr", cells) for cells in rows)
    return _scrolled(label, element("table", element("thead", head) + element("tbody", body)))


def html_table(table: Grid, label: str) -> str:
    """Return a table in a box that scrolls; each column of the grid has columns for theirs and ours."""
    parts = [_parts(table, column) for column in range(len(table.columns))]
    corner = element("th", table.corner, scope="col", rowspan=2)
    groups = (_group(heading, each) for heading, each in zip(table.columns, parts, strict=True))
    names = (element("th", part, scope="col") for each in parts for part in each)
    head = element("tr", corner + "".join(groups)) + element("tr", "".join(names))
    rows = "\n".join(_row(heading, cells, parts) for heading, cells in table.rows)
    return _scrolled(label, element("table", f"{element('thead', head)}\n{element('tbody', rows)}"))


def _parts(table: Grid, column: int) -> list[Part]:
    parts = table.parts(column)
    return parts if len(table.columns) <= NARROW else [part for part in parts if part != "difference"]


def _group(heading: Heading, parts: Sequence[Part]) -> str:
    return element("th", _label(heading), scope="colgroup", colspan=len(parts))


def _row(heading: Heading, cells: Sequence[Shown], parts: Sequence[Sequence[Part]]) -> str:
    inside = ("difference" not in each for each in parts)  # the difference has no column of its own
    texts = (
        _cell(cell, part, hidden) for cell, each, hidden in zip(cells, parts, inside, strict=True) for part in each
    )
    return element("tr", element("th", _label(heading), scope="row") + "".join(texts))


def _label(heading: Heading) -> str:
    """Return a label, which may break after dots, and its details below it."""
    label = escape(heading.text, quote=False).replace(".", ".<wbr>")
    return label + (element("small", escape(heading.details, quote=False)) if heading.details else "")


def _cell(cell: Shown, part: Part, with_difference: bool) -> str:
    if part == "theirs":
        return element("td", escape(cell.theirs, quote=False), class_=_text_class(cell.theirs))
    if part == "difference":
        return element("td", escape(cell.difference, quote=False), class_=cell.closeness)
    if cell.reason:
        return element("td", GAP, class_="gap", title=cell.reason)
    content = element("span", _ours(cell), class_="value") if with_difference and cell.difference else _ours(cell)
    if with_difference and cell.difference:
        content += element("span", escape(cell.difference, quote=False), class_="difference")
    title = f"{cell.difference} from {cell.theirs}" if cell.closeness else cell.partial
    classes = " ".join(filter(None, [cell.closeness, _text_class(cell.ours)]))
    return element("td", content, class_=classes, title=title)


def _ours(cell: Shown) -> str:
    spread = element("span", f" ± {cell.spread}", class_="spread") if cell.spread else ""
    return escape(cell.ours, quote=False) + spread + ("*" if cell.partial else "")


def _text_class(text: str) -> str:
    """Return the class of long texts, which are broken into lines and aligned at the left."""
    return "text" if len(text) > _LONG else ""


def _facts(comparison: Comparison) -> str:
    """Return the facts as a list of definitions."""
    found = facts(comparison)
    items = (element("dt", term) + "".join(element("dd", with_code(text)) for text in texts) for term, texts in found)
    return element("dl", "".join(items))


def _scrolled(label: str, table: str) -> str:
    """Return a table in a box that scrolls by itself and can be focused, so that the keyboard scrolls it too."""
    return element("div", table, class_="scroll", role="region", aria_label=label, tabindex=0)
