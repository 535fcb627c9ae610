"""`.ci/outputs.py` compares the output that a page shows with the output of its commands."""

import pytest

from tests.helpers.repository import ROOT, run_python

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


@pytest.fixture
def run(tmp_path):
    """Return a function that runs the script on a page of this content, or on one that does not exist."""
    page = tmp_path / "page.md"

    def run(content, *languages):
        if content is not None:
            page.write_bytes(content if isinstance(content, bytes) else content.encode())
        done = run_python(ROOT / ".ci/outputs.py", page, *languages)
        return done.returncode, done.stdout.replace(str(page), "PAGE"), done.stderr.replace(str(page), "PAGE")

    return run


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
def test_shown_output(run, shown, missing):
    code, printed, _ = run(PAGE.format(shown))
    lines = [line for line in printed.splitlines() if "not printed" in line]
    assert (code, lines) == (int(bool(missing)), [f"PAGE: not printed: {line}" for line in missing])


def test_failing_command(run):
    code, _, errors = run(PAGE.format("").replace("echo", "false"))
    assert code == 1
    assert errors.startswith("error: a block of sh ended with status 1: pip install nothing && false")
    assert run(PAGE.format("[0.475, 300]").replace("echo", "false"), "python")[0] == 0  # sh is not named


@pytest.mark.parametrize(("content", "message"), [(None, "No such file"), (b"\xff", "not UTF-8; save it as UTF-8")])
def test_missing_or_damaged_page(run, content, message):
    code, printed, errors = run(content)
    assert (code, printed) == (1, "")
    assert errors.startswith(f"error: PAGE: {message}")


def test_terminal_and_locale_that_are_not_utf8(run, monkeypatch):
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    code, printed, _ = run("""```sh\nprintf 'é — \\xff\\n'\n```\n\n```text\né — \ufffd\n```\n""")
    assert (code, printed.splitlines()[-1]) == (0, "é — \ufffd")
