"""Choose a sample of mutants, and count how many the tests caught; see docs/explanation/mutation.md.

    python -m docs.mutation sample 25 1    print the names of 25 random mutants of each module, with seed 1
    python -m docs.mutation table          print the mutants of each module, how many were tried and caught

`mutmut run` writes the mutants of each module, and the results of those that it tried, below `mutants/`.
"""

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

MUTANTS = Path("mutants/src/paraphrastic")
NOT_CAUGHT = (0, 5, 33)  # exit codes in the results: the tests passed, or no test calls the function

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command()
def sample(per_module: int, seed: int) -> None:
    """Print the names of random mutants of each module, of all if it has fewer."""
    generator = random.Random(seed)
    for _, results in _modules():
        names = sorted(results)
        print(*generator.sample(names, min(per_module, len(names))), sep="\n")


@app.command()
def table(survivors: Annotated[bool, typer.Option(help="Also print the names of survivors.")] = False) -> None:
    """Print a table with the mutants of each module, how many were tried, and how many were caught."""
    total, survived = [0, 0, 0], []
    print("| module | mutants | tried | caught |\n|---|--:|--:|--:|")
    for module, results in _modules():
        tried = {name: code for name, code in results.items() if code is not None}
        survived += (names := [name for name, code in tried.items() if code in NOT_CAUGHT])
        counts = [len(results), len(tried), len(tried) - len(names)]
        total = [a + b for a, b in zip(total, counts, strict=True)]
        print(f"| `{module}` |", " | ".join(map(str, counts)), "|")
    print("| all |", " | ".join(map(str, total)), "|")
    if survivors:
        print(*survived, sep="\n")


def _modules() -> Iterator[tuple[str, dict[str, int | None]]]:
    """Yield each module, and the exit codes of the tests by name of a mutant; None for those that were not tried."""
    for path in sorted(MUTANTS.rglob("*.meta")):
        if results := json.loads(path.read_text())["exit_code_by_key"]:
            yield str(path.relative_to(MUTANTS)).removesuffix(".py.meta"), results


if __name__ == "__main__":
    app()
