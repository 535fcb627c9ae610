"""Tables of the reference pages."""

from tests.helpers.repository import ROOT


def table(first: str, page: str = "corpora") -> dict[str, dict[str, str]]:
    """Return the rows of the table whose first column is `first`, by its content without backquotes."""
    lines = (ROOT / f"docs/reference/{page}.md").read_text(encoding="utf-8").splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith(f"| {first} |"))
    shown = lines[start : lines.index("", start)]
    names, _, *rows = ([cell.strip() for cell in line.strip("|").split("|")] for line in shown)
    return {row[0].strip("`"): dict(zip(names, row, strict=True)) for row in rows}


def number(cell: str) -> int:
    """Return a number that is written with commas."""
    return int(cell.replace(",", ""))
