"""What commands and stages share: how they end when something is wrong, and how they show progress."""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from paraphrastic.errors import ParaphrasticError

console = Console(stderr=True)

_INTERRUPTED = 128 + signal.SIGINT  # as shells report it
_NOBODY_READS = 128 + signal.SIGPIPE


def progress(shown: bool | None = None) -> Progress:
    """A progress display on stderr; None shows it where stderr is a terminal."""
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    return Progress(*columns, console=console, disable=not (console.is_terminal if shown is None else shown))


@contextmanager
def one_line(interrupted: str) -> Iterator[None]:
    """Tell a fault of input or machine in one line on stderr, and a closed pipe in none; a defect keeps its traceback.

    Args:
        interrupted: what is said after Ctrl-C.

    Raises:
        SystemExit: 1 for a fault, 130 after Ctrl-C, 141 where nobody reads what is written.
    """
    try:
        yield
    except KeyboardInterrupt:
        _end(interrupted, _INTERRUPTED)
    except ParaphrasticError as error:
        _end(f"error: {error}")
    except MemoryError as error:
        _end(f"error: out of memory: {error}".removesuffix(": "))
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for what the interpreter writes at its end
        raise SystemExit(_NOBODY_READS) from None
    except OSError as error:
        _end(f"error: {_where(error)}")


def _where(error: OSError) -> str:
    place = error.filename if error.filename is not None else Path.cwd()
    return f"{place}: {error.strerror or error}"


def _end(message: str, code: int = 1) -> NoReturn:
    console.print(" ".join(message.split()), style="red", markup=False, highlight=False, soft_wrap=True)
    raise SystemExit(code)
