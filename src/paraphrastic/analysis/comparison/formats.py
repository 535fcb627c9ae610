"""A comparison as cells, in Markdown, or as JSON."""

import json
import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

    # the report on a branch needs no SciPy
    from paraphrastic.analysis.comparison.by_set import RunComparison, SetComparison
    from paraphrastic.analysis.comparison.significance import Estimate, Vector

HEADER = ("set", "metric", "n", "A", "B", "B − A", "95 %", "p (Holm)")
NOTE = "p of single sets is corrected for their number (Holm); intervals and p of means are not"


def colour(row: "SetComparison") -> str:
    """Return the colour of a row on a terminal, where significant differences stand out."""
    return ("green" if row.change.value > 0 else "red") if row.is_significant else "dim"


def markdown(comparison: "RunComparison") -> str:
    """Return a Markdown table in which significant differences are bold."""
    rows = []
    for row in comparison.rows:
        name, metric, n, a, b, change, interval, p = cells(row)
        rows.append([name, metric, n, a, b, f"**{change}**" if row.is_significant else change, interval, p])
    return markdown_table(HEADER, rows, texts=2)


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[str]], texts: int) -> str:
    """Return a table in Markdown whose first `texts` columns hold text, the others numbers."""
    rule = ["---"] * texts + ["---:"] * (len(header) - texts)
    return "".join(f"| {' | '.join(row)} |\n" for row in (header, rule, *rows))


def latex_table(cells: "pd.DataFrame") -> str:
    """Return a table in LaTeX for its package booktabs, with names as they are and signs of numbers in math mode."""
    text = cells.to_latex(index=False, escape=True, column_format="l" + "r" * (len(cells.columns) - 1))
    return re.sub(r"(?<![\w.])[-+](?=\d)|<", r"$\g<0>$", text).replace("±", r"$\pm$")


def as_json(comparison: "RunComparison") -> str:
    """Return all numbers × 100, unrounded."""
    rows = [
        {
            "set": row.name,
            "metric": row.metric,
            "n": row.n,
            "a": (100 * row.a.points).tolist(),
            "b": (100 * row.b.points).tolist(),
            "difference": 100 * row.change.value,
            "low": 100 * row.change.low,
            "high": 100 * row.change.high,
            "p": row.change.p,
            "p_holm": row.p,
            **({"williams": row.williams._asdict()} if row.williams else {}),
        }
        for row in comparison.rows
    ]
    other = {"left_out": comparison.left_out, "not_defined": comparison.undefined}
    return json.dumps({"rows": rows, **other}, indent=2, allow_nan=False) + "\n"


def cells(row: "SetComparison") -> list[str]:
    """Return the columns of `HEADER`, metrics × 100."""
    return [
        row.name,
        row.metric,
        f"{row.n:,}",
        mean_and_deviation(row.a.points),
        mean_and_deviation(row.b.points),
        *change_cells(row.change, row.p),
    ]


def change_cells(change: "Estimate", p: float) -> list[str]:
    """Return a difference × 100, its interval, and p."""
    interval = f"{100 * change.low:+.2f} … {100 * change.high:+.2f}"
    return [f"{100 * change.value:+.2f}", interval, "<0.001" if p < 0.001 else f"{p:.3f}"]


def mean_and_deviation(values: "Vector") -> str:
    """Return the value × 100 of one run, or mean ± standard deviation of several; a dash for none."""
    if not len(values):
        return "–"
    mean = f"{100 * values.mean():.2f}"
    return mean if len(values) == 1 else f"{mean} ± {100 * values.std(ddof=1):.2f}"
