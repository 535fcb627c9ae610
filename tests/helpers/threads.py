"""Another number of threads than the processor has."""

from collections.abc import Iterator
from contextlib import contextmanager

import pyarrow as pa


@contextmanager
def threads(count: int) -> Iterator[None]:
    """Use `count` threads, in Arrow and wherever `pyarrow.cpu_count()` decides."""
    before = pa.cpu_count()
    pa.set_cpu_count(count)
    try:
        yield
    finally:
        pa.set_cpu_count(before)
