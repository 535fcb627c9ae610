"""Progress bars, tables, and errors as one line, for commands and stages."""

import os
import reprlib
import signal
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from paraphrastic.base.errors import ParaphrasticError

console = Console(stderr=True, emoji=False)

STANDARD_STREAM = "-"  # in place of the name of a file: standard input or output

_INTERRUPTED = 128 + 2  # exit status after SIGINT, as shells report it
_CLOSED_PIPE = 128 + 13  # after SIGPIPE


class _Count(ProgressColumn):
    """How many of how many; without a total, how many and how many per second."""

    def render(self, task: Task) -> Text:
        """Return the text of the column."""
        if task.total is not None:
            return MofNCompleteColumn().render(task)
        return Text(f"{task.completed:,.0f}  {task.speed or 0:,.0f}/s", style="progress.download")


def progress(visible: bool | None = None) -> Progress:
    """Return a progress display on stderr; by default it is visible if stderr is a terminal."""
    columns = TextColumn("{task.description}"), BarColumn(), _Count(), TimeRemainingColumn()
    return Progress(*columns, console=console, disable=not (console.is_terminal if visible is None else visible))


def message(line: str) -> None:
    """Print one line on stderr as it is: no markup, no emoji codes, no colours, no line breaks."""
    console.print(line, markup=False, highlight=False, soft_wrap=True)


def print_rows(header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print rows as an aligned table with a header on a terminal; otherwise with tabs and without the header."""
    if not sys.stdout.isatty():
        sys.stdout.writelines("\t".join(map(str, row)) + "\n" for row in rows)
        return
    table = Table(*header, box=None, pad_edge=False, show_header=any(header), header_style="bold")
    for row in rows:
        table.add_row(*map(str, row))
    print_table(table)


def print_table(table: Table) -> None:
    """Print a table with its text as it is: square brackets are no markup."""
    Console(markup=False, highlight=False).print(table)


@contextmanager
def quiet(is_quiet: bool) -> Iterator[None]:
    """Print no lines and no progress, if `is_quiet`."""
    before, console.quiet = console.quiet, is_quiet or console.quiet
    try:
        yield
    finally:
        console.quiet = before


def interrupt_on_sigterm() -> None:
    """Treat SIGTERM like Ctrl-C, so that a stopped process ends cleanly."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)


@contextmanager
def report_errors(interrupted: str) -> Iterator[None]:
    """Print errors of the input and of the system as one line on stderr; let bugs keep their traceback.

    Args:
        interrupted: the line printed after Ctrl-C.

    Raises:
        SystemExit: 1 after an error, 130 after Ctrl-C, 141 if the reader of standard output has gone.
    """
    try:
        yield
    except KeyboardInterrupt:
        _exit(interrupted, _INTERRUPTED)
    except ParaphrasticError as error:
        _exit(f"error: {error}")
    except MemoryError as error:
        _exit(f"error: out of memory: {error}".removesuffix(": "))
    except BrokenPipeError:
        # Python flushes standard output when it exits, which would print a second error
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(_CLOSED_PIPE) from None
    except OSError as error:
        place = error.filename if error.filename is not None else Path.cwd()
        _exit(f"error: {place}: {error.strerror or error}")
    except UnicodeEncodeError as error:  # names of files may have any bytes, and terminals may be limited to ASCII
        remedy = "rename the file, or set PYTHONUTF8=1"
        _exit(f"error: {reprlib.repr(error.object)}: cannot be written as {error.encoding} ({error.reason}); {remedy}")


def _exit(line: str, code: int = 1) -> NoReturn:
    console.print(" ".join(line.split()), style="red", markup=False, highlight=False, soft_wrap=True)
    raise SystemExit(code)
