"""Run a stage as a command."""

from collections.abc import Callable
from pathlib import Path

import typer

from paraphrastic.base.console import prepare_process, report_errors
from paraphrastic.base.parallel import start_command

CHECKPOINTS = Path(".checkpoints")


def run(main: Callable[..., None]) -> None:
    """Run a stage as a command; errors of the input and of the system are reported as one line."""
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    prepare_process()
    start_command()
    app.command()(report_errors("interrupted; run the same command again to continue")(main))
    app()
