"""Tables on standard output: aligned on a terminal, separated by tabs otherwise. Places of files to write."""

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from paraphrastic.base.errors import ParameterError


def print_rows(header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print rows as an aligned table with a header on a terminal; otherwise with tabs and without the header."""
    if not sys.stdout.isatty():
        sys.stdout.writelines("\t".join(map(str, row)) + "\n" for row in rows)
        return
    table = Table(*header, box=None, pad_edge=False, show_header=any(header), header_style="bold")
    for row in rows:
        table.add_row(*map(str, row))
    print_table(table)


def print_table(table: Table) -> None:
    """Print a table with its text as it is: square brackets are no markup."""
    Console(markup=False, highlight=False).print(table)


def refuse_new_folder(path: Path) -> None:
    """Refuse to write to a folder that does not exist: its name may be misspelt.

    Raises:
        ParameterError: it does not.
    """
    if not path.parent.is_dir():
        raise ParameterError(f"{path.parent}: no such folder; create it first")
