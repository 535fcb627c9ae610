"""Lines on stderr: printed as they are."""

import sys

import pytest

from paraphrastic.base.console import message, print_rows, progress, report_errors
from paraphrastic.base.errors import DataError

LINE = "path/:dog:/[red]x.txt"


def test_message_with_emoji_codes_and_markup(capsys):
    message(LINE)
    assert capsys.readouterr().err == f"{LINE}\n"


def test_error_with_emoji_codes_and_markup(capsys):
    with pytest.raises(SystemExit), report_errors("interrupted"):
        raise DataError(LINE)
    assert capsys.readouterr().err == f"error: {LINE}\n"


def test_text_that_cannot_be_written(capsys):
    with pytest.raises(SystemExit), report_errors("interrupted"):
        ("é" * 1000).encode("ascii")
    line = capsys.readouterr().err
    assert line.startswith("error: 'ééééé")
    assert "é': cannot be written as ascii (ordinal not in range(128)); rename the file, or set PYTHONUTF8=1" in line
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
