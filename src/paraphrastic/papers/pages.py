"""Tables and figures of the papers, theirs beside ours, as pages of the documentation, one for each paper.

Facts about a comparison, from its command to its notes, stand below its table. A text may hold code between backticks;
everything else in it is plain text.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from paraphrastic.analysis.comparison.formats import markdown_table
from paraphrastic.analysis.published import published
from paraphrastic.base.files import write_text
from paraphrastic.papers.comparing import (
    BOUNDS,
    GAP,
    NARROW,
    PARTS,
    Closeness,
    Comparison,
    Grid,
    Heading,
    Shown,
    grid,
    names_of_data,
)
from paraphrastic.papers.experiments import PaperName
from paraphrastic.papers.figures import description, figure_svg

_WRITTEN = (".md", ".svg")  # endings of the files of the folder
_SPECIAL = re.compile(r"[\\*_\[\]`]")
_CODE = re.compile(r"(`[^`]+`)")
_SEARCH = '<label class="search" hidden>Search rows <input type="search" autocomplete="off"></label>'
_INDEX = ("experiment", "title", "runs", "numbers compared", "within 3 points")
LEGEND: dict[Closeness, str] = {  # class of a difference → its bounds
    name: f"within {bound:g} {'point' if bound == 1 else 'points'}" if bound < float("inf") else "farther"
    for bound, name in BOUNDS
}
_COLOUR = (
    "The colour of a number of ours is its distance from that of the paper. Points are of scores × 100; counts above "
    "100 are compared in percent. ± is the standard deviation over seeds."
)
_OPEN = "Ours is trained on open data and not on that of the papers, so that distances show both the data and the code."


PAPERS: dict[PaperName, str] = {  # as Markdown
    "iclr2016": "Wieting, Bansal, Gimpel and Livescu, "
    "[Towards Universal Paraphrastic Sentence Embeddings](https://arxiv.org/abs/1511.08198), ICLR 2016.",
    "charagram2016": "Wieting, Bansal, Gimpel and Livescu, "
    "[Charagram: Embedding Words and Sentences via Character n-grams](https://arxiv.org/abs/1607.02789), EMNLP 2016.",
    "acl2017": "Wieting and Gimpel, "
    "[Revisiting Recurrent Networks for Paraphrastic Sentence Embeddings](https://arxiv.org/abs/1705.00364), ACL 2017.",
    "ldc2016": "Wang, Mi and Ittycheriah, "
    "[Sentence Similarity Learning by Lexical Decomposition and Composition](https://arxiv.org/abs/1602.07019), "
    "COLING 2016.",
}
_PARTS = {"T": "Table", "F": "Figure", "S": "Section"}


def part_of_paper(table: str) -> str:
    """Return the name of a part of a paper: `Table 2` for `T2`, `Figure 1` for `F1`, `Section 5.1`, `Appendix B`.

    Tables that are not of a paper keep their name.
    """
    if re.fullmatch("S[A-Z]", table):
        return f"Appendix {table[1:]}"
    return f"{_PARTS[table[0]]} {table[1:]}" if re.fullmatch(r"[TFS]\d[\d.]*", table) else table


def write_docs(comparisons: Sequence[Comparison], folder: Path, claims: str) -> None:
    """Write the pages and their figures to `folder`, and remove other such files there."""
    files = docs_files(comparisons, claims)
    for name, content in files.items():
        write_text(folder / name, content)
    for path in folder.iterdir():
        if path.suffix in _WRITTEN and path.name not in files:
            path.unlink()


def docs_files(comparisons: Sequence[Comparison], claims: str = "") -> dict[str, str]:
    """Return the content of each file of the folder by name; experiments without a paper are on no page.

    `claims` stand before the list of the tables, in Markdown, see `claims_page.section`.
    """
    comparisons = [each for each in comparisons if each.experiment.paper]
    pages = {"index.md": _index(comparisons, claims)}
    for name in PAPERS:
        pages[f"{name}.md"] = _page(name, [each for each in comparisons if each.experiment.paper == name])
    drawn = [each for each in comparisons if each.experiment.figure]
    return pages | {f"{each.experiment.id}.svg": svg for each in drawn if (svg := figure_svg(each))}


def links(comparisons: Sequence[Comparison]) -> dict[str, str]:
    """Return a link to the table or figure of each experiment of a paper, in Markdown, by id."""
    return {each.experiment.id: _link(each, part_of_paper(each.experiment.table)) for each in comparisons}


def _link(comparison: Comparison, label: str) -> str:
    return f"[{label}]({comparison.experiment.paper}.md#{slug(_heading(comparison))})"


def _index(comparisons: Sequence[Comparison], claims: str) -> str:
    rows = []
    for each, count in [(each, tally(each)) for each in comparisons]:
        link = _link(each, each.experiment.id)
        close = str(count.close) if count.compared else GAP
        rows.append([link, plain(_heading(each)), f"{count.finished} of {count.runs}", str(count.compared), close])
    return f"""# The papers, theirs and ours

The tables and figures of the papers that run here, with the published numbers beside ours. These pages are written by
`paraphrastic papers report --docs` from the stored results; [how to](../how-to/papers.md) run, report and extend them.

{claims}
## Tables and figures

<div class="papers" markdown>

{_legend(comparisons)}

{markdown_table(_INDEX, rows, texts=2)}
</div>
"""


def _page(name: PaperName, comparisons: Sequence[Comparison]) -> str:
    sections = "\n".join(map(_section, comparisons))
    return f"""# {name}

{PAPERS[name]}

<div class="papers" markdown>

{_legend(comparisons)}

{_SEARCH}

{sections}
</div>
{_undeclared(name, comparisons)}"""


def _undeclared(name: str, comparisons: Sequence[Comparison]) -> str:
    """Return a sentence that names the parts of a paper with published numbers and without an experiment."""
    declared = {each.experiment.table for each in comparisons}
    parts = [part_of_paper(table) for table in published(name)["table"].unique() if table not in declared]
    if not parts:
        return ""
    return f"\nNot here, without an experiment of ours: the numbers of {', '.join(parts)}.\n"


def _legend(comparisons: Sequence[Comparison]) -> str:
    """Return what the colours of cells mean."""
    samples = [f'<span class="{name}">{text}</span>' for name, text in LEGEND.items()]
    samples.append(f'<span class="gap">{GAP} no result</span>')
    is_open = all(each.data == "open" for each in comparisons)
    return " ".join(samples) + "\n\n" + _COLOUR + (f" {_OPEN}" if is_open else "")


def _section(comparison: Comparison) -> str:
    experiment = comparison.experiment
    parts = [f"## {plain(_heading(comparison))}", text(experiment.caption)]
    parts += [f"**Finding.** {text(experiment.finding)}"] if experiment.finding else []
    if experiment.figure:
        image = f"![{plain(description(comparison))}]({experiment.id}.svg)"
        parts.append(image if figure_svg(comparison) else '<span class="gap">No results yet.</span>')
    parts += [table_text(grid(comparison))] if comparison.columns else []
    parts += [_analysis(*table) for table in analysis_tables(comparison)]
    parts += ["\n".join(f"* **{term}**: {'; '.join(map(text, texts))}" for term, texts in facts(comparison))]
    return "\n\n".join(parts) + "\n"


def _heading(comparison: Comparison) -> str:
    return f"{part_of_paper(comparison.experiment.table)}: {comparison.experiment.title}"


def analysis_tables(comparison: Comparison) -> Iterator[tuple[str, list[str], list[list[str]]]]:
    """Yield title, header and rows of the analyses that an experiment shows whole, each of the first run that has it.

    The title names the row of the experiment and the analysis. An analysis without results has no rows.
    """
    for name in comparison.experiment.shows:
        found = [(line.label, result) for line in comparison.lines for result in line.results.values()]
        tables = {label: result.tables[name] for label, result in reversed(found) if name in result.tables}
        if not tables:
            yield name, [], []
        for label, rows in reversed(tables.items()):
            header, *cells = [list(map(str, row)) for row in rows]
            yield f"{label}: {name}", header, cells


def _analysis(title: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    if not rows:
        return f'<span class="gap">{plain(title)}: no results yet.</span>'
    table = markdown_table(list(map(plain, header)), [list(map(plain, row)) for row in rows], texts=len(header))
    return f"{plain(title)}\n\n{table}".rstrip("\n")


def table_text(table: Grid) -> str:
    """Return a table in Markdown; of many columns, each has theirs and ours in one cell."""
    narrow = len(table.columns) <= NARROW
    parts = [table.parts(number) for number in range(len(table.columns))]
    labels = list(map(_label, table.columns))
    header = [f"{label}: {part}" for label, each in zip(labels, parts, strict=True) for part in each]
    rows = []
    for heading, cells in table.rows:
        texts = [
            dict(zip(PARTS, (plain(each.theirs), _ours(each), plain(each.difference)), strict=True)) for each in cells
        ]
        if narrow:
            shown = [text[part] for text, each in zip(texts, parts, strict=True) for part in each]
        else:
            shown = [" / ".join(filter(None, [text["theirs"], text["ours"]])) for text in texts]
        rows.append([_label(heading), *shown])
    corner = "set" if table.transposed else "row"
    return markdown_table([corner, *(header if narrow else labels)], rows, texts=1).rstrip("\n")


def _ours(cell: Shown) -> str:
    title = cell.reason or cell.partial or (cell.difference if cell.closeness else "")
    if not title:
        return plain(cell.ours_and_spread)
    name = "gap" if cell.reason else cell.closeness
    attributes = f'class="{name}" ' if name else ""
    return f'<span {attributes}title="{escape(title).replace("|", "&#124;")}">{plain(cell.ours_and_spread)}</span>'


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


@dataclass(frozen=True)
class Tally:
    """How far a comparison has come."""

    runs: int  # number of runs
    finished: int  # of them, those with results
    compared: int  # numbers that both the paper and we have
    close: int  # of them, those within 3 points


def tally(comparison: Comparison) -> Tally:
    """Return how many runs are finished and how many numbers are close."""
    runs = {run.name for line in comparison.lines for run in line.runs}
    finished = {name for line in comparison.lines for name in line.results}
    classes = Counter(cell.closeness for _, cells in grid(comparison).rows for cell in cells if cell.closeness)
    return Tally(len(runs), len(finished), classes.total(), classes["close"] + classes["near"])


def facts(comparison: Comparison) -> list[tuple[str, list[str]]]:
    """Return terms with their texts; terms without texts are left out."""
    experiment, count = comparison.experiment, tally(comparison)
    data = "" if comparison.data == "open" else f" --data {comparison.data}"
    versions = sorted({result.version for line in comparison.lines for result in line.results.values()})
    by = f", by version {', '.join(versions)}" if versions else ""
    partial = (cell.partial for _, shown in grid(comparison).rows for cell in shown)
    changed = [(line.label, line.changed) for line in comparison.lines if line.changed]
    notes = [(", ".join(row.all_labels), row.note) for row in experiment.rows if row.note and not row.hidden]
    found = [
        ("command", [f"`paraphrastic papers run {experiment.id}{data}`"]),
        ("data", [_data(comparison)]),
        ("runs", [f"{count.finished} of {count.runs}{by}"] if count.runs else []),
        ("sets", [f"* {text}: not compared" for text in dict.fromkeys(partial) if text]),
        ("missing", [experiment.missing] if experiment.missing else []),
        ("gaps", _gaps(comparison)),
        ("changed", [f"{label}: measured with another {_codes(keys)}" for label, keys in changed]),
        ("notes", [f"{labels}: {note}" for labels, note in notes]),
    ]
    return [(term, texts) for term, texts in found if texts]


def _data(comparison: Comparison) -> str:
    experiment = comparison.experiment
    ours = _codes(name for line in comparison.lines for name in line.data)
    rows = [row for row in experiment.rows if not row.hidden]
    data = [((row.corpus or experiment.corpus).paper, row.paper_tasks or row.tasks) for row in rows]
    theirs = _codes(name for corpora, tasks in data for name in names_of_data(corpora, tasks))
    paper = f"; the paper: {theirs or '–'}" if experiment.paper else ""
    return f"ours: {comparison.data} data, {ours or 'no runs'}{paper}"


def _gaps(comparison: Comparison) -> list[str]:
    labels: dict[str, list[str]] = {}
    for line in comparison.lines:
        if line.gap:
            labels.setdefault(line.gap, []).append(line.label)
    unmeasured = [column for column in comparison.columns if column not in comparison.measured]
    columns = [f"columns not measured: {', '.join(unmeasured)}"] if unmeasured else []
    return [*(f"{reason}: {', '.join(names)}" for reason, names in labels.items()), *columns]


def _codes(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in dict.fromkeys(names))
