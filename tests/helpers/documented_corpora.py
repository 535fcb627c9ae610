"""The tables of `docs/reference/corpora.md`."""

from tests.helpers.repository import ROOT

PAGE = ROOT / "docs/reference/corpora.md"


def table(first: str) -> dict[str, dict[str, str]]:
    """Return the rows of the table whose first column is `first`, by its content without backquotes."""
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith(f"| {first} |"))
    shown = lines[start : lines.index("", start)]
    names, _, *rows = ([cell.strip() for cell in line.strip("|").split("|")] for line in shown)
    return {row[0].strip("`"): dict(zip(names, row, strict=True)) for row in rows}


def number(cell: str) -> int:
    """Return a number that is written with commas."""
    return int(cell.replace(",", ""))
