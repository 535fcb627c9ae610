"""What a branch changes, as Markdown: parameters, metrics, and tables of numbers.

The working tree is compared with the merge base of HEAD and another revision. All compared files are in git, so that
the report needs neither data nor the DVC cache, and no package but DVC. Changes have intervals: from the scores of
both versions where they are there, otherwise from n; those of metrics need the base package.
"""

import json
import re
from collections.abc import Mapping, Sequence
from contextlib import chdir
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paraphrastic.analysis.comparison.changes import (
    THRESHOLD,
    UNKNOWN,
    Change,
    changed_metrics,
    doubted,
    large,
    params_diff,
    paths,
    stale_parts,
    table_changes,
    text_at,
    text_here,
)
from paraphrastic.analysis.comparison.formats import NOTE, markdown, markdown_table
from paraphrastic.analysis.comparison.repository import check_repository, git, project_root
from paraphrastic.base.errors import ParameterError, ParaphrasticError

if TYPE_CHECKING:
    from paraphrastic.analysis.comparison.by_set import RunComparison

SETS_FILE, ANALYSES, SCORES_FILE = "metrics/sets.csv", "metrics/analysis/*.csv", "data/scores.parquet"
OPTIONS_FILE = "models.yaml"
TASK_OPTIONS = ("finetune/params.yaml", "finetune/taggers.yaml")  # dependencies and not parameters for DVC
UNREPORTED = ("resamples",)  # analyses whose rows are random draws
MAX_NAMES = 3  # in each part of the summary
MAX_VALUE_LENGTH = 120  # characters of a parameter's value
MAX_ROWS = 100  # of a table; GitHub limits a comment to 65,536 characters
SEEDS = "It is over items, not over seeds: another seed of the same parameters may change a number as much."


def branch_report(base: str, scores: Sequence[Path] = ()) -> str:
    """Return the report on the working tree against the merge base of HEAD and the revision `base`.

    Args:
        base: a revision.
        scores: files of the scores of the merge base and of the working tree; if left out, those of the DVC cache and
            of `data`, if they are there.

    Raises:
        ParameterError: `base` is no commit or has none in common with HEAD, or git or DVC refuses a command.
    """
    root, scores = project_root(), [path.resolve() for path in scores]
    check_repository(root)
    with chdir(root):
        commit = _merge_base(base)
        if conflicts := _conflicts():
            return f"merge conflict in {', '.join(conflicts)}: take one side of each, then `dvc repro --all-pipelines`"
        return _report(base, commit, scores)


def _conflicts() -> list[str]:
    """Return the files in which git has left both sides."""
    patterns = ("*.yaml", "*.lock", "*/*.yaml", "*/*.lock", "metrics/**/*.json", "metrics/**/*.csv")
    paths = sorted({path.as_posix() for pattern in patterns for path in Path().glob(pattern)})
    return [path for path in paths if re.search("^<<<<<<< ", text_here(path), re.MULTILINE)]


def _report(base: str, commit: str, scores: Sequence[Path]) -> str:
    stale, (all_params, warning) = stale_parts(), params_diff(commit)
    if options_files := [str(Path(path).resolve()) for path in TASK_OPTIONS if Path(path).is_file()]:
        all_params += params_diff(commit, "--targets", *options_files)[0]
    is_other_model = any(each.name == "model" for each in all_params)
    options = [each for each in all_params if is_other_model and each.name.startswith(f"{OPTIONS_FILE}:")]
    params = [each for each in all_params if each not in options]
    has_other_code = git(Path.cwd(), "diff", "--name-only", commit, "--", "src", "pipeline")
    doubt = "another seed" if [each.name for each in params] == ["seed"] and not has_other_code else ""

    comparison, reason = _comparison(commit, scores)
    all_sets = table_changes(commit, SETS_FILE, scored=comparison.rows if comparison else ())
    metrics = doubted(changed_metrics(commit, all_sets), stale, doubt)
    same = {each[:3] for each in metrics}
    sets = [each for each in large(all_sets) if not {each[:3], (each.name.rpartition(".")[0], *each[1:3])} & same]
    sets = doubted(sets, stale, doubt)
    analyses = [
        change
        for path in paths(commit, ANALYSES)
        if Path(path).stem not in UNREPORTED
        for change in large(table_changes(commit, path, f"{Path(path).stem}."))
    ]
    analyses = doubted(analyses, stale, doubt, "analyze.")
    if not (stale or params or options or metrics or sets or analyses or warning):
        return f"no parameter changed, no metric changed, no score of a set changed by more than {THRESHOLD} points"
    limit = f"that changed by more than {THRESHOLD} points"
    of_words = [each for each in sets if each.name.endswith(".oov")]
    sets = [each for each in sets if each not in of_words]
    lines = [
        *("; ".join([*_stale(stale), *_summary(metrics)]) or "no metric changed", ""),
        f"Compared with {commit[:10]}, the merge base with {_format_value(base)}.",
        *([f"\n{_format_value(warning)}"] if warning else []),
        *_params_table(params),
        *_collapsed(f"options of both models: {len(options)}", _params_table(options)),
        *_metrics_table("metric", metrics),
        *_intervals([*metrics, *sets, *analyses], reason),
        *_collapsed(f"scores of single sets {limit}: {len(sets)}", _metrics_table("set", sets)),
        *_collapsed(f"shares of unknown words {limit}: {len(of_words)}", _metrics_table("set", of_words)),
        *_collapsed(f"numbers of analyses {limit}: {len(analyses)}", _metrics_table("analysis", analyses)),
        *(_significance(comparison) if comparison else []),
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


def _format_name(name: str) -> str:
    """Replace the characters of a name that could be Markdown by question marks."""
    return re.sub(r"[^\w./:≤≥→– -]|:(?=//)", "?", name)


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
    for each in changes:
        numbers = _format_number(each.old), _format_number(each.new), *_difference(each)
        rows.append([_format_name(each.name), each.n, *numbers, each.verdict])
    return _table((title, "n", "old", "new", "change", "95 %", ""), rows, texts=1)


def _difference(change: Change) -> tuple[str, str]:
    """Return the difference and its interval, or empty strings."""
    value, (below, above) = change.difference, change.margins or (0, 0)
    interval = f"{_format_number(value - below, '+')} … {_format_number(value + above, '+')}"
    return _format_number(value, "+") if value else "", interval if value and change.margins else ""


def _collapsed(title: str, lines: Sequence[str]) -> list[str]:
    """Return `lines` as a section that opens on a click; nothing if there are no lines."""
    return ["", f"<details><summary>{title}</summary>", *lines, "", "</details>"] if lines else []


def _stale(stale: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the part of the summary that says which metrics are not of these parameters and this code."""
    if not stale:
        return []
    parts = "all metrics" if "" in stale else _some([_format_name(part) for part in stale])
    causes = _some([*dict.fromkeys(_format_name(cause) for causes in stale.values() for cause in causes)])
    return [f"**stale**: {parts}, computed before the last change of {causes}; run `dvc repro --all-pipelines`"]


def _some(items: Sequence[str]) -> str:
    """Return at most MAX_NAMES items and the number of the others."""
    more = [f"{len(items) - MAX_NAMES} more"] if len(items) > MAX_NAMES else []
    return ", ".join([*items[:MAX_NAMES], *more])


def _summary(metrics: Sequence[Change]) -> list[str]:
    """Return the names of metrics by verdict; the main metric is first, as its verdict is."""
    parts: dict[str, list[str]] = {}
    for each in metrics:
        difference, interval = _difference(each)
        text = [_format_name(each.name), difference, f"({interval})" if interval else ""]
        parts.setdefault(each.verdict.lstrip("▲▼ ") or "changed", []).append(" ".join(filter(None, text)))
    return [f"{verdict}: {_some(items)}" for verdict, items in parts.items()]


def _comparison(commit: str, scores: Sequence[Path]) -> tuple["RunComparison | None", str]:
    """Return the comparison of the scores of both versions, or why there is none."""
    if text_at(commit, SETS_FILE) == text_here(SETS_FILE):
        return None, "no set changed"
    if not scores and not Path(SCORES_FILE).is_file():
        return None, f"no {SCORES_FILE} here"
    try:
        from paraphrastic.analysis.comparison.by_set import by_set, compare
        from paraphrastic.analysis.comparison.revisions import WORKSPACE, scores_of
        from paraphrastic.base.tables import SCORES, read_table

        old, new = [by_set(read_table(path, SCORES)) for path in scores] or map(scores_of, (commit, WORKSPACE))
        return compare([old], [new]), ""
    except (ImportError, ParaphrasticError, OSError) as error:
        return None, " ".join(str(error).split()).replace("`", "'")


def _intervals(changes: Sequence[Change], reason: str) -> list[str]:
    """Return what intervals are of, and the reason for those that are missing."""
    if not any(change.difference for change in changes):
        return []
    text = "The interval is from the scores of both versions where these metrics are of those scores, otherwise from n."
    if reason:
        text = (
            f"The interval is from n, as if both versions had other items: wider than from scores (none: `{reason}`)."
        )
    unknown = f" {UNKNOWN}: n alone does not determine it." if any(each.verdict == UNKNOWN for each in changes) else ""
    return ["", f"{text} {SEEDS}{unknown}"]


def _significance(comparison: "RunComparison") -> list[str]:
    """Return the lines of a section with intervals and p of all sets."""
    lines = ["", *markdown(comparison).splitlines(), "", f"Bold: p < 0.05; {NOTE}."]
    return _collapsed("confidence intervals and p; A is the merge base", lines)
