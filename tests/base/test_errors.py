"""Remedies that messages and pages name."""

import re

from tests.helpers.repository import ROOT


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
