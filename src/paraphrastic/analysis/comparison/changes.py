"""The numbers that a branch changes: n, 95 % interval and verdict, and whether they are of this code and parameters."""

import csv
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, NamedTuple

from paraphrastic.analysis.comparison.noise import Margins, bonferroni, headline_weights, margins_of_n, margins_of_sum
from paraphrastic.analysis.comparison.repository import DVC, dvc, git
from paraphrastic.base.errors import ParameterError
from paraphrastic.base.files import flat
from paraphrastic.base.reading import parse_json

if TYPE_CHECKING:  # needs SciPy
    from paraphrastic.analysis.comparison.by_set import SetComparison

METRICS = ("metrics/*.json", "metrics/finetune/*.json")
DATA = "data/"  # not in git: a clone has no such file, or that of another branch
OTHER_RUN = 0.5  # points; metrics and scores that differ by more are not of the same run
MAIN = ("transfer.mean", "sts.mean", "sample.sts.mean", "mteb.mean", "features.mean")  # the first that there is
UNRATED = {  # metrics that are neither better nor worse when they grow, and columns of analyses
    *("2013_sets", "epoch", "n", "oov", "sets"),
    *("highest", "lowest", "norm", "percentile_75", "rank", "rare_tokens", "rare_words"),
}
NOISE, UNKNOWN = "in the noise", "no interval"


class Change(NamedTuple):
    """A value before and after the change; None if it is missing on that side."""

    name: str
    old: Any
    new: Any
    n: str = ""  # items of both versions
    margins: Margins | None = None
    doubt: str = ""  # why a difference says nothing of the branch, whatever its interval is

    @property
    def difference(self) -> float:
        """The new number minus the old one; 0 if either is missing."""
        return 0 if None in self[1:3] else self.new - self.old

    @property
    def is_rated(self) -> bool:
        """Whether it is a metric for which higher is better."""
        return self.name.rpartition(".")[2] not in UNRATED

    @property
    def verdict(self) -> str:
        """What the change of a number means; empty if it is not rated."""
        if not self.difference:
            return "new" if self.old is None else "removed" if self.new is None else "renamed"
        if self.doubt or not self.is_rated:
            return self.doubt
        if self.margins is None:
            return UNKNOWN
        below, above = self.margins
        return "▲ better" if self.difference > below else "▼ worse" if -self.difference > above else NOISE


def text_at(commit: str, path: str) -> str:
    """Return the text of a file in a commit; an empty string if it is missing."""
    try:
        return git(Path.cwd(), "show", f"{commit}:./{path}")
    except ParameterError:
        return ""


def text_here(path: str) -> str:
    """Return the text of a file of the working tree; an empty string if it is missing."""
    return Path(path).read_text(encoding="utf-8", errors="replace") if Path(path).is_file() else ""


def paths(commit: str, *patterns: str) -> list[str]:
    """Return the files below `metrics` in the commit or in the working tree that match a pattern, sorted."""
    listed = git(Path.cwd(), "ls-tree", "-r", "-z", "--name-only", commit, "metrics/").split("\0")
    found = {path for path in listed for pattern in patterns if PurePosixPath(path).match(pattern)}
    return sorted(found | {path.as_posix() for pattern in patterns for path in Path().glob(pattern)})


def stale_parts() -> dict[str, list[str]]:
    """Return what has changed since the metrics in git were computed, by stage of a matrix, as `finetune.sts`.

    The key "" stands for all metrics: dvc.lock has another version of a file or a parameter of the main pipeline. No
    stage is run, and no data is needed.
    """
    stdout, _ = dvc(Path.cwd(), [*DVC, "status", "--json"])
    parts: dict[str, list[str]] = {}
    for stage, states in parse_json(stdout or "{}").items():
        part = stage.rpartition(":")[2].replace("@", ".") if "@" in stage else ""  # finetune/dvc.yaml:finetune@sts
        found = [cause for state in states for cause in _causes(stage, state)]
        if found and not stage.startswith(".."):  # another project, where the folder `.dvc` is above this one
            parts[part] = [*parts.get(part, []), *found]
    return {"": parts[""]} if "" in parts else parts


def _causes(stage: str, state: Mapping[str, Any] | str) -> list[str]:
    """Return the files, parameters or command of a stage that have changed."""
    if isinstance(state, str):
        return [f"the command of {stage}"] if state == "changed command" else []
    files = [item for changes in state.values() for item in changes.items() if not item[0].startswith(DATA)]
    names = ([f"{file}:{name}" for name in change] if isinstance(change, dict) else [file] for file, change in files)
    return [name for each in names for name in each]


def params_diff(commit: str, *options: str) -> tuple[list[Change], str]:
    """Return the parameters that differ from those of a commit, and DVC's warning about a file, or an empty string."""
    stdout, stderr = dvc(Path.cwd(), [*DVC, "params", "diff", "--all", "--json", commit, *options])
    changes = [
        Change(name if file == "params.yaml" else f"{file}:{name}", value.get("old"), value.get("new"))
        for file, values in parse_json(stdout or "{}").items()
        for name, value in values.items()
        # where the folder `.dvc` is above the project, DVC also compares other projects; 1 == True == 1.0
        if not file.startswith("..") and repr(value.get("old")) != repr(value.get("new"))
    ]
    return sorted(changes), next((line for line in stderr.splitlines() if "failed to load" in line), "")


def changed_metrics(commit: str, sets: Sequence[Change]) -> list[Change]:
    """Return the metrics that differ from those of a commit, the main one first, tasks last; margins are of `sets`."""
    old, new = (
        {name: number(value) for file in paths(commit, *METRICS) for name, value in _flat(text(file)).items()}
        for text in (partial(text_at, commit), text_here)
    )
    main = next((name for name in MAIN if name in old | new), "")
    changed = [
        Change(name, old.get(name), new.get(name))
        for name in sorted(old | new, key=lambda name: (name != main, name.startswith("finetune."), name))
        if old.get(name) != new.get(name)
    ]
    weights = headline_weights([each.name for each in sets if each.is_rated]) if changed else {}
    by_name = {each.name: each for each in sets}
    parts = [[(weight, by_name[name]) for name, weight in weights.get(each.name, {}).items()] for each in changed]
    return [_with_sets(each, of_sets) for each, of_sets in zip(changed, parts, strict=True)]


def _with_sets(metric: Change, parts: Sequence[tuple[float, Change]]) -> Change:
    """Return a metric with n, margins and doubt of the one set that it is of, or the margins of a mean over several."""
    margins = margins_of_sum((weight, each.margins) for weight, each in parts)
    if len(parts) == 1:
        return metric._replace(n=parts[0][1].n, margins=margins, doubt=parts[0][1].doubt)
    return metric._replace(n=f"{len(parts)} sets" if margins else "", margins=margins)


def _flat(text: str) -> dict[str, Any]:
    """Return the values of a tree in JSON by dotted key; none if the text is empty or damaged."""
    try:
        return flat(parse_json(text))
    except (ValueError, AttributeError):
        return {}


def number(value: Any) -> float | None:
    """Return a cell of a table or a metric as a finite number, or None if it is none."""
    try:
        parsed = int(value) if isinstance(value, str) and value.isdecimal() else float(value)
    except (TypeError, ValueError):
        return None
    return (value if isinstance(value, int) else parsed) if math.isfinite(parsed) else None


def table_changes(commit: str, path: str, prefix: str = "", scored: Iterable["SetComparison"] = ()) -> list[Change]:
    """Return all numbers of a CSV file by row and column, in the order of the file.

    Margins are those of `scored` where it has the values of the file, as scores of another run may lie in `data`.
    """
    old, new = _numbers(text_at(commit, path).splitlines()), _numbers(text_here(path).splitlines())
    rows = {f"{row.name}.{row.metric}": row for row in scored}
    factor = bonferroni(max(1, len({name.rpartition(".")[0] for name in old | new})))
    changes = []
    for name in old | new:
        key, _, column = name.rpartition(".")
        a, b, n_a, n_b = (numbers.get(each) for each in (name, f"{key}.n") for numbers in (old, new))
        n = " → ".join(f"{n:,}" for n in dict.fromkeys((n_a, n_b)) if n is not None)
        margins, doubt = (
            (None, "") if a is None or b is None else _margins(column, a, b, n_a, n_b, rows.get(name), factor)
        )
        changes.append(Change(f"{prefix}{name}", a, b, n, margins, doubt))
    return changes


def _margins(
    measure: str, a: float, b: float, n_a: float | None, n_b: float | None, row: "SetComparison | None", factor: float
) -> tuple[Margins | None, str]:
    """Return margins, and NOISE for a change that is not significant, as it is one of several."""
    if row and max(abs(100 * row.a.points.mean() - a), abs(100 * row.b.points.mean() - b)) <= OTHER_RUN:
        value, low, high, _ = row.change
        return (100 * (value - low), 100 * (high - value)), "" if row.is_significant else NOISE
    margins = margins_of_n(measure, a, n_a or 0, b, n_b or 0)
    return margins, NOISE if margins and -factor * margins[1] <= b - a <= factor * margins[0] else ""


def _numbers(lines: Iterable[str]) -> dict[str, float]:
    """Return all numbers of a CSV file as `row.column`; a row has the name of its first cells that no other row has."""
    header, *rows = [*csv.reader(lines)] or [[]]
    widths = (n for n in range(1, len(header)) if len({tuple(row[:n]) for row in rows}) == len(rows))
    width = next(widths, 1)
    cells = (
        (".".join([*row[:width], column]), number(cell))
        for row in rows
        for column, cell in zip(header[width:], row[width:], strict=False)
    )
    return {name: value for name, value in cells if value is not None}


def finished(changes: Sequence[Change], stale: Iterable[str], doubt: str) -> list[Change]:
    """Return changes with their last doubt: `stale` for those of the parts `stale`, see `stale_parts`, or `doubt`.

    A removed and a new number of equal value are joined if no other has it; of ints the ends of names are equal too.
    """
    pairs = [
        (a, b)
        for a in changes
        for b in changes
        if a.new is None and b.old is None and a.old == b.new
        if isinstance(a.old, float) or a.name.rpartition(".")[2] == b.name.rpartition(".")[2]
    ]
    counts = Counter(each for pair in pairs for each in pair)
    old_of = {b: a for a, b in pairs if counts[a] == counts[b] == 1}
    starts = tuple(part and f"{part}." for part in stale)
    return [
        each._replace(name=f"{old_of[each].name} → {each.name}", old=each.new)
        if each in old_of
        else each._replace(doubt="stale" if each.name.startswith(starts) else doubt or each.doubt)
        for each in changes
        if each not in old_of.values()
    ]
