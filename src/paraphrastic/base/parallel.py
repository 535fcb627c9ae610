"""Compile functions with numba, compute in several threads, and end with the process that started this one.

Arrow and numba release Python's global lock.
"""

import os
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import cache
from types import ModuleType
from typing import Any, TypeVar

import pyarrow as pa
from numpy.typing import NDArray

Array = NDArray[Any]  # an argument of a compiled function
FASTMATH = {"reassoc", "contract", "arcp", "nsz"}  # of numba, without nnan and ninf: a NaN must reach the loss
Function = TypeVar("Function", bound=Callable[..., Any])
Item = TypeVar("Item")
Output = TypeVar("Output")


def njit(**options: Any) -> Callable[[Function], Function]:
    """Return numba's decorator `njit` with `options`, which keeps the machine code where numba can.

    That is beside the module or in the cache folder of the user. numba raises an error if both are read-only.
    """

    def compiled(function: Function) -> Function:
        import numba  # takes 0.3 s; stages that only fetch or check files compile nothing

        try:
            result: Function = numba.njit(cache=True, **options)(function)
        except RuntimeError:  # `cannot cache function`
            result = numba.njit(**options)(function)
        return result

    return compiled


def skip_slow_imports() -> None:
    """Keep Arrow and numba from importing pandas and SciPy, 0.5 s, in a process that runs a command of this package.

    Arrow tries to import pandas when it first converts something, once in Python and once in C++, to recognise objects
    of pandas; `Table.to_pandas` imports it later all the same. numba, if it has been imported, imports SciPy at the
    first call of a function, to multiply matrices in compiled functions, which none of this package does.
    """
    with replaced_module("pandas"):
        with suppress(AttributeError):  # Arrow expects an ImportError, which its compiled code does not get
            pa.array([0])
        pa.array([0]).to_numpy()
    if "numba" in sys.modules:
        with replaced_module("scipy.linalg"):
            import numba.np.arraymath  # noqa: F401  # reads whether there is SciPy


@contextmanager
def replaced_module(name: str, module: ModuleType | None = None) -> Iterator[None]:
    """Let imports of a module find another one, or fail if it is None, unless the module has been imported."""
    if name in sys.modules:
        yield
        return
    sys.modules[name] = module  # type: ignore[assignment]
    try:
        yield
    finally:
        del sys.modules[name]


def end_with(starter: int) -> None:
    """End this process within a second after its parent, which may be killed and then ends nothing itself.

    Args:
        starter: number of the parent.
    """

    def watch() -> None:
        while os.getppid() == starter:
            time.sleep(1)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def in_order(work: Callable[[Item], Output], items: Iterable[Item]) -> Iterator[Output]:
    """Yield `work(item)` for each item, as `map` does, computed by `pyarrow.cpu_count()` threads.

    At most 2 · threads + 1 items are taken ahead of the results, in the thread that takes the results. An error in
    `work` or in `items` is raised after the results of all items before it. `work` must not call this function, because
    all calls share the threads.
    """
    threads = pa.cpu_count()
    if threads == 1:
        yield from map(work, items)
        return
    waiting = deque[Future[Output]]()
    try:
        for future in _submit(work, items, _pool(threads, os.getpid())):
            waiting.append(future)
            if len(waiting) > 2 * threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        for future in waiting:
            future.cancel()


@cache
def _pool(threads: int, process: int) -> ThreadPoolExecutor:
    """Return the threads of a process, which all calls share; a forked process does not have those of its parent."""
    return ThreadPoolExecutor(threads)


def _submit(
    work: Callable[[Item], Output], items: Iterable[Item], pool: ThreadPoolExecutor
) -> Iterator["Future[Output]"]:
    try:
        for item in items:
            yield pool.submit(work, item)
    except Exception as error:  # of any kind: it waits until the results of all items before it are taken
        failed = Future[Output]()
        failed.set_exception(error)
        yield failed
