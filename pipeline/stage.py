"""What every stage shares: how it is run as a command."""

import signal
from collections.abc import Callable

import typer

from paraphrastic.console import console, one_line, progress

__all__ = ["console", "progress", "run"]


def run(main: Callable[..., None]) -> None:
    """Run a stage as a command: a fault of input or machine is told in one line, a defect in a traceback."""
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    app.command()(one_line("interrupted; run the same command again to go on")(main))
    app()
