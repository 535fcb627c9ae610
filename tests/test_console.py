"""Lines on stderr: printed as they are."""

import pytest

from paraphrastic.console import message, report_errors
from paraphrastic.errors import DataError

LINE = "path/:dog:/[red]x.txt"


def test_message_with_emoji_codes_and_markup(capsys):
    message(LINE)
    assert capsys.readouterr().err == f"{LINE}\n"


def test_error_with_emoji_codes_and_markup(capsys):
    with pytest.raises(SystemExit), report_errors("interrupted"):
        raise DataError(LINE)
    assert capsys.readouterr().err == f"error: {LINE}\n"
