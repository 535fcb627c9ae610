"""The command that draws DVC's plots without a network."""

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from paraphrastic.base.console import message


def plots(
    revisions: Annotated[list[str] | None, Argument(metavar="REVISION", help="Experiments, branches, commits.")] = None,
    out: Annotated[Path, Option(metavar="FILE", help="HTML file.")] = Path("plots.html"),
) -> None:
    """Draw the plots of the workspace, or of revisions.

    One HTML file, which needs no network, as `dvc plots show` does.
    """
    from paraphrastic.analysis.comparison.plots import plots_page
    from paraphrastic.base.files import write_text
    from paraphrastic.cli.arguments import refuse_new_folder

    refuse_new_folder(out)
    write_text(out, plots_page(revisions or []))
    message(f"{out}: plots of {', '.join(revisions or ['workspace'])}")
