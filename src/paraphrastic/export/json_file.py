"""Write JSON files of exports."""

import json
from pathlib import Path

from paraphrastic.base.files import write_text


def write_json(path: Path, content: object) -> None:
    """Write `content`, indented, with characters of all scripts as they are."""
    write_text(path, json.dumps(content, ensure_ascii=False, indent=2) + "\n")
