"""Tables on standard output."""

import sys

import pytest

from paraphrastic.cli.output import print_rows

ROWS = [("avg", 3), ("[bold]", 44)]


def test_rows_in_a_pipe(capsys):
    print_rows(("name", "size"), ROWS)
    assert capsys.readouterr().out == "avg\t3\n[bold]\t44\n"


@pytest.mark.parametrize(("header", "first"), [(("name", "size"), "name    size"), (("", ""), "avg     3")])
def test_rows_on_a_terminal(capsys, monkeypatch, header, first):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("TERM", "dumb")
    print_rows(header, ROWS)
    lines = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert lines[0] == first
    assert lines[-2:] == ["avg     3", "[bold]  44"]  # square brackets are no markup
