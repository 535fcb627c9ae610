"""Report as Markdown how a branch changes parameters and metrics: `python .ci/report.py [--base REV]`.

The working tree is compared with the merge base of HEAD and REV. All compared files are in git, so neither the data nor
the DVC cache is needed, and DVC is the only package. With the scores of both versions and the package here, it adds
confidence intervals and p from `paraphrastic compare`.
"""

import argparse
import csv
import json
import math
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

SETS_FILE, SCORES_FILE = "metrics/sets.csv", "data/scores.parquet"
SET_THRESHOLD = 0.5  # points; a smaller change of a score in SETS_FILE is not reported
UNRATED = {"2013_sets", "epoch", "n", "oov", "sets"}  # metrics that are neither better nor worse when they grow
MAX_NAMES = 3  # in each part of the summary
MAX_VALUE_LENGTH = 120  # characters of a parameter's value
MAX_ROWS = 100  # of a table; GitHub limits a comment to 65,536 characters


class ReportError(Exception):
    """The report cannot be made; the message is one line."""


class Change(NamedTuple):
    """A value before and after the change; None if it is missing on that side."""

    name: str
    old: Any
    new: Any

    @property
    def difference(self) -> float:
        """The new number minus the old one; 0 if either is missing."""
        return 0 if self.old is None or self.new is None else self.new - self.old

    @property
    def improvement(self) -> float:
        """The difference of a metric for which higher is better; 0 for all others."""
        return 0 if self.name.rpartition(".")[2] in UNRATED else self.difference


def run_command(*command: str) -> subprocess.CompletedProcess[str]:
    """Run a command and return its output and exit status; failure is not an error here."""
    return subprocess.run(command, capture_output=True, encoding="utf-8", errors="replace")


def find_merge_base(base: str) -> str:
    """Change to the root of the repository, and return the hash of the merge base of HEAD and `base`.

    Raises:
        ReportError: there is no repository, no such commit, or no common commit.
    """
    root = run_command("git", "rev-parse", "--show-toplevel")
    if root.returncode:
        raise ReportError(f"{Path.cwd()}: not in a git repository; run this in a clone of the project")
    os.chdir(root.stdout.rstrip("\n"))
    commit = run_command("git", "rev-parse", "--verify", "--quiet", "--end-of-options", f"{base}^{{commit}}")
    if commit.returncode:
        raise ReportError(f"base {base!r}: no such commit here; `git fetch` it or name another with --base")
    common = run_command("git", "merge-base", "HEAD", commit.stdout.strip())
    if common.returncode:
        raise ReportError(f"base {base!r}: no commit in common with HEAD; fetch its history: git fetch --unshallow")
    return common.stdout.strip()


def dvc_diff(kind: str, commit: str) -> tuple[list[Change], str]:
    """Compare the parameters or metrics of a commit with those of the working tree.

    Args:
        kind: `params` or `metrics`.
        commit: the commit to compare with.

    Returns:
        All values, changed or not, and DVC's warning about a file that it could not load ("" if there is none).
    """
    done = run_command(sys.executable, "-m", "dvc", kind, "diff", "--all", "--json", commit)
    messages = done.stderr.strip().splitlines()
    if done.returncode:
        raise ReportError(f"dvc {kind} diff: {messages[-1] if messages else 'failed'}")
    files = json.loads(done.stdout or "{}")
    counts = Counter(name for values in files.values() for name in values)
    changes = [
        Change(name if counts[name] == 1 else f"{file} {name}", value.get("old"), value.get("new"))
        for file, values in files.items()
        for name, value in values.items()
    ]
    return changes, next((line for line in messages if "failed to load" in line), "")


def parse_number(value: Any) -> float | None:
    """Return a cell of a table or a metric as a finite number, or None if it is none."""
    try:
        parsed = int(value) if isinstance(value, str) and value.isdecimal() else float(value)
    except (TypeError, ValueError):
        return None
    return (value if isinstance(value, int) else parsed) if math.isfinite(parsed) else None


def parse_scores(lines: Iterable[str]) -> dict[str, float]:
    """Return all numbers of a CSV file as `set.column`; the first column names the set."""
    rows = csv.DictReader(lines)
    key = (rows.fieldnames or [""])[0]
    cells = ((row[key], column, parse_number(cell)) for row in rows for column, cell in row.items() if column != key)
    return {f"{name}.{column}": number for name, column, number in cells if number is not None}


def set_changes(commit: str, metrics: list[Change]) -> list[Change]:
    """Return the scores in SETS_FILE that are new, removed, or changed by more than SET_THRESHOLD points.

    Those that `metrics` has, with or without the name of the score, are left out.
    """
    old = parse_scores(run_command("git", "show", f"{commit}:{SETS_FILE}").stdout.splitlines())
    path = Path(SETS_FILE)
    new = parse_scores(path.read_text(encoding="utf-8").splitlines() if path.is_file() else [])
    changes = [Change(name, old.get(name), new.get(name)) for name in old | new]
    shown = {name for change in metrics for name in (change, change._replace(name=f"{change.name}."))}
    return [
        change
        for change in changes
        if (None in change or abs(change.difference) > SET_THRESHOLD) and shown.isdisjoint(named_as_metrics(change))
    ]


def named_as_metrics(change: Change) -> set[Change]:
    """Return a score under the names that it can have among the metrics: `sample.words.spearman`, `sample.words.`."""
    name, dot, _ = change.name.rpartition(".")
    return {change, change._replace(name=name + dot)}


def worst_first(changes: list[Change]) -> list[Change]:
    """Sort changes: worse by decreasing size, then better by increasing size, then all others by name."""
    return sorted(changes, key=lambda change: (change.improvement == 0, change.improvement, change.name))


def format_name(name: str) -> str:
    """Replace the characters of a name that could be Markdown by question marks."""
    return re.sub(r"[^\w./ -]", "?", name)


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


def param_row(change: Change) -> str:
    """Return a row of the table of parameters."""
    return f"| {format_name(change.name)} | {format_value(change.old)} | {format_value(change.new)} |"


def metric_row(change: Change) -> str:
    """Return a row of a table of metrics."""
    verdict = "▲ better" if change.improvement > 0 else "▼ worse" if change.improvement < 0 else ""
    verdict = "new" if change.old is None else "removed" if change.new is None else verdict
    difference = "" if None in change else format_number(change.difference, "+")
    old, new = format_number(change.old), format_number(change.new)
    return f"| {format_name(change.name)} | {old} | {new} | {difference} | {verdict} |"


def markdown_table(header: str, rule: str, row: Callable[[Change], str], changes: list[Change]) -> list[str]:
    """Return the lines of a table with at most MAX_ROWS rows, after an empty line; nothing if there are no changes."""
    omitted = [f"\n… and {len(changes) - MAX_ROWS} more"] if len(changes) > MAX_ROWS else []
    return ["", header, rule, *map(row, changes[:MAX_ROWS]), *omitted] if changes else []


def metrics_table(title: str, changes: list[Change]) -> list[str]:
    """Return the lines of a table of metrics; `title` is the header of the names."""
    header = f"| {title} | old | new | change | |"
    return markdown_table(header, "|:--|--:|--:|--:|:--|", metric_row, worst_first(changes))


def params_table(changes: list[Change]) -> list[str]:
    """Return the lines of a table of parameters."""
    return markdown_table("| parameter | old | new |", "|:--|:--|:--|", param_row, changes)


def collapsed(title: str, lines: list[str]) -> list[str]:
    """Return `lines` as a section that opens on a click; nothing if there are no lines."""
    return ["", f"<details><summary>{title}</summary>", *lines, "", "</details>"] if lines else []


def summary_part(title: str, items: list[str]) -> list[str]:
    """Return one part of the summary, which names the first MAX_NAMES items; nothing if there are no items."""
    omitted = [f"{len(items) - MAX_NAMES} more"] if len(items) > MAX_NAMES else []
    return [f"{title}: {', '.join(items[:MAX_NAMES] + omitted)}"] if items else []


def summarize(metrics: list[Change]) -> str:
    """Return one line that names metrics that are worse, better, removed, new, or changed without being rated."""
    ordered = worst_first(metrics)
    moved = {change: f"{format_name(change.name)} {format_number(change.difference, '+')}" for change in ordered}
    parts = [
        *summary_part("worse", [moved[change] for change in ordered if change.improvement < 0]),
        *summary_part("better", [moved[change] for change in reversed(ordered) if change.improvement > 0]),
        *summary_part("removed", [format_name(change.name) for change in ordered if change.new is None]),
        *summary_part("new", [format_name(change.name) for change in ordered if change.old is None]),
        *summary_part("changed", [moved[change] for change in ordered if change.difference and not change.improvement]),
    ]
    return "; ".join(parts) or "no metric changed"


def is_of_other_model(name: str, chosen: set[Any]) -> bool:
    """Return whether a parameter belongs to a model that is chosen neither before nor after the change."""
    section, _, rest = name.partition(".")
    return section == "models" and not any(rest.startswith(f"{model}.") for model in chosen)


def param_changes(params: list[Change]) -> tuple[list[Change], list[Change]]:
    """Return the changes of parameters, and those of models that are not chosen."""
    chosen = {value for change in params if change.name == "model" for value in (change.old, change.new)}
    changes = sorted(change for change in params if repr(change.old) != repr(change.new))  # 1 == True == 1.0
    others = [change for change in changes if is_of_other_model(change.name, chosen)]
    return [change for change in changes if change not in others], others


def seeds(params: list[Change]) -> str:
    """Return the seeds of both versions in words; an empty string if there is no such parameter."""
    seed = next((change for change in params if change.name == "seed"), None)
    if seed is None:
        return ""
    old, new = format_value(seed.old), format_value(seed.new)
    return f" Both have the seed {old}." if old == new else f" The seed was {old} and is {new}."


def significance(commit: str) -> list[str]:
    """Return the lines of a section with intervals and p, or why there is none."""
    if not Path(SCORES_FILE).is_file():
        return ["", f"No confidence intervals: no {SCORES_FILE} here."]
    done = run_command(sys.executable, "-m", "paraphrastic", "compare", commit, "workspace", "--md")
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or ["`paraphrastic compare` failed"])[-1]
        return ["", f"No confidence intervals: {format_value(reason.removeprefix('error: '))}."]
    return collapsed("confidence intervals and p; A is the merge base", ["", *done.stdout.splitlines()])


def metric_changes(commit: str) -> tuple[list[Change], str]:
    """Return the changes of metrics, and DVC's warning."""
    metrics, warning = dvc_diff("metrics", commit)
    changes = [Change(change.name, parse_number(change.old), parse_number(change.new)) for change in metrics]
    return [change for change in changes if change.old != change.new], warning


def make_report(base: str) -> str:
    """Return the report on the working tree against the merge base of HEAD and `base`."""
    commit = find_merge_base(base)
    all_params, params_warning = dvc_diff("params", commit)
    params, others = param_changes(all_params)
    metrics, metrics_warning = metric_changes(commit)
    sets = set_changes(commit, metrics)
    warnings = [f"\n{format_value(warning)}" for warning in (params_warning, metrics_warning) if warning]
    if not (params or others or metrics or sets or warnings):
        return f"no parameter changed, no metric changed, no score of a set changed by more than {SET_THRESHOLD} points"
    sets_title = f"scores of single sets that changed by more than {SET_THRESHOLD} points: {len(sets)}"
    lines = [
        *(summarize(metrics), *warnings, ""),
        f"Compared with {commit[:10]}, the merge base with {format_value(base)}.{seeds(all_params)}",
        *params_table(params),
        *collapsed(f"parameters of other models: {len(others)}", params_table(others)),
        *metrics_table("metric", metrics),
        *collapsed(sets_title, metrics_table("set", sets)),
        *(significance(commit) if metrics or sets else []),
    ]
    return "\n".join(lines)


def main() -> None:
    """Print the report, or one line that says why there is none."""
    parser = argparse.ArgumentParser(description="Compare params and metrics with the merge base of HEAD and REV.")
    parser.add_argument("--base", metavar="REV", default="origin/main", help="default: origin/main")
    try:
        print(make_report(parser.parse_args().base))
    except ReportError as error:
        sys.exit(f"error: {' '.join(str(error).split())}")


if __name__ == "__main__":
    main()
