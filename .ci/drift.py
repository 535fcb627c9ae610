"""Compare two metrics files: `python .ci/drift.py COMMITTED NEW`.

Print one line for each number that changed by more than 0.5 or is in one file only; exit with status 1 if there is one.
"""

import argparse
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

from paraphrastic.base.files import flat

TOLERANCE = 0.5  # points; rounding differs between machines


def differences(committed: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """Return one line for each value that is in one file only or has changed."""
    return [
        f"{name}: committed {committed.get(name, 'no value')}, computed {new.get(name, 'no value')}"
        for name in sorted(committed.keys() | new.keys())
        if not (name in committed and name in new and is_same(committed[name], new[name]))
    ]


def is_same(old: Any, new: Any) -> bool:
    """Return whether numbers differ by at most TOLERANCE, and other values not at all; NaN always differs."""
    are_numbers = all(isinstance(value, int | float) for value in (old, new))
    return bool(abs(old - new) <= TOLERANCE if are_numbers else old == new)


def metrics(file: str) -> dict[str, Any]:
    """Return the values of a metrics file by dotted key; exit with one line if it has none."""
    try:
        return flat(json.loads(Path(file).read_text(encoding="utf-8")))
    except OSError as error:
        sys.exit(f"error: {file}: {error.strerror}; run `dvc repro` to compute it, or commit it")
    except (ValueError, AttributeError, RecursionError):
        sys.exit(f"error: {file}: not an object of JSON; is it whole, and was there such a revision?")


def main() -> int:
    """Print the differences and return the exit status."""
    parser = argparse.ArgumentParser(description="Compare two metrics files.")
    parser.add_argument("files", nargs=2, metavar="FILE", help="committed, then computed")
    files = parser.parse_args().files
    sys.stdout.reconfigure(encoding="utf-8", errors="replace")
    committed, new = map(metrics, files)
    lines = differences(committed, new) or ([] if committed else [f"{files[0]}: no metrics are committed"])
    for line in lines:
        print(line)
    return int(bool(lines))


if __name__ == "__main__":
    sys.exit(main())
