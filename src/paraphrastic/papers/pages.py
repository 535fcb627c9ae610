"""Tables and figures of the papers, theirs beside ours, as pages of the documentation, one for each paper.

They can be read as plain text: cells hold no markup, tables of single sets and lists of settings are folded, and
`docs/assets/papers.js` colours distances. A text may hold code between backticks; everything else in it is plain text.
"""

import re
from collections.abc import Container, Iterable, Iterator, Sequence
from html import escape
from pathlib import Path

from paraphrastic.analysis.published import published
from paraphrastic.base.files import write_text
from paraphrastic.papers.comparing import GAP, Cell, Comparison, Line, number
from paraphrastic.papers.experiments import PaperName
from paraphrastic.papers.facts import facts, tally
from paraphrastic.papers.figures import description, figure_svg

_WRITTEN = (".md", ".svg")  # endings of the files of the folder
_KEPT = ("differences.md",)  # a page that is not written here
_SPECIAL = re.compile(r"[\\*_\[\]`]")
_CODE = re.compile(r"(`[^`]+`)")
_INDEX = ("experiment", "title", "data", "runs", "numbers compared", "within 3 points")
_NARROW = 3  # tables with at most as many columns have columns of theirs and ours
_WIDE = 8  # a table with more columns than this, and than rows, is transposed
_VISIBLE = ("data", "runs", "sets", "missing")  # facts that are not folded
_PADDED = 30  # longer texts do not widen a column
_SET = re.compile(r"sts\.\d{4}\..+")  # a column of a single set
_LEGEND = """\
Ours stands before its distance from the paper's number: `58.4 ± 0.2 (+1.2)`. `paper 57.2` is a number of the paper that
is not compared. Scores are × 100; counts above 100 and fractions are compared in percent. ± is the standard deviation
over seeds. A star marks a number of ours over fewer sets than the paper's. In a browser the colour is the distance:
within 1, 3 or 10 points, or farther. All tables: [where our code differs from the authors'](differences.md)."""


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
        if path.suffix in _WRITTEN and path.name not in (*files, *_KEPT):
            path.unlink()


def docs_files(comparisons: Sequence[Comparison], claims: str = "") -> dict[str, str]:
    """Return the content of each file of the folder by name; experiments without a paper are on no page.

    `claims` stand before the list of the tables, in Markdown, see `claims_page.section`.
    """
    comparisons = [each for each in comparisons if each.experiment.paper]
    drawn = {f"{each.experiment.id}.svg": figure_svg(each) for each in comparisons if each.experiment.figure}
    drawn = {name: svg for name, svg in drawn.items() if svg}
    pages = {"index.md": _index(comparisons, claims)}
    for name in PAPERS:
        pages[f"{name}.md"] = _page(name, [each for each in comparisons if each.experiment.paper == name], drawn)
    return pages | drawn


def links(comparisons: Sequence[Comparison]) -> dict[str, str]:
    """Return a link to the table or figure of each experiment of a paper, in Markdown, by id."""
    return {
        each.experiment.id: _link(each, part_of_paper(each.experiment.table))
        for each in comparisons
        if each.experiment.paper
    }


def _link(comparison: Comparison, label: str) -> str:
    return f"[{label}]({comparison.experiment.paper}.md#{slug(heading(comparison))})"


def _index(comparisons: Sequence[Comparison], claims: str) -> str:
    rows = []
    for each, count in [(each, tally(each)) for each in comparisons]:
        close = str(count.close) if count.compared else GAP
        numbers = [each.data, f"{count.finished} of {count.runs}", str(count.compared), close]
        rows.append([_link(each, each.experiment.id), plain(heading(each)), *numbers])
    return f"""# The papers, theirs and ours

The tables and figures of the papers that run here, with the published numbers beside ours. These pages are written by
`paraphrastic papers report --docs` from the stored results; [how to](../how-to/papers.md) run, report and extend them.
[Where our code differs from the authors'](differences.md) holds for all of them.

{claims}
## Tables and figures

{_cost(comparisons)}

<div class="papers" markdown>

{_table(_INDEX, rows, texts=3)}
</div>
"""


def _cost(comparisons: Sequence[Comparison]) -> str:
    """Return a sentence of how many distinct runs there are, and how long they took: some have no stored time."""
    timed: dict[str, float] = {}
    mean: dict[str, float] = {}  # of the timed runs of their row
    rows = [line.results for each in comparisons for line in each.lines]
    for row in rows:
        minutes = {name: result.minutes for name, result in row.items() if result.minutes is not None}
        timed |= minutes
        mean |= dict.fromkeys(row, sum(minutes.values()) / len(minutes)) if minutes else {}
    runs = {name for row in rows for name in row}
    others = [mean[name] for name in mean if name not in timed]
    hours = f"together {sum(timed.values()) / 60:.1f} hours"
    return (
        f"Distinct runs: {len(runs)}; with a stored time: {len(timed)}, {hours}; with the mean of their rows for "
        f"{len(others)} others, {(sum(timed.values()) + sum(others)) / 60:.1f} hours."
    )


def _page(name: PaperName, comparisons: Sequence[Comparison], drawn: Container[str]) -> str:
    sections = "\n".join(_section(each, drawn) for each in comparisons)
    return f"""# {name}

{PAPERS[name]}

{_LEGEND}

<div class="papers" markdown>

{sections}
</div>
{_undeclared(name, comparisons)}"""


def _undeclared(name: str, comparisons: Sequence[Comparison]) -> str:
    """Return a sentence that names the parts of a paper with published numbers and without an experiment."""
    declared = {each.experiment.table for each in comparisons}
    parts = [part_of_paper(table) for table in published(name)["table"].unique() if table not in declared]
    return f"\nNot here, without an experiment of ours: the numbers of {', '.join(parts)}.\n" if parts else ""


def _section(comparison: Comparison, drawn: Container[str]) -> str:
    experiment = comparison.experiment
    parts = [f"## {plain(heading(comparison))}"]
    parts += [f"{'* ' if number else '**Finding.** '}{text(each)}" for number, each in enumerate(experiment.finding)]
    parts += [text(experiment.caption)]
    if experiment.figure:
        file = f"{experiment.id}.svg"
        parts.append(f"![{plain(description(comparison))}]({file})" if file in drawn else "No results yet.")
    shown = list(tables(comparison))
    parts += [folded("The numbers", "\n\n".join(shown))] if experiment.figure and shown else shown
    parts += [_analysis(*table) for table in analysis_tables(comparison)]
    found = facts(comparison)
    visible, other = ([fact for fact in found if (fact[0] in _VISIBLE) == wanted] for wanted in (True, False))
    parts += [_bullets(visible), folded(", ".join(term for term, _ in other).capitalize(), _bullets(other))]
    return "\n\n".join(parts) + "\n"


def _bullets(facts: Iterable[tuple[str, Sequence[str]]]) -> str:
    """Return a list of terms; several texts of a term are a list of their own."""
    lines = []
    for term, texts in facts:
        each = list(map(text, texts))
        lines += [f"* **{term}**: {each[0]}"] if len(each) == 1 else [f"* **{term}**:", *(f"    * {t}" for t in each)]
    return "\n".join(lines)


def folded(title: str, content: str) -> str:
    """Return Markdown that a browser shows on demand."""
    return f"<details markdown>\n<summary>{title}</summary>\n\n{content}\n\n</details>"


def heading(comparison: Comparison) -> str:
    """Return the part of the paper and its title, such as `Table 2: Means`."""
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
            header, *cells = rows
            columns = [_cells(column) for column in zip(*cells, strict=True)]
            yield f"{label}: {name}", list(map(str, header)), list(map(list, zip(*columns, strict=True)))


def _cells(column: Sequence[object]) -> list[str]:
    """Return the values of a column as text; numbers have the decimals of the one that has the most."""
    numbers = [value for value in column if isinstance(value, float)]
    if len(numbers) < len(column):
        return list(map(str, column))
    decimals = max(len(str(value).partition(".")[2]) for value in numbers)
    return [number(value, decimals) for value in numbers]


def _analysis(title: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    if not rows:
        return f"{plain(title)}: no results yet."
    table = _table(list(map(plain, header)), [list(map(plain, row)) for row in rows], texts=len(header))
    return f"{plain(title)}\n\n{table}".rstrip("\n")


def tables(comparison: Comparison) -> Iterator[str]:
    """Yield the tables of a comparison in Markdown; single sets are folded, with sets down and models across.

    If the columns are ranks, the rows are lists of texts, such as nearest neighbours.
    """
    columns, lines = comparison.columns, comparison.lines
    if len(columns) > 1 and columns == [str(rank) for rank in range(1, len(columns) + 1)]:
        yield _table(["row", "paper", "ours", "in both"], [_lists(line) for line in lines], texts=3)
        return
    sets = [column for column in columns if _SET.fullmatch(column)]
    if other := [column for column in columns if column not in sets]:
        across = len(other) > max(len(lines), _WIDE)
        yield _transposed(lines, other) if across else _by_row(lines, other)
    if own := [line for line in lines if line.rows and sets]:
        parts = [own[start : start + _WIDE] for start in range(0, len(own), _WIDE)]
        yield folded("Each set", "\n\n".join(_transposed(part, sets) for part in parts))


def _by_row(lines: Sequence[Line], columns: Sequence[str]) -> str:
    """Return a table whose rows are those of the paper; of few columns, each has theirs, ours and the difference."""
    if len(columns) > _NARROW:
        rows = [[plain(line.label), *(_both(line.cells[column]) for column in columns), _runs(line)] for line in lines]
        return _table(["row", *map(plain, columns), "runs"], rows, texts=1)
    texts: dict[str, list[str]] = {}
    for column in columns:
        cells = [line.cells[column] for line in lines]
        texts |= {
            f"{column}: paper": [plain(cell.theirs) for cell in cells],
            f"{column}: ours": list(map(_ours, cells)),
        }
    texts = {header: column for header, column in texts.items() if {*column} - {"", GAP}}
    own = zip([plain(line.label) for line in lines], *texts.values(), map(_runs, lines), strict=True)
    return _table(["row", *map(plain, texts), "runs"], list(map(list, own)), texts=1)


def _transposed(lines: Sequence[Line], columns: Sequence[str]) -> str:
    rows = [[plain(column), *(_both(line.cells[column]) for line in lines)] for column in columns]
    return _table(["", *(plain(line.label) for line in lines)], [*rows, ["runs", *map(_runs, lines)]], texts=1)


def _ours(cell: Cell) -> str:
    """Return a number of ours, and its distance from that of the paper if they are compared."""
    spread = f" ± {cell.shown_spread}" if cell.shown_spread else ""
    return plain(cell.shown_mean + spread + (f" ({cell.shown_difference})" if cell.shown_difference else ""))


def _both(cell: Cell) -> str:
    """Return a number of ours, with the paper's if it is not compared; of a gap that of the paper alone."""
    theirs = plain(f"paper {cell.theirs}") if cell.theirs and not cell.shown_difference else ""
    return " ".join(filter(None, [_ours(cell) if cell.ours or not theirs else "", theirs]))


def _runs(line: Line) -> str:
    return f"{len(line.results)} of {len(line.runs)}" if line.rows and line.gap else str(len(line.runs) or "")


def _lists(line: Line) -> list[str]:
    """Return the texts of a line by rank, ours of the first seed, and how many are in both lists."""
    theirs = [cell.theirs for cell in line.cells.values() if cell.theirs]
    ours = [str(cell.ours[0]) for cell in line.cells.values() if cell.ours]
    both = f"{len(set(theirs) & set(ours))} of {len(theirs)}" if theirs and ours else ""
    return [plain(each) for each in (line.label, ", ".join(theirs), ", ".join(ours) or GAP, both)]


def _table(header: Sequence[str], rows: Sequence[Sequence[str]], texts: int) -> str:
    """Return a table in Markdown whose columns are aligned; the first `texts` hold text, the others numbers."""
    widths = [min(_PADDED, max(map(len, column))) for column in zip(header, *rows, strict=True)]
    rule = ["-" * width if n < texts else "-" * (width - 1) + ":" for n, width in enumerate(widths)]
    sides = [str.ljust if n < texts else str.rjust for n in range(len(widths))]
    cells = (
        [side(each, width) for each, side, width in zip(row, sides, widths, strict=True)]
        for row in (header, rule, *rows)
    )
    return "\n".join(f"| {' | '.join(row)} |" for row in cells)


def plain(content: str) -> str:
    """Return a text that Markdown shows as it is, also in a table."""
    return _SPECIAL.sub(r"\\\g<0>", escape(content, quote=False)).replace("|", "&#124;").replace("\n", " ")


def text(content: str) -> str:
    """Return plain text in which what stands between backticks is code."""
    parts = _CODE.split(content)
    return "".join(part if number % 2 else plain(part) for number, part in enumerate(parts))


def slug(title: str) -> str:
    """Return the anchor that Markdown gives to a heading."""
    return re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", title, flags=re.ASCII).strip().lower())
