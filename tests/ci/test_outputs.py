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
    assert subprocess.run([sys.executable, ROOT / ".ci/outputs.py", page], capture_output=True).returncode != 0
