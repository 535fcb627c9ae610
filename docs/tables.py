"""Write the tables of results in README.md and in docs/, and the picture of README.md: `python -m docs.tables`.

They stand between `<!-- NAME: python -m docs.tables -->` and `<!-- end of NAME -->`. NAME is an experiment of
`experiments/` without a paper, one of `ENCODERS`, see docs/encoders.py, or `claims`.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from docs import encoders
from paraphrastic.analysis.comparison.formats import markdown_table
from paraphrastic.base.files import write_text
from paraphrastic.papers.claims_page import summary
from paraphrastic.papers.comparing import GAP, Cell, Line
from paraphrastic.papers.plan import overrides
from paraphrastic.papers.project import Project

ROOT = Path(__file__).parents[1]
PAGES = (ROOT / "README.md", ROOT / "docs/results.md", ROOT / "docs/how-to/which-encoder.md")
IMAGES = ROOT / "docs/images"
ENCODERS = {"encoders": encoders.table, "encoders-short": encoders.short_table, "encoders-picture": encoders.picture}
_TABLE = re.compile(r"(?<=<!-- )([\w-]+): python -m docs\.tables -->\n.*?(?=<!-- end of \1 -->)", re.DOTALL)
_SHOWN = ("model", "corpus", "benchmarks")  # settings that the page or the row names


def with_tables(page: str, project: Project) -> str:
    """Return a page with its tables and its picture replaced."""

    def replacement(found: re.Match[str]) -> str:
        if found[1] == "claims":
            lines = f"{summary(project.decide())} `paraphrastic papers claims` prints them.\n"
        else:
            lines = ENCODERS[found[1]]() if found[1] in ENCODERS else table(found[1], project)
        return f"{found[1]}: python -m docs.tables -->\n\n{lines}\n"

    return _TABLE.sub(replacement, page)


def table(name: str, project: Project) -> str:
    """Return the table of an experiment.

    – stands for numbers that are not known. A star marks rows whose numbers are those of an earlier version in the
    declaration, because a run is missing, or that were stored with other parameters.
    """
    experiment = project.experiments.by_id[name]
    comparison = project.compare(experiment, "open")
    columns = list(dict.fromkeys([*experiment.columns, *(column for row in experiment.rows for column in row.cells)]))
    has_options = name != "readme"
    rows = [
        [_label(line), *([_options(line)] if has_options else []), *_cells(line, columns)] for line in comparison.lines
    ]
    return markdown_table(["model", *(["options"] if has_options else []), *columns], rows, 1 + has_options)


def _label(line: Line) -> str:
    """Return the label of a row, with the name of the model as code."""
    row = line.rows[0]
    star = " \\*" if line.changed or (line.gap and row.cells.keys() & line.cells.keys()) else ""
    return re.sub(rf"\b{row.model}\b", f"`{row.model}`", line.label) + star


def _options(line: Line) -> str:
    """Return the options of `dvc exp run` for a row, and its note."""
    run, row = line.runs[0], line.rows[0]
    settings = [each for key, value in run.settings.items() if key not in _SHOWN for each in overrides(key, value)]
    vectors = [f"vectors of `{run.start.model}`"] if run.start else []
    return " ".join([*(f"`-S {each}`" for each in settings), *vectors, *([f"({row.note})"] if row.note else [])])


def _cells(line: Line, columns: list[str]) -> Iterator[str]:
    for column in columns:
        cell = None if line.gap else line.cells.get(column)
        given = line.rows[0].cells.get(column, GAP)
        yield given if cell is None else _number(cell, 0 if column == "minutes" else 1)


def _number(cell: Cell, decimals: int) -> str:
    """Return the mean ± standard deviation over seeds; of minutes, which have no decimals, the mean."""
    if cell.mean is None:
        return GAP
    spread = f" ± {cell.spread:.{decimals}f}" if cell.spread is not None and decimals else ""
    return f"{cell.mean:.{decimals}f}{spread}"


if __name__ == "__main__":
    for path in PAGES:
        write_text(path, with_tables(path.read_text(encoding="utf-8"), Project(ROOT, read_only=True)))
    for name, drawing in encoders.drawings().items():
        write_text(IMAGES / name, drawing)
