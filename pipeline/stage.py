"""Functions of all stages: run as a command, and write CSV files and curves."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pandas as pd
import typer

from paraphrastic.base.console import interrupt_on_sigterm, report_errors
from paraphrastic.base.files import atomic_write

CHECKPOINTS = Path(".checkpoints")

Curve = Sequence[tuple[float, float]]  # (x, y)


def run(main: Callable[..., None]) -> None:
    """Run a stage as a command; errors of the input and of the system are reported as one line."""
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    interrupt_on_sigterm()
    app.command()(report_errors("interrupted; run the same command again to continue")(main))
    app()


def write_csv(frame: pd.DataFrame, path: Path) -> None:
    """Write a CSV file atomically, with the same bytes on every system."""
    with atomic_write(path) as part:
        frame.to_csv(part, index=False, lineterminator="\n", encoding="utf-8")


def write_curve(path: Path, columns: tuple[str, str], points: Curve, digits: int) -> None:
    """Write a curve as CSV.

    Args:
        path: the file.
        columns: names of x and y.
        points: the curve.
        digits: decimals of y.
    """
    rows = [(f"{x:.12g}", f"{y:.{digits}f}") for x, y in points]
    write_csv(pd.DataFrame(rows, columns=columns), path)
