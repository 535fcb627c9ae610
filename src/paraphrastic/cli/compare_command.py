"""The command that compares two experiments."""

import sys
from typing import Annotated

from typer import Argument, Option

from paraphrastic.base.console import message
from paraphrastic.base.errors import ParameterError

_HELP_OF_A = "Git revision or DVC experiment; separate runs of one configuration with different seeds by commas."
_HELP_OF_B = "The same for B; `workspace`: the files of the last `dvc repro`."


def compare(
    a: Annotated[str, Argument(metavar="A", help=_HELP_OF_A)],
    b: Annotated[str, Argument(metavar="B", help=_HELP_OF_B)] = "workspace",
    md: Annotated[bool, Option("--md", help="Print a table in Markdown.")] = False,
    as_json: Annotated[bool, Option("--json", help="Print JSON.")] = False,
) -> None:
    """Test whether B is better than A, set by set."""
    from paraphrastic.analysis.comparison import formats
    from paraphrastic.analysis.comparison.by_set import compare
    from paraphrastic.analysis.comparison.revisions import scores_of
    from paraphrastic.base.console import print_table

    names_a, names_b = _names(a), _names(b)
    runs_a, runs_b = ([scores_of(name) for name in names] for names in (names_a, names_b))
    comparison = compare(runs_a, runs_b)
    if as_json or md:
        sys.stdout.write(formats.as_json(comparison) if as_json else formats.markdown(comparison))
    else:
        print_table(formats.terminal(comparison))
    if comparison.left_out:
        message(f"not in all runs, left out: {', '.join(comparison.left_out)}")


def _names(revisions: str) -> list[str]:
    names = [name.strip() for name in revisions.split(",")]
    if not all(names):
        raise ParameterError(
            f"'{revisions}': a name is empty; give revisions or experiments with one comma between them"
        )
    return names
