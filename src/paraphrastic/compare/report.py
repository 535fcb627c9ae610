"""A comparison as a person reads it: on a terminal, in Markdown, or as JSON."""

import json
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from rich.table import Table

from paraphrastic.compare.comparison import Comparison, Row

HEADER = ("set", "metric", "n", "A", "B", "B − A", "95 %", "p")


def terminal(comparison: Comparison) -> Table:
    """A table whose differences that are real stand out."""
    table = Table(box=None, pad_edge=False)
    for name in HEADER:
        table.add_column(name, justify="left" if name in HEADER[:2] else "right")
    for row in comparison.rows:
        colour = ("green" if row.change.difference > 0 else "red") if row.is_real else "dim"
        table.add_row(*cells(row), style=colour)
    return table


def markdown(comparison: Comparison) -> str:
    """A table for a pull request; differences that are real are bold."""
    lines = [_line(HEADER), _line(["---", "---", *["---:"] * (len(HEADER) - 2)])]
    for row in comparison.rows:
        name, metric, n, a, b, change, between, p = cells(row)
        lines.append(_line([name, metric, n, a, b, f"**{change}**" if row.is_real else change, between, p]))
    return "\n".join(lines) + "\n"


def as_json(comparison: Comparison) -> str:
    """Every number × 100, unrounded but for the last digits of a float."""
    rows = [
        {
            "set": row.name,
            "metric": row.metric,
            "n": row.n,
            "a": (100 * row.a).tolist(),
            "b": (100 * row.b).tolist(),
            "difference": 100 * row.change.difference,
            "low": 100 * row.change.low,
            "high": 100 * row.change.high,
            **({"williams": row.williams._asdict()} if row.williams else {}),
        }
        for row in comparison.rows
    ]
    return json.dumps({"rows": rows, "left_out": comparison.left_out}, indent=2) + "\n"


def cells(row: Row) -> list[str]:
    """The columns of `HEADER`, figures × 100."""
    between = f"{100 * row.change.low:+.2f} … {100 * row.change.high:+.2f}"
    p = "" if row.williams is None else f"{row.williams.p:.3f}"
    return [
        row.name,
        row.metric,
        f"{row.n:,}",
        _runs(row.a),
        _runs(row.b),
        f"{100 * row.change.difference:+.2f}",
        between,
        p,
    ]


def _runs(figures: NDArray[np.float64]) -> str:
    """The figure of one run; mean ± standard deviation of several."""
    mean = f"{100 * figures.mean():.2f}"
    return mean if len(figures) == 1 else f"{mean} ± {100 * figures.std(ddof=1):.2f}"


def _line(columns: Sequence[str]) -> str:
    return f"| {' | '.join(columns)} |"
