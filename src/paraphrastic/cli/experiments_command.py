"""The command that lists experiments with what they changed and measured."""

import sys
from typing import Annotated

from typer import Option


def experiments(
    by: Annotated[str | None, Option(metavar="METRIC", help="Sort by this metric, such as `words.simlex`.")] = None,
    md: Annotated[bool, Option("--md", help="Print a table in Markdown.")] = False,
) -> None:
    """List the workspace, commits and experiments, the best first.

    `changed` are parameters with another value than in the last commit.
    """
    from paraphrastic.analysis.comparison.formats import markdown_table
    from paraphrastic.base.console import print_rows
    from paraphrastic.papers.project import find_project
    from paraphrastic.papers.records import entries, records, table

    with records(find_project(read_only=True).root) as found:
        header, rows = table(entries(found, by), by)
    if md:
        sys.stdout.write(markdown_table(header, rows, texts=4))
    else:
        print_rows(header, rows)
