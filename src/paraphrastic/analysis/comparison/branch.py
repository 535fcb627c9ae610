"""What a branch changes: parameters, metrics, and numbers of tables in git; .ci/report.py prints it.

The working tree is compared with the merge base of HEAD and another revision. No data is needed. Intervals are from the
scores of both versions where they are there, otherwise from n.
"""

import re
from collections.abc import Sequence
from contextlib import chdir
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from paraphrastic.analysis.comparison.changes import (
    Change,
    changed_metrics,
    finished,
    params_diff,
    paths,
    stale_parts,
    table_changes,
    text_at,
    text_here,
)
from paraphrastic.analysis.comparison.repository import check_repository, git, project_root
from paraphrastic.base.errors import ParameterError, ParaphrasticError

if TYPE_CHECKING:  # needs SciPy
    from paraphrastic.analysis.comparison.by_set import RunComparison

SETS_FILE, ANALYSES, SCORES_FILE = "metrics/sets.csv", "metrics/analysis/*.csv", "data/scores.parquet"
OPTIONS_FILE = "models.yaml"
TASK_OPTIONS = ("finetune/params.yaml", "finetune/taggers.yaml")  # dependencies and not parameters for DVC
UNREPORTED = ("resamples",)  # analyses whose rows are random draws
THRESHOLD = 0.5  # points; a smaller change of a number of a set or of an analysis is left out


class Branch(NamedTuple):
    """What a branch changes; of sets and analyses what is new, removed, or changed by more than THRESHOLD."""

    commit: str  # the merge base, with which the working tree is compared
    stale: dict[str, list[str]]  # see `stale_parts`
    params: list[Change]
    options: list[Change]  # of both models, if another was chosen
    metrics: list[Change]  # the main one first
    sets: list[Change]
    analyses: list[Change]
    comparison: "RunComparison | None"  # of the scores of both versions
    reason: str  # why there is no comparison
    warning: str  # of DVC about a file that it could not load


def branch_changes(base: str, scores: Sequence[Path] = ()) -> Branch:
    """Return what the working tree changes against the merge base of HEAD and the revision `base`.

    Args:
        base: a revision.
        scores: files of the scores of the merge base and of the working tree; if left out, those of the DVC cache and
            of `data`, if they are there.

    Raises:
        ParameterError: `base` is no commit or has none in common with HEAD, git has left both sides of a merge in a
            file, or git or DVC refuses a command.
    """
    root, scores = project_root(), [path.resolve() for path in scores]
    check_repository(root)
    with chdir(root):
        commit = _merge_base(base)
        _refuse_conflicts()
        stale, (all_params, warning) = stale_parts(), params_diff(commit)
        if options_files := [str(Path(path).resolve()) for path in TASK_OPTIONS if Path(path).is_file()]:
            all_params += params_diff(commit, "--targets", *options_files)[0]
        is_other_model = any(each.name == "model" for each in all_params)
        options = [each for each in all_params if is_other_model and each.name.startswith(f"{OPTIONS_FILE}:")]
        params = [each for each in all_params if each not in options]
        has_other_code = git(root, "diff", "--name-only", commit, "--", "src", "pipeline")
        doubt = "another seed" if [each.name for each in params] == ["seed"] and not has_other_code else ""
        comparison, reason = _comparison(commit, scores)
        sets = table_changes(commit, SETS_FILE, scored=comparison.rows if comparison else ())
        metrics = finished(changed_metrics(commit, sets), stale, doubt)
        same = {each[:3] for each in metrics}
        sets = [each for each in sets if not {each[:3], (each.name.rpartition(".")[0], *each[1:3])} & same]
        files = [path for path in paths(commit, ANALYSES) if Path(path).stem not in UNREPORTED]
        analyses = [each for path in files for each in table_changes(commit, path, f"{Path(path).stem}.")]
        analyses = finished(_large(analyses), [part.removeprefix("analyze.") for part in stale], doubt)
        sets = finished(_large(sets), stale, doubt)
    return Branch(commit, stale, params, options, metrics, sets, analyses, comparison, reason, warning)


def _large(changes: Sequence[Change]) -> list[Change]:
    return [each for each in changes if None in each[1:3] or abs(each.difference) > THRESHOLD]


def _refuse_conflicts() -> None:
    patterns = ("*.yaml", "*.lock", "*/*.yaml", "*/*.lock", "metrics/**/*.json", "metrics/**/*.csv")
    files = sorted({path.as_posix() for pattern in patterns for path in Path().glob(pattern)})
    if conflicts := [file for file in files if re.search("^<<<<<<< ", text_here(file), re.MULTILINE)]:
        remedy = "take one side of each, then `dvc repro --all-pipelines`"
        raise ParameterError(f"merge conflict in {', '.join(conflicts)}: {remedy}")


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
        return None, str(error)
