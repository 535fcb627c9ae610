"""Print in Markdown how a branch changes parameters and metrics: `python .ci/report.py [--base REV]`.

The base package and DVC are needed, and SciPy to use scores.
"""

import argparse
import json
import os
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

from paraphrastic.analysis.comparison.branch import THRESHOLD, Branch, branch_changes
from paraphrastic.analysis.comparison.changes import UNKNOWN, Change
from paraphrastic.analysis.comparison.formats import NOTE, markdown, markdown_table
from paraphrastic.base.errors import ParaphrasticError

MAX_NAMES = 3  # in each part of the summary
MAX_VALUE_LENGTH = 120  # characters of a parameter's value
MAX_ROWS = 100  # of a table; GitHub limits a comment to 65,536 characters
SEEDS = "It is over items, not over seeds: another seed of the same parameters may change a number as much."


def report(base: str, scores: Sequence[Path] = ()) -> str:
    """Return the report on what the working tree changes; arguments and errors are those of `branch_changes`."""
    branch = branch_changes(base, scores)
    if not (any(branch[1:7]) or branch.warning):
        return f"no parameter changed, no metric changed, no score of a set changed by more than {THRESHOLD} points"
    limit = f"that changed by more than {THRESHOLD} points"
    words = [each for each in branch.sets if each.name.endswith(".oov")]
    sets = [each for each in branch.sets if each not in words]
    lines = [
        *("; ".join([*stale_metrics(branch.stale), *summary(branch.metrics)]) or "no metric changed", ""),
        f"Compared with {branch.commit[:10]}, the merge base with {format_value(base)}.",
        *([f"\n{format_value(branch.warning)}"] if branch.warning else []),
        *params_table(branch.params),
        *collapsed(f"options of both models: {len(branch.options)}", params_table(branch.options)),
        *metrics_table("metric", branch.metrics),
        *intervals(branch),
        *collapsed(f"scores of single sets {limit}: {len(sets)}", metrics_table("set", sets)),
        *collapsed(f"shares of unknown words {limit}: {len(words)}", metrics_table("set", words)),
        *collapsed(f"numbers of analyses {limit}: {len(branch.analyses)}", metrics_table("analysis", branch.analyses)),
        *significance(branch),
    ]
    return "\n".join(lines)


def format_name(name: str) -> str:
    """Replace the characters of a name that could be Markdown by question marks."""
    return re.sub(r"[^\w./:≤≥→– -]|:(?=//)", "?", name)


def format_number(value: float | None, sign: str = "") -> str:
    """Return a float with two decimals, an int without; `sign` "+" marks positive numbers."""
    text = "—" if value is None else f"{value:{sign}d}" if isinstance(value, int) else f"{value:{sign}.2f}"
    return text.replace("-", "−")


def format_value(value: Any) -> str:
    """Return a parameter's value as code in a cell of a Markdown table."""
    if value is None:
        return "—"
    text = " ".join((value if isinstance(value, str) else json.dumps(value)).split()).replace("`", "'")
    short = text if len(text) <= MAX_VALUE_LENGTH else text[:MAX_VALUE_LENGTH] + "…"
    return "`{}`".format(short.replace("|", "\\|") or " ")


def table(header: Sequence[str], rows: Sequence[Sequence[str]], texts: int) -> list[str]:
    """Return the lines of a table with at most MAX_ROWS rows, after an empty line; nothing if there are no rows."""
    omitted = [f"\n… and {len(rows) - MAX_ROWS} more"] if len(rows) > MAX_ROWS else []
    return ["", markdown_table(header, rows[:MAX_ROWS], texts).rstrip("\n"), *omitted] if rows else []


def params_table(changes: Sequence[Change]) -> list[str]:
    """Return the lines of a table of parameters."""
    rows = [(format_name(change.name), format_value(change.old), format_value(change.new)) for change in changes]
    return table(("parameter", "old", "new"), rows, texts=3)


def metrics_table(title: str, changes: Sequence[Change]) -> list[str]:
    """Return the lines of a table of metrics; `title` is the header of the names."""
    rows = []
    for each in changes:
        numbers = format_number(each.old), format_number(each.new), *difference(each)
        rows.append([format_name(each.name), each.n, *numbers, each.verdict])
    return table((title, "n", "old", "new", "change", "95 %", ""), rows, texts=1)


def difference(change: Change) -> tuple[str, str]:
    """Return the difference and its interval, or empty strings."""
    value, (below, above) = change.difference, change.margins or (0, 0)
    interval = f"{format_number(value - below, '+')} … {format_number(value + above, '+')}"
    return format_number(value, "+") if value else "", interval if value and change.margins else ""


def collapsed(title: str, lines: Sequence[str]) -> list[str]:
    """Return `lines` as a section that opens on a click; nothing if there are no lines."""
    return ["", f"<details><summary>{title}</summary>", *lines, "", "</details>"] if lines else []


def stale_metrics(stale: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the part of the summary that says which metrics are not of these parameters and this code."""
    if not stale:
        return []
    parts = "all metrics" if "" in stale else some([format_name(part) for part in stale])
    causes = some([*dict.fromkeys(format_name(cause) for causes in stale.values() for cause in causes)])
    return [f"**stale**: {parts}, computed before the last change of {causes}; run `dvc repro --all-pipelines`"]


def some(items: Sequence[str]) -> str:
    """Return at most MAX_NAMES items and the number of the others."""
    more = [f"{len(items) - MAX_NAMES} more"] if len(items) > MAX_NAMES else []
    return ", ".join([*items[:MAX_NAMES], *more])


def summary(metrics: Sequence[Change]) -> list[str]:
    """Return the names of metrics by verdict; the main metric is first, as its verdict is."""
    parts: dict[str, list[str]] = {}
    for each in metrics:
        change, interval = difference(each)
        text = [format_name(each.name), change, f"({interval})" if interval else ""]
        parts.setdefault(each.verdict.lstrip("▲▼ ") or "changed", []).append(" ".join(filter(None, text)))
    return [f"{verdict}: {some(items)}" for verdict, items in parts.items()]


def intervals(branch: Branch) -> list[str]:
    """Return what intervals are of, and the reason for those that are missing."""
    changes = [each for each in (*branch.metrics, *branch.sets, *branch.analyses) if each.difference]
    text = "The interval is from the scores of both versions where these metrics are of those scores, otherwise from n."
    if branch.reason:
        why = " ".join(branch.reason.split()).replace("`", "'")
        text = f"The interval is from n, as if both versions had other items: wider than from scores (none: `{why}`)."
    unknown = f" {UNKNOWN}: n alone does not determine it." if any(each.verdict == UNKNOWN for each in changes) else ""
    return ["", f"{text} {SEEDS}{unknown}"] if changes else []


def significance(branch: Branch) -> list[str]:
    """Return the lines of a section with intervals and p of all sets, if there are scores."""
    table = markdown(branch.comparison).splitlines() if branch.comparison else []
    title = "confidence intervals and p; A is the merge base"
    return collapsed(title, ["", *table, "", f"Bold: p < 0.05; {NOTE}."] if table else [])


def main() -> None:
    """Print the report, or exit with one line."""
    parser = argparse.ArgumentParser(description="Compare params and metrics with the merge base of HEAD and REV.")
    parser.add_argument("--base", metavar="REV", default="origin/main", help="default: origin/main")
    parser.add_argument(
        "--scores", metavar="FILE", nargs=2, type=Path, default=(), help="of both; default: DVC's cache"
    )
    arguments = parser.parse_args()
    sys.stdout.reconfigure(encoding="utf-8", errors="replace")  # what the terminal or a file here takes does not count
    try:
        print(report(arguments.base, arguments.scores), flush=True)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # Python flushes standard output when it exits
    except (ParaphrasticError, OSError) as error:
        sys.exit(f"error: {' '.join(str(error).split())}")
    except ImportError as error:
        sys.exit(f"error: {error}; install the package: pip install .")


if __name__ == "__main__":
    main()
