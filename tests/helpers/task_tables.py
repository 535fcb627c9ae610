"""Tables of supervised tasks on disk."""

from pathlib import Path
from typing import get_args

from paraphrastic.finetuning.tasks import Kind, Task, find_task, load_task
from tests.helpers.benchmark_tables import Rows, write_benchmarks

WORDS = [f"word{n}" for n in range(60)]


def write_tasks(folder: Path, **rows: Rows) -> Path:
    """Write rows by kind as the tables that `find_task` and `load_task` read, others empty; return `folder`."""
    return write_benchmarks(folder, texts=WORDS, **dict.fromkeys(get_args(Kind), ()) | rows)


def read_task(folder: Path, name: str) -> Task:
    """Return the task `name` of the tables in `folder`."""
    return load_task(folder, find_task(folder, name))
