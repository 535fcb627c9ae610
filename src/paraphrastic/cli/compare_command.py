"""The command that compares two experiments."""

import sys
from typing import Annotated

from typer import Argument, Option

from paraphrastic.console import message


def compare(
    a: Annotated[str, Argument(metavar="A", help="Revision or experiment; several, with commas, are seeds of one.")],
    b: Annotated[str, Argument(metavar="B", help="Likewise; `workspace` is the state here.")] = "workspace",
    md: Annotated[bool, Option("--md", help="As a table in Markdown.")] = False,
    as_json: Annotated[bool, Option("--json", help="As JSON.")] = False,
) -> None:
    """Test whether B is better than A, set by set."""
    from paraphrastic.cli.output import print_table
    from paraphrastic.comparison import report
    from paraphrastic.comparison.by_set import compare
    from paraphrastic.comparison.revisions import scores_of

    runs_a, runs_b = ([scores_of(revision) for revision in revisions.split(",")] for revisions in (a, b))
    comparison = compare(runs_a, runs_b)
    if as_json or md:
        sys.stdout.write(report.as_json(comparison) if as_json else report.markdown(comparison))
    else:
        print_table(report.terminal(comparison))
    if comparison.left_out:
        message(f"not in all runs, left out: {', '.join(comparison.left_out)}")
