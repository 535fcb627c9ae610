"""Run measurements in processes of their own."""

from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any, TypeVar

Result = TypeVar("Result")


def in_own_process(task: Callable[..., Result], *inputs: Any) -> Result:
    """Return the result of `task`, computed in a new process, whose memory and threads no other task has used."""
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        return pool.submit(task, *inputs).result()
