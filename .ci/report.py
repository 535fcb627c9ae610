"""What a change does to params and metrics, as Markdown: `python .ci/report.py [--base REV]`.

The working tree is compared with the merge base of HEAD and REV by what git keeps: no data and no DVC cache is needed.
"""

import argparse
import csv
import json
import math
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

SETS = "metrics/sets.csv"
NOTABLE = 0.5  # points; smaller changes of a single set are not shown
NEUTRAL = {"epoch", "n", "oov", "sets"}  # of everything else, more is better
NAMED = 3  # of one kind in the verdict
WIDE = 120  # characters of a value
ROWS = 100  # of a table: a comment holds 65,536 characters


class ReportError(Exception):
    """What keeps the report from being made, in one line."""


class Change(NamedTuple):
    """A value before and after; None where there is none."""

    name: str
    old: Any
    new: Any

    @property
    def points(self) -> float:
        """How much a number grew; 0 where one of both is missing."""
        return 0 if self.old is None or self.new is None else self.new - self.old

    @property
    def quality(self) -> float:
        """The points of a number of which more is better; 0 for all others."""
        return 0 if self.name.rpartition(".")[2] in NEUTRAL else self.points


def run(*command: str) -> subprocess.CompletedProcess[str]:
    """A command that may fail."""
    return subprocess.run(command, capture_output=True, encoding="utf-8", errors="replace")


def merge_base(base: str) -> str:
    """The commit where HEAD left `base`."""
    top = run("git", "rev-parse", "--show-toplevel")
    if top.returncode:
        raise ReportError(f"{Path.cwd()}: not in a git repository; run this in a clone of the project")
    os.chdir(top.stdout.rstrip("\n"))
    found = run("git", "rev-parse", "--verify", "--quiet", "--end-of-options", f"{base}^{{commit}}")
    if found.returncode:
        raise ReportError(f"base {base!r}: no such commit here; `git fetch` it or name another with --base")
    common = run("git", "merge-base", "HEAD", found.stdout.strip())
    if common.returncode:
        raise ReportError(f"base {base!r}: no commit in common with HEAD; fetch its history: git fetch --unshallow")
    return common.stdout.strip()


def dvc_diff(kind: str, commit: str) -> tuple[list[Change], str]:
    """The `params` or `metrics` of the commit and the working tree, and what DVC says of one that it cannot read."""
    done = run(sys.executable, "-m", "dvc", kind, "diff", "--all", "--json", commit)
    complaints = done.stderr.strip().splitlines()
    if done.returncode:
        raise ReportError(f"dvc {kind} diff: {complaints[-1] if complaints else 'failed'}")
    files = json.loads(done.stdout or "{}")
    changes = [
        Change(f"{file} {name}" if len(files) > 1 else name, value.get("old"), value.get("new"))
        for file, values in files.items()
        for name, value in values.items()
    ]
    return changes, next((line for line in complaints if "failed to load" in line), "")


def number(value: Any) -> float | None:
    """The finite number that a cell or a metric holds, if it does."""
    try:
        parsed = int(value) if isinstance(value, str) and value.isdecimal() else float(value)
    except (TypeError, ValueError):
        return None
    return (value if isinstance(value, int) else parsed) if math.isfinite(parsed) else None


def scores(lines: Iterable[str]) -> dict[str, float]:
    """Every number of a CSV file whose first column names the set, as `set.column`."""
    table = csv.DictReader(lines)
    key = (table.fieldnames or [""])[0]
    cells = {f"{row[key]}.{column}": number(cell) for row in table for column, cell in row.items() if column != key}
    return {name: value for name, value in cells.items() if value is not None}


def set_changes(commit: str) -> list[Change]:
    """The scores of single sets that are new, gone or moved by more than NOTABLE points."""
    old = scores(run("git", "show", f"{commit}:{SETS}").stdout.splitlines())
    new = scores(Path(SETS).read_text(encoding="utf-8").splitlines() if Path(SETS).is_file() else [])
    changes = [Change(name, old.get(name), new.get(name)) for name in old | new]
    return [each for each in changes if None in each or abs(each.points) > NOTABLE]


def worst_first(changes: list[Change]) -> list[Change]:
    """What became worse, then what became better, then the rest."""
    return sorted(changes, key=lambda each: (each.quality == 0, each.quality, each.name))


def plain(name: str) -> str:
    """A name without what Markdown would act on."""
    return re.sub(r"[^\w./ -]", "?", name)


def shown(value: float | None, sign: str = "") -> str:
    """A number of a table, two decimals unless it counts something."""
    text = "—" if value is None else f"{value:{sign}d}" if isinstance(value, int) else f"{value:{sign}.2f}"
    return text.replace("-", "−")


def code(value: Any) -> str:
    """A parameter as it stands in YAML, in a cell of a table."""
    if value is None:
        return "—"
    text = " ".join((value if isinstance(value, str) else json.dumps(value)).split()).replace("`", "'")
    return "`{}`".format((text if len(text) <= WIDE else text[:WIDE] + "…").replace("|", "\\|") or " ")


def param_row(change: Change) -> str:
    """One line of the table of parameters."""
    return f"| {plain(change.name)} | {code(change.old)} | {code(change.new)} |"


def metric_row(change: Change) -> str:
    """One line of a table of numbers."""
    mark = "▲ better" if change.quality > 0 else "▼ worse" if change.quality < 0 else ""
    mark = "new" if change.old is None else "gone" if change.new is None else mark
    difference = "" if None in change else shown(change.points, "+")
    return f"| {plain(change.name)} | {shown(change.old)} | {shown(change.new)} | {difference} | {mark} |"


def table(head: str, rule: str, row: Callable[[Change], str], changes: list[Change]) -> list[str]:
    """A Markdown table between empty lines, or nothing."""
    more = [f"\n… and {len(changes) - ROWS} more"] if len(changes) > ROWS else []
    return ["", head, rule, *map(row, changes[:ROWS]), *more] if changes else []


def numbers_table(what: str, changes: list[Change]) -> list[str]:
    """The table of what changed among metrics or sets."""
    return table(f"| {what} | old | new | change | |", "|:--|--:|--:|--:|:--|", metric_row, worst_first(changes))


def params_table(changes: list[Change]) -> list[str]:
    """The table of parameters that changed."""
    return table("| parameter | old | new |", "|:--|:--|:--|", param_row, changes)


def folded(summary: str, lines: list[str]) -> list[str]:
    """Lines behind a summary, if there are any."""
    return ["", f"<details><summary>{summary}</summary>", *lines, "", "</details>"] if lines else []


def named(title: str, texts: list[str]) -> list[str]:
    """A part of the verdict: the first few of one kind."""
    more = [f"{len(texts) - NAMED} more"] if len(texts) > NAMED else []
    return [f"{title}: {', '.join(texts[:NAMED] + more)}"] if texts else []


def verdict(metrics: list[Change]) -> str:
    """One line that says which metrics became worse, better, are gone, new or count something else."""
    ordered = worst_first(metrics)
    moved = {each: f"{plain(each.name)} {shown(each.points, '+')}" for each in ordered}
    parts = [
        *named("worse", [moved[each] for each in ordered if each.quality < 0]),
        *named("better", [moved[each] for each in reversed(ordered) if each.quality > 0]),
        *named("gone", [plain(each.name) for each in ordered if each.new is None]),
        *named("new", [plain(each.name) for each in ordered if each.old is None]),
        *named("counted", [moved[each] for each in ordered if each.points and not each.quality]),
    ]
    return "; ".join(parts) or "no metric changed"


def is_aside(name: str, chosen: set[Any]) -> bool:
    """Whether a parameter belongs to a model that is chosen neither before nor after."""
    section, _, rest = name.partition(".")
    return section == "models" and not any(rest.startswith(f"{model}.") for model in chosen)


def report(base: str) -> str:
    """The whole text."""
    commit = merge_base(base)
    (params, params_fault), (metrics, metrics_fault) = dvc_diff("params", commit), dvc_diff("metrics", commit)
    chosen = {value for each in params if each.name == "model" for value in (each.old, each.new)}
    params = sorted(each for each in params if repr(each.old) != repr(each.new))
    metrics = [Change(each.name, number(each.old), number(each.new)) for each in metrics]
    metrics = [each for each in metrics if each.old != each.new]
    sets, faults = set_changes(commit), [f"\n{code(each)}" for each in (params_fault, metrics_fault) if each]
    if not (params or metrics or sets or faults):
        return f"no parameter changed, no metric changed, no set by more than {NOTABLE} points"
    aside = [each for each in params if is_aside(each.name, chosen)]
    lines = [
        *(verdict(metrics), *faults, "", f"Compared with {commit[:10]}, the merge base with {code(base)}."),
        *params_table([each for each in params if each not in aside]),
        *folded(f"parameters of other models: {len(aside)}", params_table(aside)),
        *numbers_table("metric", metrics),
        *folded(f"changes of single sets by more than {NOTABLE} points: {len(sets)}", numbers_table("set", sets)),
    ]
    return "\n".join(lines)


def main() -> None:
    """Write the report, or one line of why there is none."""
    parser = argparse.ArgumentParser(description="Params and metrics against the merge base with REV, as Markdown.")
    parser.add_argument("--base", metavar="REV", default="origin/main", help="what is compared with (origin/main)")
    try:
        print(report(parser.parse_args().base))
    except ReportError as error:
        sys.exit(f"error: {' '.join(str(error).split())}")


if __name__ == "__main__":
    main()
