"""Progress bars, tables, and errors as one line, for commands and stages."""

import os
import re
import reprlib
import signal
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from io import BufferedWriter, FileIO, TextIOWrapper
from itertools import chain, repeat
from pathlib import Path
from threading import Event, Thread
from typing import Any, NoReturn

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)
from rich.table import Table
from rich.text import Text

from paraphrastic.base.errors import ParaphrasticError, file_of

console = Console(stderr=True, emoji=False)

STANDARD_STREAM = "-"  # in place of the name of a file: standard input or output

_STDOUT, _STDERR = 1, 2
LOG_SECONDS = 60.0  # of silence before a line of a log
_LONG = 120.0  # seconds from which on a time is in minutes
_written = [time.monotonic()]  # when the last message was
_SPACES = str.maketrans("\t\n\r", "   ")
_INTERRUPTED = 128 + 2  # exit status after SIGINT, as shells report it
_CLOSED_PIPE = 128 + 13  # after SIGPIPE


class _Count(ProgressColumn):
    """How many of how many; without a total, how many and how many per second."""

    def render(self, task: Task) -> Text:
        """Return the text of the column."""
        if task.total is not None:
            return MofNCompleteColumn().render(task)
        return Text(f"{task.completed:,.0f}  {task.speed or 0:,.0f}/s", style="progress.download")


class _Log(Progress):
    """A display whose tasks are written as a line, in place of bars, whenever nothing has been written for a minute.

    What was written so has a last line at the end.
    """

    def start(self) -> None:
        """Start to write lines."""
        self._ended, self._since = Event(), time.monotonic()
        if silence() >= LOG_SECONDS:  # of a program that did something else, or nothing
            _written[0] = self._since
        self._before: dict[TaskID, tuple[float, float]] = {}  # what was done of a task, and when
        Thread(target=self._write, daemon=True).start()

    def stop(self) -> None:
        """Write no more lines but one of the tasks that got on since theirs."""
        self._ended.set()
        if further := [task for task in self.tasks if self._before.get(task.id, (task.completed,))[0] < task.completed]:
            message("; ".join(map(self._line, further)))

    def _write(self) -> None:
        while not self._ended.wait(max(0.0, LOG_SECONDS - silence())):
            if self.tasks and silence() >= LOG_SECONDS:
                left = [task for task in self.tasks if not task.finished]
                begun = [task for task in left if task.completed]
                message("; ".join(map(self._line, begun or left or self.tasks)))

    def _line(self, task: Task) -> str:
        """Return how much of a task is done, and its rate since the last line."""
        now, (completed, before) = time.monotonic(), self._before.get(task.id, (0.0, self._since))
        self._before[task.id] = task.completed, now
        rate = (task.completed - completed) / (now - before) if now > before else 0.0
        parts = [] if task.total is None else [f"{task.completed:,.0f} of {task.total:,.0f}"]
        parts += [f"{task.completed:,.0f}"] if task.total is None and task.completed else []
        parts += [f"{rate:,.0f}/s" if rate >= 1 else f"{60 * rate:,.0f}/min"] if rate else []
        parts += [time_left((task.total - task.completed) / rate)] if rate and task.total is not None else []
        return ": ".join([task.description, *([", ".join(parts)] if parts else [])])


def progress(visible: bool | None = None, logged: bool = True) -> Progress:
    """Return a progress display on stderr.

    Args:
        visible: whether it shows bars; None for bars on a terminal, and a line after a minute of silence elsewhere.
        logged: whether it writes these lines.
    """
    if visible is None and logged and not console.is_terminal:
        return _Log(console=console, disable=True)
    columns = TextColumn("{task.description}"), BarColumn(), _Count(), TimeRemainingColumn()
    return Progress(*columns, console=console, disable=not (console.is_terminal if visible is None else visible))


def time_left(seconds: float) -> str:
    """Return a time as text, in minutes if it is long."""
    return f"{seconds:.0f} s left" if seconds < _LONG else f"{seconds / 60:.0f} min left"


def message(line: str, style: str = "") -> None:
    """Print one line on stderr as it is: no markup, no emoji codes, no line breaks; nothing if stderr takes none."""
    try:
        console.print(line, style=style, markup=False, highlight=False, soft_wrap=True)
    except OSError:
        _discard(_STDERR)
    _written[0] = time.monotonic()


def silence() -> float:
    """Return the seconds since the last message."""
    return time.monotonic() - _written[0]


def print_rows(
    header: Sequence[str],
    rows: Iterable[Sequence[object]],
    numbers: Sequence[str] = (),
    styles: Iterable[str] = repeat(""),
) -> None:
    """Print a table: aligned on a terminal, otherwise as `tab_separated` lines, of which nothing is cut off.

    Args:
        header: names of the columns.
        rows: a cell per column, printed as it is: square brackets are no markup.
        numbers: columns that a terminal shows aligned to the right.
        styles: the colour of each row on a terminal.
    """
    if not sys.stdout.isatty():
        sys.stdout.writelines(tab_separated(header, rows))
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in header:
        table.add_column(name, justify="right" if name in numbers else "left")
    for row, style in zip(rows, styles):  # noqa: B905  # styles may go on for ever
        table.add_row(*map(str, row), style=style)
    Console(markup=False, highlight=False).print(table)


def tab_separated(header: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    """Yield the header and the rows as lines, with tabs between cells; tabs and line ends in cells become spaces."""
    for row in chain([header], rows):
        yield "\t".join(str(cell).translate(_SPACES) for cell in row) + "\n"


@contextmanager
def quiet(is_quiet: bool) -> Iterator[None]:
    """Print no lines and no progress, if `is_quiet`."""
    before, console.quiet = console.quiet, is_quiet or console.quiet
    try:
        yield
    finally:
        console.quiet = before


def prepare_process() -> None:
    """Treat SIGTERM like Ctrl-C, so that a stopped process ends cleanly; open standard streams that are closed.

    Python has None in place of a stream that was closed before it started, and the next file that is opened would get
    its number. Here reading and writing such a stream fail with `Bad file descriptor`, and messages are discarded.
    """
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            wrong_way = os.open(os.devnull, os.O_RDONLY if name == "stdout" else os.O_WRONLY)
            setattr(sys, name, open(wrong_way, mode, encoding="utf-8", closefd=False))  # noqa: SIM115  # until the end
    out: Any = sys.stdout
    raw = _Output(out.fileno(), "w", closefd=False)
    buffer: Any = raw if isinstance(out.buffer, FileIO) else BufferedWriter(raw)  # raw: Python runs unbuffered
    settings = {"line_buffering": out.line_buffering, "write_through": out.write_through}
    sys.stdout = TextIOWrapper(buffer, out.encoding, out.errors, **settings)


class _Output(FileIO):
    """Standard output, whose errors say so: an OSError of writing names no file."""

    def write(self, data: Any) -> int:
        try:
            return super().write(data)
        except OSError as error:
            error.filename = "standard output"
            raise


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
        sys.stdout.flush()  # raises here if it cannot be written, not when the interpreter exits
    except KeyboardInterrupt:
        _exit(interrupted, _INTERRUPTED)
    except ParaphrasticError as error:
        _exit(f"error: {error}")
    except MemoryError as error:
        _exit(f"error: out of memory: {error}".removesuffix(": "))
    except RuntimeError as error:  # of torch, which has no class for the memory of the CPU
        if not re.search("can't allocate memory|out of memory|size calculation overflowed", str(error)):
            raise
        _exit(f"error: out of memory: {str(error).splitlines()[0]:.200}")
    except BrokenPipeError:
        _discard(_STDOUT)
        raise SystemExit(_CLOSED_PIPE) from None
    except OSError as error:
        place = file_of(error) or _working_folder()
        _exit(f"error: {place}: {error.strerror or error}")
    except UnicodeEncodeError as error:  # names of files may have any bytes, and terminals may be limited to ASCII
        # PYTHONUTF8=1 would not replace a PYTHONIOENCODING
        remedy = "rename the file" if error.encoding == "utf-8" else "rename the file, or set PYTHONIOENCODING=utf-8"
        _exit(f"error: {reprlib.repr(error.object)}: cannot be written as {error.encoding} ({error.reason}); {remedy}")


def _exit(line: str, code: int = 1) -> NoReturn:
    try:
        sys.stdout.flush()
    except OSError:
        _discard(_STDOUT)
    message(" ".join(line.split()), style="red")
    raise SystemExit(code)


def _discard(stream: int) -> None:
    """Discard what a standard stream still holds: Python flushes it when it exits, which would be a second error."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream)


def _working_folder() -> str:
    try:
        return str(Path.cwd())
    except FileNotFoundError:
        return "working folder (removed; change to another one)"
