"""Rows in batches, with a progress bar."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from paraphrastic.base.errors import ParameterError


def batches(count: int, size: int, progress: bool | None) -> Iterator[slice]:
    """Yield slices of `size` that cover `count` rows, and advance a progress bar after each."""
    if size < 1:
        raise ParameterError(f"batch_size = {size}: should be 1 or more")
    if progress is None:
        progress = count > size and sys.stderr.isatty()
    with _progress_bar(count, progress) as advance:
        for start in range(0, count, size):
            yield slice(start, start + size)
            advance(min(size, count - start))


@contextmanager
def _progress_bar(count: int, visible: bool) -> Iterator[Callable[[int], object]]:
    """Yield a function that advances a progress bar; it does nothing if the bar is not visible."""
    if not visible:
        yield lambda _: None
        return
    from paraphrastic.base import console  # imports rich, which encoding does not need

    with console.progress(visible=True) as bar:
        task = bar.add_task("sentences", total=count)
        yield lambda rows: bar.advance(task, rows)
