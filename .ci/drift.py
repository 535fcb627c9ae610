"""Compare two metrics files: `python .ci/drift.py COMMITTED NEW`.

Print one line for each number that changed by more than 0.5 or is in one file only; exit with status 1 if there is one.
"""

import json
import sys
from pathlib import Path

import pandas as pd

TOLERANCE = 0.5  # points; rounding differs between machines


def differences(committed: dict[str, float], new: dict[str, float]) -> list[str]:
    """Return one line for each number that is in one file only or differs by more than TOLERANCE; NaN always does."""
    return [
        f"{name}: committed {committed.get(name, 'no value')}, computed {new.get(name, 'no value')}"
        for name in sorted(committed.keys() | new.keys())
        if not (name in committed and name in new and abs(committed[name] - new[name]) <= TOLERANCE)
    ]


def main(committed_file: str, new_file: str) -> int:
    """Print the differences and return the exit status."""
    trees = (json.loads(Path(file).read_text()) for file in (committed_file, new_file))
    committed, new = (pd.json_normalize(tree).to_dict("records")[0] for tree in trees)
    lines = differences(committed, new) or ([] if committed else [f"{committed_file}: no metrics are committed"])
    for line in lines:
        print(line)
    return int(bool(lines))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
