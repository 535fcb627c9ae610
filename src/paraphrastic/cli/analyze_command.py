"""The command that computes the table of an analysis."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from paraphrastic.base import devices
from paraphrastic.base.console import message
from paraphrastic.base.errors import ParameterError, unknown_name

if TYPE_CHECKING:
    import pandas as pd

_HELP_OF_A = "For an analysis of two runs: a git revision, a DVC experiment, or `workspace`."
_HELP_OF_B = "The same for the other run; `workspace` if left out."
_HELP_OF_DATA = "Folder that the stages have written, for an analysis of one run; `data` of the repository if left out."


def analyze(
    name: Annotated[str | None, Argument(metavar="NAME", help="An analysis; without it, all are listed.")] = None,
    a: Annotated[str | None, Argument(metavar="A", help=_HELP_OF_A)] = None,
    b: Annotated[str | None, Argument(metavar="B", help=_HELP_OF_B)] = None,
    data: Annotated[Path | None, Option(help=_HELP_OF_DATA)] = None,
    csv: Annotated[bool, Option("--csv", help="Print CSV.")] = False,
) -> None:
    """Print the table of an analysis of one run, or of two."""
    from paraphrastic import analysis
    from paraphrastic.analysis.comparison.two_runs import OF_TWO_RUNS
    from paraphrastic.base.console import print_rows

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


def _of_one_run(name: str, a: str | None, data: Path | None) -> "pd.DataFrame":
    from paraphrastic.analysis import analysis
    from paraphrastic.analysis.artifacts import Artifacts
    from paraphrastic.analysis.comparison.revisions import repository_root

    if a is not None:
        raise ParameterError(f"{name} analyzes one run, that of --data; leave '{a}' out")
    return analysis(name)(Artifacts(data or repository_root() / "data", devices.AUTO))


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
