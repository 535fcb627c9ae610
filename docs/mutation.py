"""Choose a sample of mutants, and count how many the tests caught.

`mutmut run` stores the mutants of each module, and their results, below `mutants/`.
"""

import json
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer
from mutmut.stats import status_by_exit_code

MUTANTS = Path("mutants/src/paraphrastic")
CAUGHT = ("killed", "timeout", "segfault")

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command()
def sample(per_module: int, seed: int) -> None:
    """Print the names of `per_module` random mutants of each module, all if it has fewer."""
    generator = random.Random(seed)
    for _, results in _modules():
        names = sorted(results)
        print(*generator.sample(names, min(per_module, len(names))), sep="\n")


@app.command()
def table(survivors: Annotated[bool, typer.Option(help="Also print the names of survivors.")] = False) -> None:
    """Print a table with the mutants of each module, how many were tried, and how many were caught."""
    total = Counter[str]()
    print("| module | mutants | tried | caught |\n|---|--:|--:|--:|")
    for module, results in _modules():
        tried = {name: status_by_exit_code[code] for name, code in results.items() if code is not None}
        caught = sum(status in CAUGHT for status in tried.values())
        print(f"| `{module}` | {len(results)} | {len(tried)} | {caught} |")
        total.update(mutants=len(results), tried=len(tried), caught=caught)
    print(f"| all | {total['mutants']} | {total['tried']} | {total['caught']} |")
    if survivors:
        print(*(name for _, results in _modules() for name, code in results.items() if _survived(code)), sep="\n")


def _survived(code: int | None) -> bool:
    return code is not None and status_by_exit_code[code] not in CAUGHT


def _modules() -> Iterator[tuple[str, dict[str, int | None]]]:
    """Yield each module, and the exit codes of the tests by name of a mutant; None for those that were not tried."""
    for path in sorted(MUTANTS.rglob("*.meta")):
        if results := json.loads(path.read_text())["exit_code_by_key"]:
            yield str(path.relative_to(MUTANTS)).removesuffix(".py.meta"), results


if __name__ == "__main__":
    app()
