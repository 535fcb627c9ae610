"""`.ci/outputs.py` compares the output that a page shows with the output of its commands."""

import subprocess
import sys

import pytest

from tests.helpers.repository import ROOT

PAGE = """
```sh
pip install nothing && echo 'sets  5   r=55.33' >&2
```

```python
print([0.475, 300])
```

```yaml
not: run
```

```text
{}
```
"""


@pytest.mark.parametrize(
    ("shown", "missing"),
    [
        ("sets 5 r=55.33\n[0.475, 300]", []),
        ("sets 5 r=55.6", []),
        ("sets 5 r=55.9", ["sets 5 r=55.9"]),
        ("[0.69, 300]", ["[0.69, 300]"]),
        ("bags 5 r=55.33\nsets 5", ["bags 5 r=55.33", "sets 5"]),
    ],
)
def test_shown_output(tmp_path, shown, missing):
    page = tmp_path / "page.md"
    page.write_text(PAGE.format(shown))
    done = subprocess.run([sys.executable, ROOT / ".ci/outputs.py", page], capture_output=True, text=True)
    lines = [line for line in done.stdout.splitlines() if "not printed" in line]
    assert (done.returncode, lines) == (int(bool(missing)), [f"{page}: not printed: {line}" for line in missing])


def test_languages_that_are_not_named(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(PAGE.format("[0.475, 300]").replace("echo", "false"))
    command = [sys.executable, ROOT / ".ci/outputs.py", page, "python"]
    assert subprocess.run(command, capture_output=True).returncode == 0


def test_failing_command(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(PAGE.format("").replace("echo", "false"))
    done = subprocess.run([sys.executable, ROOT / ".ci/outputs.py", page], capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.startswith("error: a block of sh ended with status 1: pip install nothing && false")


@pytest.mark.parametrize(("content", "message"), [(None, "No such file"), (b"\xff", "not UTF-8; save it as UTF-8")])
def test_missing_or_damaged_page(tmp_path, content, message):
    page = tmp_path / "page.md"
    if content is not None:
        page.write_bytes(content)
    done = subprocess.run([sys.executable, ROOT / ".ci/outputs.py", page], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(f"error: {page}: {message}")


def test_terminal_and_locale_that_are_not_utf8(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    page = tmp_path / "page.md"
    page.write_text("""```sh\nprintf 'é — \\xff\\n'\n```\n\n```text\né — \ufffd\n```\n""", encoding="utf-8")
    done = subprocess.run([sys.executable, ROOT / ".ci/outputs.py", page], capture_output=True, text=True)
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "é — \ufffd")
