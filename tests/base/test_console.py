"""Lines on stderr: printed as they are."""

import signal
import sys
import time
from io import TextIOWrapper
from types import SimpleNamespace

import pytest
from rich.console import Console

from paraphrastic.base import console
from paraphrastic.base.console import message, prepare_process, print_rows, progress, report_errors, time_left
from paraphrastic.base.errors import DataError

LINE = "path/:dog:/[red]x.txt"


def test_message_and_error_with_emoji_codes_and_markup(capsys):
    message(LINE)
    assert capsys.readouterr().err == f"{LINE}\n"
    with pytest.raises(SystemExit), report_errors("interrupted"):
        raise DataError(LINE)
    assert capsys.readouterr().err == f"error: {LINE}\n"


def test_text_that_cannot_be_written(capsys):
    with pytest.raises(SystemExit), report_errors("interrupted"):
        ("é" * 1000).encode("ascii")
    line = capsys.readouterr().err
    assert line.startswith("error: 'ééééé")
    assert (
        "é': cannot be written as ascii (ordinal not in range(128)); rename the file, or set PYTHONIOENCODING=utf-8"
        in line
    )
    assert len(line) < 200


def test_bar_without_a_total_shows_a_count_and_a_rate():
    with progress(visible=True) as bar:
        task = bar.add_task("sentences", total=None)
        bar.advance(task, 1234)
        (row,) = (column.render(bar.tasks[0]) for column in bar.columns if type(column).__name__ == "_Count")
        assert row.plain.startswith("1,234  ")
        assert row.plain.endswith("/s")
        bar.update(task, total=2000)
        (row,) = (column.render(bar.tasks[0]) for column in bar.columns if type(column).__name__ == "_Count")
        assert row.plain == "1234/2000"


@pytest.mark.parametrize("is_terminal", [False, True])
def test_bars_are_shown_on_a_terminal_or_as_wanted(monkeypatch, is_terminal):
    monkeypatch.setattr(Console, "is_terminal", is_terminal)
    assert [progress(visible).disable for visible in (None, True, False)] == [not is_terminal, False, True]


ROWS = [("avg", 3), ("[bold]", 44)]


def test_rows_in_a_pipe(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "10")
    monkeypatch.setenv("FORCE_COLOR", "1")
    print_rows(("name", "size"), [*ROWS, ("x" * 500, "a\tb\r\nc")], ["size"], ["green"] * 3)
    assert capsys.readouterr().out == f"name\tsize\navg\t3\n[bold]\t44\n{'x' * 500}\ta b  c\n"


@pytest.mark.parametrize(
    ("numbers", "expected"), [([], ["avg     3", "[bold]  44"]), (["size"], ["avg        3", "[bold]    44"])]
)
def test_rows_on_a_terminal(capsys, monkeypatch, numbers, expected):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("TERM", "dumb")
    print_rows(("name", "size"), ROWS, numbers)
    lines = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert lines == ["name    size", *expected]  # square brackets are no markup


@pytest.fixture
def minutes(monkeypatch):
    """Return a function that lets minutes pass, in each of which a log looks whether it should write a line."""
    clock, writes = SimpleNamespace(now=0.0, left=0), []

    def wait(seconds):
        clock.now, clock.left = clock.now + seconds, clock.left - 1
        return clock.left < 0

    monkeypatch.setattr(console, "time", SimpleNamespace(monotonic=lambda: clock.now))
    monkeypatch.setattr(console, "Event", lambda: SimpleNamespace(wait=wait, set=int))
    monkeypatch.setattr(console, "Thread", lambda target, daemon: SimpleNamespace(start=lambda: writes.append(target)))
    monkeypatch.setattr(console, "_written", [0.0])

    def passing(count):
        clock.left = count
        for write in writes:
            write()
        clock.now -= 60  # of the wait that ended the log

    return passing


def test_log_has_a_line_after_a_minute_of_silence(capsys, minutes):
    with progress() as bar:
        words, texts, pairs = (bar.add_task(name, total=n) for name, n in (("words", 5), ("texts", 900), ("p", None)))
        minutes(1)
        bar.advance(words, 5)
        bar.advance(texts, 30)
        bar.advance(pairs, 120_000)
        minutes(2)
        bar.advance(texts, 870)
        bar.update(pairs, total=120_000)
        minutes(1)
    assert capsys.readouterr().err.splitlines() == [
        "words: 0 of 5; texts: 0 of 900; p",
        "texts: 30 of 900, 30/min, 29 min left; p: 120,000, 2,000/s",
        "texts: 30 of 900; p: 120,000",
        "words: 5 of 5, 2/min, 0 s left; texts: 900 of 900, 14/s, 0 s left; p: 120,000 of 120,000",
    ]


def test_log_ends_with_what_was_done_since_its_last_line(capsys, minutes):
    with progress() as bar:
        texts, words = bar.add_task("texts", total=900), bar.add_task("words", total=5)
        minutes(1)
        bar.advance(texts, 900)
        minutes(1)
        bar.advance(bar.add_task("pairs", total=9), 9)
        bar.advance(words, 2)
    lines = capsys.readouterr().err.splitlines()
    assert lines[1:] == ["words: 0 of 5", "texts: 900 of 900, 15/s, 0 s left; words: 2 of 5"]


@pytest.mark.usefixtures("minutes")
def test_minute_of_a_log_starts_with_the_display(monkeypatch):
    monkeypatch.setattr(console, "_written", [-1e6])  # the program did something else, or nothing
    with progress():
        assert console.silence() == 0


def test_display_without_a_log(capsys, minutes):
    with progress(logged=False) as training, progress(visible=False) as hidden:
        training.add_task("avg", total=9)
        hidden.add_task("texts", total=9)
        minutes(1)
    assert capsys.readouterr().err == ""


def test_log_ends(capsys, monkeypatch):
    monkeypatch.setattr(console, "LOG_SECONDS", 0.01)
    with progress() as bar:
        bar.add_task("texts", total=9)
        time.sleep(0.1)
    written = capsys.readouterr().err
    time.sleep(0.1)
    assert written.startswith("texts: 0 of 9\n")
    assert len(capsys.readouterr().err.splitlines()) <= 1


@pytest.mark.parametrize("is_buffered", [True, False])
def test_standard_streams_of_a_process(monkeypatch, tmp_path, is_buffered):
    raw = (tmp_path / "out").open("wb", buffering=-1 if is_buffered else 0)
    given = TextIOWrapper(raw, "latin-1", "replace", write_through=not is_buffered)
    monkeypatch.setattr(sys, "stdout", given)
    monkeypatch.setattr(sys, "stdin", None)
    monkeypatch.setattr(sys, "stderr", None)
    before = signal.getsignal(signal.SIGTERM)
    prepare_process()
    assert signal.signal(signal.SIGTERM, before) is signal.default_int_handler
    print("é…")
    assert (tmp_path / "out").read_bytes() == (b"" if is_buffered else b"\xe9?\n")
    sys.stdout.flush()
    assert (tmp_path / "out").read_bytes() == b"\xe9?\n"
    print("discarded", file=sys.stderr, flush=True)
    with pytest.raises(OSError, match="Bad file descriptor"):
        sys.stdin.read()


def test_times_that_are_left():
    assert [time_left(seconds) for seconds in (0.4, 119.0, 600.0)] == ["0 s left", "119 s left", "10 min left"]
