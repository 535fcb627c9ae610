"""What a branch changes, as Markdown: parameters, metrics, and tables of numbers.

The working tree is compared with the merge base of HEAD and another revision. All compared files are in git, so that
the report needs neither data nor the DVC cache, and no package but DVC. With all packages and the scores of both
versions, it has confidence intervals and p.
"""

import csv
import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import chdir
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple, Self

from paraphrastic.analysis.comparison.formats import NOTE, markdown, markdown_table
from paraphrastic.analysis.comparison.repository import DVC, check_repository, dvc, git, project_root
from paraphrastic.base.errors import ParameterError, ParaphrasticError
from paraphrastic.base.files import flat
from paraphrastic.base.reading import parse_json

SETS_FILE, ANALYSES, SCORES_FILE = "metrics/sets.csv", "metrics/analysis", "data/scores.parquet"
OPTIONS_FILE, TASKS = "models.yaml", "metrics/finetune"
TASK_OPTIONS = ("finetune/params.yaml", "finetune/taggers.yaml")  # dependencies and not parameters for DVC
THRESHOLD = 0.5  # points; a smaller change of a number of a set or of an analysis is not reported
UNRATED = {  # metrics that are neither better nor worse when they grow, and columns of analyses
    *("2013_sets", "epoch", "n", "oov", "sets"),
    *("highest", "lowest", "norm", "percentile_75", "rank", "rare_tokens", "rare_words"),
}
UNREPORTED = ("resamples",)  # analyses whose rows are random draws
MAX_NAMES = 3  # in each part of the summary
MAX_VALUE_LENGTH = 120  # characters of a parameter's value
MAX_ROWS = 100  # of a table; GitHub limits a comment to 65,536 characters


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


class Commit(NamedTuple):
    """A commit, and its files in the folder `metrics` of the working directory, in which the project may be."""

    name: str
    files: frozenset[str]

    @classmethod
    def of(cls, name: str) -> Self:
        """Return the commit `name`."""
        listed = git(Path.cwd(), "ls-tree", "-r", "-z", "--name-only", name, "metrics/")
        return cls(name, frozenset(listed.split("\0")))

    def text(self, path: str) -> str:
        """Return the text of a file; an empty string if the commit has none of this path."""
        return git(Path.cwd(), "show", f"{self.name}:./{path}") if path in self.files else ""

    def files_and_here(self, folder: str, ending: str) -> list[str]:
        """Return the files of a folder in the commit or in the working tree."""
        pattern = f"{folder}/*.{ending}"
        old = (path for path in self.files if PurePosixPath(path).match(pattern))
        return sorted({*old, *(path.as_posix() for path in Path().glob(pattern))})


def branch_report(base: str) -> str:
    """Return the report on the working tree against the merge base of HEAD and the revision `base`.

    Raises:
        ParameterError: `base` is no commit or has none in common with HEAD, or git or DVC refuses a command.
    """
    root = project_root()
    check_repository(root)
    with chdir(root):
        commit = Commit.of(_merge_base(base))
        all_params, params_warning = _dvc_diff("params", commit.name)
        if options_files := [str(Path(path).resolve()) for path in TASK_OPTIONS if Path(path).is_file()]:
            all_params += _dvc_diff("params", commit.name, "--targets", *options_files)[0]
        all_metrics, metrics_warning = _dvc_diff("metrics", commit.name)
        all_metrics = [*all_metrics, *_task_metrics(commit)]
        numbers = [Change(change.name, _number(change.old), _number(change.new)) for change in all_metrics]
        metrics = [change for change in numbers if change.old != change.new]
        params, options = _changed_params(all_params)
        sets = _set_changes(commit, metrics)
        analyses = [
            change
            for path in commit.files_and_here(ANALYSES, "csv")
            if Path(path).stem not in UNREPORTED
            for change in _table_changes(commit, path, f"{Path(path).stem}.")
        ]
        significance = _significance(commit.name) if metrics or sets else []
    warnings = [f"\n{_format_value(warning)}" for warning in (params_warning, metrics_warning) if warning]
    if not (params or options or metrics or sets or analyses or warnings):
        return f"no parameter changed, no metric changed, no score of a set changed by more than {THRESHOLD} points"
    limit = f"that changed by more than {THRESHOLD} points"
    lines = [
        *(_summary(metrics), *warnings, ""),
        f"Compared with {commit.name[:10]}, the merge base with {_format_value(base)}.{_seeds(all_params)}",
        *_params_table(params),
        *_collapsed(f"options of both models: {len(options)}", _params_table(options)),
        *_metrics_table("metric", metrics),
        *_collapsed(f"scores of single sets {limit}: {len(sets)}", _metrics_table("set", sets)),
        *_collapsed(f"numbers of analyses {limit}: {len(analyses)}", _metrics_table("analysis", analyses)),
        *significance,
    ]
    return "\n".join(lines)


def _merge_base(base: str) -> str:
    try:
        verify = "rev-parse", "--verify", "--quiet", "--end-of-options"
        commit = git(Path.cwd(), *verify, f"{base}^{{commit}}").strip()
    except ParameterError as error:
        message = f"base {base!r}: no such commit here; `git fetch` it or name another with --base"
        raise ParameterError(message) from error
    lines = git(Path.cwd(), "rev-parse", f"HEAD...{commit}").splitlines()
    common = [line.removeprefix("^") for line in lines if line.startswith("^")]
    if not common:
        raise ParameterError(f"base {base!r}: no commit in common with HEAD; fetch its history: git fetch --unshallow")
    return common[0]


def _dvc_diff(kind: str, commit: str, *options: str) -> tuple[list[Change], str]:
    """Compare the `params` or `metrics` of a commit with those of the working tree.

    Returns:
        All values, changed or not, and DVC's warning about a file that it could not load ("" if there is none).
    """
    stdout, stderr = dvc(Path.cwd(), [*DVC, kind, "diff", "--all", "--json", commit, *options])
    # where the folder `.dvc` is above the project, DVC also compares other projects
    files = {file: values for file, values in parse_json(stdout or "{}").items() if not file.startswith("..")}
    counts = Counter(name for values in files.values() for name in values)
    changes = [
        Change(f"{file}:{name}" if has_file or counts[name] > 1 else name, value.get("old"), value.get("new"))
        for file, values in files.items()
        for has_file in [file in (OPTIONS_FILE, *TASK_OPTIONS)]
        for name, value in values.items()
    ]
    return changes, next((line for line in stderr.splitlines() if "failed to load" in line), "")


def _task_metrics(commit: Commit) -> list[Change]:
    """Return the metrics of supervised tasks, which are outputs and not metrics for DVC."""
    return [
        Change(name, old.get(name), new.get(name))
        for path in commit.files_and_here(TASKS, "json")
        for old in [_flat(commit.text(path))]
        for new in [_flat(_text(path))]
        for name in old | new
    ]


def _flat(text: str) -> dict[str, Any]:
    """Return the values of a tree in JSON by dotted key; none if the text is empty or damaged."""
    try:
        return flat(parse_json(text))
    except (ValueError, AttributeError):
        return {}


def _text(path: str) -> str:
    """Return the text of a file of the working tree; an empty string if it is missing."""
    return Path(path).read_text(encoding="utf-8", errors="replace") if Path(path).is_file() else ""


def _number(value: Any) -> float | None:
    """Return a cell of a table or a metric as a finite number, or None if it is none."""
    try:
        parsed = int(value) if isinstance(value, str) and value.isdecimal() else float(value)
    except (TypeError, ValueError):
        return None
    return (value if isinstance(value, int) else parsed) if math.isfinite(parsed) else None


def _table_changes(commit: Commit, path: str, prefix: str = "") -> list[Change]:
    """Return the numbers of a CSV file that are new, removed, or changed by more than THRESHOLD, by row and column."""
    old = _numbers(commit.text(path).splitlines())
    new = _numbers(_text(path).splitlines())
    changes = [Change(f"{prefix}{name}", old.get(name), new.get(name)) for name in old | new]
    return [change for change in changes if None in change or abs(change.difference) > THRESHOLD]


def _numbers(lines: Iterable[str]) -> dict[str, float]:
    """Return all numbers of a CSV file as `row.column`; a row has the name of its first cells that no other row has."""
    header, *rows = [*csv.reader(lines)] or [[]]
    widths = (n for n in range(1, len(header)) if len({tuple(row[:n]) for row in rows}) == len(rows))
    width = next(widths, 1)
    cells = (
        (".".join([*row[:width], column]), _number(cell))
        for row in rows
        for column, cell in zip(header[width:], row[width:], strict=False)
    )
    return {name: number for name, number in cells if number is not None}


def _set_changes(commit: Commit, metrics: Sequence[Change]) -> list[Change]:
    """Return the changes of SETS_FILE that `metrics` lacks, with and without the name of the score."""
    return [
        change
        for change in _table_changes(commit, SETS_FILE)
        if not {change, change._replace(name=change.name.rpartition(".")[0])}.intersection(metrics)
    ]


def _worst_first(changes: Sequence[Change]) -> list[Change]:
    """Sort changes: worse by decreasing size, then better by increasing size, then all others by name."""
    return sorted(changes, key=lambda change: (change.improvement == 0, change.improvement, change.name))


def _format_name(name: str) -> str:
    """Replace the characters of a name that could be Markdown by question marks."""
    return re.sub(r"[^\w./:≤≥– -]|:(?=//)", "?", name)


def _format_number(value: float | None, sign: str = "") -> str:
    """Return a float with two decimals, an int without; `sign` "+" marks positive numbers."""
    text = "—" if value is None else f"{value:{sign}d}" if isinstance(value, int) else f"{value:{sign}.2f}"
    return text.replace("-", "−")


def _format_value(value: Any) -> str:
    """Return a parameter's value as code in a cell of a Markdown table."""
    if value is None:
        return "—"
    text = " ".join((value if isinstance(value, str) else json.dumps(value)).split()).replace("`", "'")
    short = text if len(text) <= MAX_VALUE_LENGTH else text[:MAX_VALUE_LENGTH] + "…"
    return "`{}`".format(short.replace("|", "\\|") or " ")


def _table(header: Sequence[str], rows: Sequence[Sequence[str]], texts: int) -> list[str]:
    """Return the lines of a table with at most MAX_ROWS rows, after an empty line; nothing if there are no rows."""
    omitted = [f"\n… and {len(rows) - MAX_ROWS} more"] if len(rows) > MAX_ROWS else []
    return ["", markdown_table(header, rows[:MAX_ROWS], texts).rstrip("\n"), *omitted] if rows else []


def _params_table(changes: Sequence[Change]) -> list[str]:
    rows = [(_format_name(change.name), _format_value(change.old), _format_value(change.new)) for change in changes]
    return _table(("parameter", "old", "new"), rows, texts=3)


def _metrics_table(title: str, changes: Sequence[Change]) -> list[str]:
    """Return the lines of a table of metrics; `title` is the header of the names."""
    rows = []
    for change in _worst_first(changes):
        verdict = "▲ better" if change.improvement > 0 else "▼ worse" if change.improvement < 0 else ""
        verdict = "new" if change.old is None else "removed" if change.new is None else verdict
        difference = "" if None in change else _format_number(change.difference, "+")
        numbers = _format_number(change.old), _format_number(change.new)
        rows.append([_format_name(change.name), *numbers, difference, verdict])
    return _table((title, "old", "new", "change", ""), rows, texts=1)


def _collapsed(title: str, lines: Sequence[str]) -> list[str]:
    """Return `lines` as a section that opens on a click; nothing if there are no lines."""
    return ["", f"<details><summary>{title}</summary>", *lines, "", "</details>"] if lines else []


def _summary(metrics: Sequence[Change]) -> str:
    """Return one line that names metrics that are worse, better, removed, new, or changed without being rated."""
    ordered = _worst_first(metrics)
    names = {change: _format_name(change.name) for change in ordered}
    moved = {change: f"{name} {_format_number(change.difference, '+')}" for change, name in names.items()}
    parts = {
        "worse": [moved[change] for change in ordered if change.improvement < 0],
        "better": [moved[change] for change in reversed(ordered) if change.improvement > 0],
        "removed": [names[change] for change in ordered if change.new is None],
        "new": [names[change] for change in ordered if change.old is None],
        "changed": [moved[change] for change in ordered if change.difference and not change.improvement],
    }
    for items in parts.values():
        items[MAX_NAMES:] = [f"{len(items) - MAX_NAMES} more"] if len(items) > MAX_NAMES else []
    return "; ".join(f"{title}: {', '.join(items)}" for title, items in parts.items() if items) or "no metric changed"


def _changed_params(params: Sequence[Change]) -> tuple[list[Change], list[Change]]:
    """Return the changes of parameters, and apart, if another model was chosen, the options of both."""
    changes = sorted(change for change in params if repr(change.old) != repr(change.new))  # 1 == True == 1.0
    if all(change.name != "model" for change in changes):
        return changes, []
    options = [change for change in changes if change.name.startswith(f"{OPTIONS_FILE}:")]
    return [change for change in changes if change not in options], options


def _seeds(params: Sequence[Change]) -> str:
    """Return the seeds of both versions in words; an empty string if there is no such parameter."""
    seed = next((change for change in params if change.name == "seed"), None)
    if seed is None:
        return ""
    old, new = _format_value(seed.old), _format_value(seed.new)
    return f" Both have the seed {old}." if old == new else f" The seed was {old} and is {new}."


def _significance(commit: str) -> list[str]:
    """Return the lines of a section with intervals and p, or why there is none."""
    if not Path(SCORES_FILE).is_file():
        return ["", f"No confidence intervals: no {SCORES_FILE} here."]
    try:
        from paraphrastic.analysis.comparison.by_set import compare
        from paraphrastic.analysis.comparison.revisions import WORKSPACE, scores_of

        comparison = compare([scores_of(commit)], [scores_of(WORKSPACE)])
    except (ImportError, ParaphrasticError) as error:
        return ["", f"No confidence intervals: {_format_value(str(error))}."]
    lines = ["", *markdown(comparison).splitlines(), "", f"Bold: p < 0.05; {NOTE}."]
    return _collapsed("confidence intervals and p; A is the merge base", lines)
