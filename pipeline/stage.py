"""What every stage shares: how it is run as a command."""

import signal
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import typer

from paraphrastic.console import console, one_line, progress

__all__ = ["CHECKPOINTS", "CHECKPOINT_SECONDS", "console", "fingerprint", "progress", "run"]

CHECKPOINTS, CHECKPOINT_SECONDS = Path(".checkpoints"), 60.0


def run(main: Callable[..., None]) -> None:
    """Run a stage as a command: a fault of input or machine is told in one line, a defect in a traceback."""
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    app.command()(one_line("interrupted; run the same command again to go on")(main))
    app()


def fingerprint(settings: object, *folders: Path) -> str:
    """Names a run by all that determines it: its settings, and the tables and code in `folders`."""
    hasher = sha256(repr(settings).encode())
    files = (file for folder in folders for file in sorted(folder.rglob("*")))
    for file in files:
        if file.suffix in {".parquet", ".safetensors", ".py"}:
            hasher.update(sha256(file.read_bytes()).digest())
    return hasher.hexdigest()[:16]
