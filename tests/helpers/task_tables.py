"""Tables of supervised tasks on disk."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, get_args

import pyarrow as pa

from paraphrastic.base.tables import SENTENCES, indexed_schema, write_table
from paraphrastic.finetuning.tasks import Kind, Task, find_task, load_task

WORDS = [f"word{n}" for n in range(60)]


def write_tasks(folder: Path, **rows: Sequence[tuple[Any, ...]]) -> Path:
    """Write the tables that `find_task` and `load_task` read; the sentences are the 60 texts WORDS.

    Args:
        folder: where to; returned.
        rows: rows of a table by its kind; other tables are empty.
    """
    write_table(pa.table({"text": WORDS}), folder / "sentences.parquet", SENTENCES)
    for kind in get_args(Kind):
        schema = indexed_schema(kind)
        columns = [pa.array(column) for column in zip(*rows.get(kind, []), strict=True)]
        columns = columns or [pa.array([], field.type) for field in schema]
        write_table(pa.table(dict(zip(schema.names, columns, strict=True))), folder / f"{kind}.parquet", schema)
    return folder


def read_task(folder: Path, name: str) -> Task:
    """Return the task `name` of the tables in `folder`."""
    return load_task(folder, find_task(folder, name))
