"""Remedies that messages and pages name, and the files that errors are about."""

import re
from pathlib import Path

import pytest

from paraphrastic.base.errors import file_of
from paraphrastic.base.files import atomic_write, sha256_of
from tests.helpers.repository import ROOT

UNREADABLE, FULL = Path("/proc/self/mem"), Path("/dev/full")


def test_no_remedy_installs_from_the_package_index_what_somebody_else_may_own():
    files = [ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
    files += [file for folder in ("src", "pipeline", "docs", ".ci") for file in (ROOT / folder).rglob("*")]
    texts = {
        file: file.read_text(encoding="utf-8") for file in files if file.suffix in ("", ".md", ".py") and file.is_file()
    }
    install = re.compile(r"install\b[^\n;]*?[\s'\"]paraphrastic(\[|['\"\s`]|$)", re.M)
    assert not {str(file): found.group() for file, text in texts.items() if (found := install.search(text))}
    assert install.search("pip install 'paraphrastic[torch]'")
    assert install.search("pip install -U paraphrastic")


@pytest.mark.parametrize(
    ("act", "path"), [(sha256_of, UNREADABLE), (Path.read_bytes, UNREADABLE), (lambda path: path.write_text("a"), FULL)]
)
def test_file_that_failed_while_another_one_is_written(tmp_path, act, path):
    with pytest.raises(OSError, match=r"Input/output error|No space left") as error, atomic_write(tmp_path / "out"):
        act(path)
    assert error.value.filename == str(path)
    assert not list(tmp_path.iterdir())


def test_written_file_of_two():
    def copy():
        with Path(__file__).open("rb") as source, FULL.open("wb", buffering=0) as target:
            target.write(source.read())

    with pytest.raises(OSError, match="No space left") as error:
        copy()
    assert file_of(error.value) == str(FULL)
