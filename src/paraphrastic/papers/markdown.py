"""The pages of the documentation with tables and figures, theirs beside ours: one for each paper, and their index."""

import re
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path

from paraphrastic.analysis.published import published
from paraphrastic.base.files import write_text
from paraphrastic.papers.analysis_tables import AnalysisTable, analysis_tables
from paraphrastic.papers.bibliography import PAPERS, place
from paraphrastic.papers.comparison import Comparison
from paraphrastic.papers.facts import LEGEND, facts, legend, tally
from paraphrastic.papers.figures import description, figure_svg
from paraphrastic.papers.grid import GAP, NARROW, Grid, Heading, Shown, grid

_WRITTEN = (".md", ".svg")  # endings of the files of the folder
_SPECIAL = re.compile(r"[\\*_\[\]`]")
_CODE = re.compile(r"(`[^`]+`)")
_SEARCH = '<label class="search" hidden>Search rows <input type="search" autocomplete="off"></label>'


def write_docs(comparisons: Sequence[Comparison], folder: Path) -> None:
    """Write the pages and their figures to `folder`, and remove other such files there."""
    files = docs_files(comparisons)
    for name, content in files.items():
        write_text(folder / name, content)
    for path in folder.iterdir():
        if path.suffix in _WRITTEN and path.name not in files:
            path.unlink()


def docs_files(comparisons: Sequence[Comparison]) -> dict[str, str]:
    """Return the content of each file of the folder by name."""
    pages = {"index.md": _index(comparisons)}
    for name in PAPERS:
        pages[f"{name}.md"] = _page(name, [each for each in comparisons if each.experiment.paper == name])
    figures = {_figure_name(each): svg for each in comparisons if (svg := _figure(each))}
    return pages | figures


def _index(comparisons: Sequence[Comparison]) -> str:
    rows = "\n".join(map(_index_row, comparisons))
    return f"""# The papers, theirs and ours

The tables and figures of the papers that run here, with the published numbers beside ours. These pages are written by
`paraphrastic papers report --docs` from the stored results; [how to](../how-to/papers.md) run, report and extend them.

<div class="papers" markdown>

{_legend(comparisons)}

| experiment | title | runs | numbers compared | within 3 points |
|---|---|--:|--:|--:|
{rows}

</div>
"""


def _index_row(comparison: Comparison) -> str:
    experiment, count = comparison.experiment, tally(comparison)
    link = f"[{experiment.id}]({experiment.paper}.md#{slug(_heading(comparison))})"
    close = str(count.close) if count.compared else GAP
    runs = f"{count.finished} of {count.runs}"
    return f"| {link} | {plain(_heading(comparison))} | {runs} | {count.compared} | {close} |"


def _page(name: str, comparisons: Sequence[Comparison]) -> str:
    paper = PAPERS[name]
    sections = "\n".join(map(_section, comparisons))
    return f"""# {name}

{paper.authors}, [{paper.title}]({paper.url}), {paper.venue}.

<div class="papers" markdown>

{_legend(comparisons)}

{_SEARCH}

{sections}
</div>
{_undeclared(name, comparisons)}"""


def _undeclared(name: str, comparisons: Sequence[Comparison]) -> str:
    """Return a sentence that names the parts of a paper with published numbers and without an experiment."""
    declared = {each.experiment.table for each in comparisons}
    parts = [place(table) for table in published(name)["table"].unique() if table not in declared]
    if not parts:
        return ""
    return f"\nNot here, without an experiment of ours: the numbers of {', '.join(parts)}.\n"


def _legend(comparisons: Sequence[Comparison]) -> str:
    data = comparisons[0].data if comparisons else "open"
    samples = [f'<span class="{name}">{text}</span>' for name, text in LEGEND.items()]
    samples.append(f'<span class="gap">{GAP} no result</span>')
    return " ".join(samples) + "\n\n" + " ".join(map(text, legend(data)))


def _section(comparison: Comparison) -> str:
    experiment = comparison.experiment
    parts = [f"## {plain(_heading(comparison))}", text(experiment.caption)]
    parts += [f"**Finding.** {text(experiment.finding)}"] if experiment.finding else []
    parts += [_image(comparison)] if experiment.figure else []
    parts += ["\n".join(table_lines(grid(comparison)))] if comparison.columns else []
    parts += map(_analysis, analysis_tables(comparison))
    parts += ["\n".join(f"* **{term}**: {'; '.join(map(text, texts))}" for term, texts in facts(comparison))]
    return "\n\n".join(parts) + "\n"


def _heading(comparison: Comparison) -> str:
    return f"{place(comparison.experiment.table)}: {comparison.experiment.title}"


def _image(comparison: Comparison) -> str:
    if not _figure(comparison):
        return '<span class="gap">No results yet.</span>'
    return f"![{plain(description(comparison))}]({_figure_name(comparison)})"


def _figure(comparison: Comparison) -> str:
    return figure_svg(comparison) if comparison.experiment.figure else ""


def _figure_name(comparison: Comparison) -> str:
    return f"{comparison.experiment.id}.svg"


def _analysis(table: AnalysisTable) -> str:
    if not table.rows:
        return f'<span class="gap">{plain(table.title)}: no results yet.</span>'
    lines = [f"| {' | '.join(map(plain, cells))} |" for cells in (table.columns, *table.rows)]
    return "\n".join([f"{plain(table.title)}\n", lines[0], f"|{'---|' * len(table.columns)}", *lines[1:]])


def table_lines(table: Grid) -> Iterator[str]:
    """Yield the lines of a table; of many columns, each has theirs and ours in one cell."""
    narrow = len(table.columns) <= NARROW
    headers = list(_headers(table, narrow))
    yield f"| {table.corner} | {' | '.join(headers)} |"
    yield f"|---|{'--:|' * len(headers)}"
    for heading, cells in table.rows:
        shown = _separate(table, cells) if narrow else map(_together, cells)
        yield f"| {_label(heading)} | {' | '.join(shown)} |"


def _headers(table: Grid, narrow: bool) -> Iterator[str]:
    for number, heading in enumerate(table.columns):
        if narrow:
            yield from (f"{_label(heading)}: {part}" for part in table.parts(number))
        else:
            yield _label(heading)


def _separate(table: Grid, cells: Sequence[Shown]) -> Iterator[str]:
    for number, cell in enumerate(cells):
        texts = {"theirs": plain(cell.theirs), "ours": _ours(cell), "difference": plain(cell.difference)}
        yield from (texts[part] for part in table.parts(number))


def _together(cell: Shown) -> str:
    return " / ".join(filter(None, [plain(cell.theirs), _ours(cell)]))


def _ours(cell: Shown) -> str:
    if cell.reason:
        return f'<span class="gap" title="{_attribute(cell.reason)}">{GAP}</span>'
    if cell.partial:
        return f'<span title="{_attribute(cell.partial)}">{plain(cell.ours_and_spread)}</span>'
    if not cell.closeness:
        return plain(cell.ours_and_spread)
    return f'<span class="{cell.closeness}" title="{cell.difference}">{plain(cell.ours_and_spread)}</span>'


def _label(heading: Heading) -> str:
    details = f"<br><small>{plain(heading.details)}</small>" if heading.details else ""
    return plain(heading.text) + details


def plain(content: str) -> str:
    """Return a text that Markdown shows as it is, also in a table."""
    return _SPECIAL.sub(r"\\\g<0>", escape(content, quote=False)).replace("|", "&#124;").replace("\n", " ")


def text(content: str) -> str:
    """Return plain text in which what stands between backticks is code."""
    parts = _CODE.split(content)
    return "".join(part if number % 2 else plain(part) for number, part in enumerate(parts))


def slug(heading: str) -> str:
    """Return the anchor that Markdown gives to a heading."""
    return re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", heading, flags=re.ASCII).strip().lower())


def _attribute(content: str) -> str:
    return escape(content).replace("|", "&#124;")
