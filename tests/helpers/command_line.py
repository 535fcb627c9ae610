"""Run the command `paraphrastic`, and check its errors."""

import subprocess
import sys
from typing import Any

from typer.testing import Result

MAIN = "from paraphrastic.cli.main import main; main()"


def start_python(code: str, *arguments: str, **options: Any) -> "subprocess.Popen[str]":
    """Start a Python process."""
    return subprocess.Popen([sys.executable, "-c", code, *arguments], text=True, **options)


def assert_refused(result: Result, *messages: str) -> None:
    """Check that a command ended with status 1 and one line on stderr that contains `messages`."""
    assert result.exit_code == 1, result.output
    assert result.stderr.startswith("error: ")
    assert result.stderr.count("\n") == 1
    for message in messages:
        assert message in result.stderr
