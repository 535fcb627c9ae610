"""Commands on the results of runs: experiments, compare, analyze, plots."""

import fnmatch
import sys
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Exit, Option

from paraphrastic.base import devices
from paraphrastic.base.console import message, print_rows
from paraphrastic.base.errors import ParameterError, unknown_name
from paraphrastic.cli.arguments import AsJson, Csv, Md, refuse_new_folder, refuse_several

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

_HELP_OF_NAMES = "Experiments, also as patterns such as 'gsap-*'; all if left out."
_HELP_OF_A = "Git revision or DVC experiment; separate runs of one configuration with different seeds by commas."
_HELP_OF_B = "The same for B; `workspace`: the files of the last `dvc repro`."
_HELP_OF_DECIDE = (
    "Exit with the status of a row: 0 if B is better, 3 if worse, 4 if undecided. A set, or `mean` for the first row."
)
_STATUS = {"better": 0, "worse": 3, "undecided": 4}  # 1 is an error, 2 wrong usage
_ANALYZED_A = "For an analysis of two runs: a git revision, a DVC experiment, or `workspace`."
_ANALYZED_B = "The same for the other run; `workspace` if left out."
_ANALYZED_DATA = (
    "Folder that the stages have written, for an analysis of one run; `data` of the repository if left out."
)


def experiments(
    names: Annotated[list[str] | None, Argument(metavar="NAME", help=_HELP_OF_NAMES)] = None,
    by: Annotated[str | None, Option(metavar="METRIC", help="Sort by this metric, such as `words.simlex`.")] = None,
    by_configuration: Annotated[bool, Option("--by-configuration", help="Print means over seeds.")] = False,
    against: Annotated[str | None, Option(metavar="NAME", help="Compare configurations with this one.")] = None,
    md: Md = False,
    tex: Annotated[bool, Option("--tex", help="Print a table in LaTeX, for its package booktabs.")] = False,
    csv: Csv = False,
) -> None:
    """List the workspace, commits and experiments, the best first.

    `changed` are parameters with another value than in the last commit. A configuration is all experiments that differ
    in their seed alone: mean ± standard deviation, and the difference from the one that --against names.
    """
    import pandas as pd

    from paraphrastic.papers.configurations import by_state, means, runs
    from paraphrastic.papers.project import find_project
    from paraphrastic.papers.records import entries, records, table

    refuse_several(md=md, tex=tex, csv=csv)
    root = find_project(read_only=True).root
    with records(root) as found:
        states = by_state(root)
        wanted = _matching({*(each.name for each in found), *chain(*states.values())}, names or ["*"])
        wanted |= states["ended"] & {against}
        if by_configuration or against:
            ended = runs(found, wanted & states["ended"], by)
            shown, texts, (numbers, cells, notes) = set(ended.index), 1, means(ended, by, against)
        else:
            listed = [each for each in entries(found, by) if each.name in wanted]
            header, rows = table(listed, by)
            shown, texts, notes = {each.name for each in listed}, 4, []
            numbers = cells = pd.DataFrame(rows, columns=header)
    if csv:
        sys.stdout.write(numbers.to_csv(index=False))
    else:
        _print(cells, texts, md, tex)
    absent = {state: sorted(wanted.intersection(each) - shown) for state, each in states.items()}
    absent["no metrics of its parameters"] = absent.pop("ended")
    for note in (*notes, *(f"{reason}: {', '.join(each)}" for reason, each in absent.items() if each)):
        message(note)


def _matching(known: set[str], patterns: "Sequence[str]") -> set[str]:
    """Return the names that a pattern matches, as in a shell."""
    found = {pattern: fnmatch.filter(known, pattern) for pattern in patterns}
    if unknown := [pattern for pattern, each in found.items() if not each]:
        raise ParameterError(unknown_name("experiment", unknown[0], known))
    return {*chain(*found.values())}


def _print(cells: "pd.DataFrame", texts: int, md: bool, tex: bool) -> None:
    from paraphrastic.analysis.comparison.formats import latex_table, markdown_table

    header, rows = cells.columns.tolist(), cells.to_numpy()
    if md or tex:
        sys.stdout.write(markdown_table(header, rows, texts) if md else latex_table(cells))
    else:
        print_rows(header, rows, header[texts:])


def compare(
    a: Annotated[str, Argument(metavar="A", help=_HELP_OF_A)],
    b: Annotated[str, Argument(metavar="B", help=_HELP_OF_B)] = "workspace",
    md: Md = False,
    as_json: AsJson = False,
    decide: Annotated[str | None, Option(metavar="ROW", help=_HELP_OF_DECIDE)] = None,
) -> None:
    """Test whether B is better than A, set by set."""
    from paraphrastic.analysis.comparison import formats
    from paraphrastic.analysis.comparison.by_set import compare
    from paraphrastic.analysis.comparison.revisions import scores_of

    refuse_several(json=as_json, md=md)
    names_a, names_b = _names(a), _names(b)
    runs_a, runs_b = ([scores_of(name) for name in names] for names in (names_a, names_b))
    comparison = compare(runs_a, runs_b)
    rows_by_name = {"mean": comparison.rows[0]} | {row.name: row for row in comparison.rows}
    if decide is not None and decide not in rows_by_name:
        raise ParameterError(unknown_name("row", decide, rows_by_name))
    if as_json or md:
        sys.stdout.write(formats.as_json(comparison) if as_json else formats.markdown(comparison))
    else:
        rows = map(formats.cells, comparison.rows)
        print_rows(formats.HEADER, rows, formats.HEADER[2:], map(formats.colour, comparison.rows))
    message(formats.NOTE)
    if comparison.left_out:
        message(f"not in all runs, left out: {', '.join(comparison.left_out)}")
    for name, reason in comparison.undefined.items():
        message(f"{name}, left out: {reason}")
    if decide is not None:
        row = rows_by_name[decide]
        message(f"{row.name}: {row.verdict}")
        raise Exit(_STATUS[row.verdict])


def _names(revisions: str) -> list[str]:
    names = [name.strip() for name in revisions.split(",")]
    if not all(names):
        raise ParameterError(
            f"'{revisions}': a name is empty; give revisions or experiments with one comma between them"
        )
    return names


def analyze(
    name: Annotated[str | None, Argument(metavar="NAME", help="An analysis; without it, all are listed.")] = None,
    a: Annotated[str | None, Argument(metavar="A", help=_ANALYZED_A)] = None,
    b: Annotated[str | None, Argument(metavar="B", help=_ANALYZED_B)] = None,
    data: Annotated[Path | None, Option(help=_ANALYZED_DATA)] = None,
    csv: Csv = False,
) -> None:
    """Print the table of an analysis of one run, or of two."""
    from paraphrastic import analysis
    from paraphrastic.analysis.comparison.two_runs import OF_TWO_RUNS

    names = sorted([*analysis.names(), *OF_TWO_RUNS])
    if name is None:
        sys.stdout.writelines(f"{each}\n" for each in names)
        return
    if name not in names:
        raise ParameterError(unknown_name("analysis", name, names))
    table = _of_two_runs(name, a, b, data) if name in OF_TWO_RUNS else _of_one_run(name, a, data)
    if csv:
        table.to_csv(sys.stdout, index=False, lineterminator="\n")
    else:
        print_rows(list(table.columns), table.astype(object).where(table.notna(), "").itertuples(index=False))
    if undefined := [name for name in ("pearson", "spearman") if name in table and table[name].isna().any()]:
        message(f"empty {' and '.join(undefined)}: not defined, for fewer than two rows or equal values")


def _of_one_run(name: str, a: str | None, data: Path | None) -> "pd.DataFrame":
    from paraphrastic.analysis import analysis
    from paraphrastic.analysis.artifacts import Artifacts
    from paraphrastic.analysis.comparison.repository import project_root

    if a is not None:
        raise ParameterError(f"{name} analyzes one run, that of --data; leave '{a}' out")
    return analysis(name)(Artifacts(data or project_root() / "data", devices.AUTO))


def _of_two_runs(name: str, a: str | None, b: str | None, data: Path | None) -> "pd.DataFrame":
    from paraphrastic.analysis.comparison.revisions import WORKSPACE
    from paraphrastic.analysis.comparison.two_runs import OF_TWO_RUNS, pairs_of_two_runs

    if a is None:
        raise ParameterError(f"{name} compares two runs: give two revisions or experiments, or one and `{WORKSPACE}`")
    if data is not None:
        raise ParameterError(f"{name} compares two runs, A and B; leave --data out")
    pairs, left_out = pairs_of_two_runs(a, b or WORKSPACE)
    if left_out:
        message(f"not in both runs, left out: {', '.join(left_out)}")
    return OF_TWO_RUNS[name](pairs)


def plots(
    revisions: Annotated[list[str] | None, Argument(metavar="REVISION", help="Experiments, branches, commits.")] = None,
    out: Annotated[Path, Option(metavar="FILE", help="HTML file.")] = Path("plots.html"),
) -> None:
    """Draw the plots of the workspace, or of revisions.

    One HTML file, which needs no network, as `dvc plots show` does. Experiments that differ in their seed alone are
    drawn as their mean ± standard deviation.
    """
    from paraphrastic.analysis.comparison.plots import plots_page
    from paraphrastic.analysis.comparison.repository import project_root
    from paraphrastic.base.files import write_text
    from paraphrastic.papers.configurations import runs
    from paraphrastic.papers.records import records

    refuse_new_folder(out)
    names: dict[str, str] = {}
    if revisions and len(revisions) > 1:
        with records(project_root()) as found:
            names = dict(runs(found, revisions)["configuration"])
    is_sweep = len(set(names.values())) < len(names)
    write_text(out, plots_page(revisions or [], names if is_sweep else {}))
    message(f"{out}: plots of {', '.join(revisions or ['workspace'])}")
