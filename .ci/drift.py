"""Compare two metrics files: `python .ci/drift.py COMMITTED NEW`.

Print one line for each number that changed by more than 0.5 or is in one file only; exit with status 1 if there is one.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

TOLERANCE = 0.5  # points; rounding differs between machines


def flatten(tree: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, float]]:
    """Yield the numbers of nested mappings with their dotted names."""
    for key, value in tree.items():
        if isinstance(value, dict):
            yield from flatten(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def differences(committed: dict[str, float], new: dict[str, float]) -> list[str]:
    """Return one line for each number that is in one file only or differs by more than TOLERANCE; NaN always does."""
    return [
        f"{name}: committed {committed.get(name, 'no value')}, computed {new.get(name, 'no value')}"
        for name in sorted(committed.keys() | new.keys())
        if not (name in committed and name in new and abs(committed[name] - new[name]) <= TOLERANCE)
    ]


def main(committed_file: str, new_file: str) -> int:
    """Print the differences and return the exit status."""
    committed, new = (dict(flatten(json.loads(Path(file).read_text()))) for file in (committed_file, new_file))
    lines = differences(committed, new) or ([] if committed else [f"{committed_file}: no metrics are committed"])
    for line in lines:
        print(line)
    return int(bool(lines))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
