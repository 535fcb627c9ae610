"""Run a function in several processes, which torch's elastic launcher starts again when one of them dies.

`run_in_processes` starts them on this machine. `torchrun` starts them on one machine or on several.
"""

import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

from paraphrastic.base.errors import ConnectionLostError, ParaphrasticError, ProcessError
from paraphrastic.training.rank import is_member, rank

RESTARTS = 3  # of all processes, after one of them died

Result = TypeVar("Result")
_REFUSALS = ParaphrasticError, OSError, MemoryError  # what is wrong will be wrong again


def run_in_processes(count: int, function: Callable[..., Result], *arguments: Any) -> Result:
    """Call a function in `count` processes of this machine, and return what the first one returns.

    When a process dies, all are started again, so that the function should go on from a checkpoint.

    Args:
        count: number of processes.
        function: of a module, with arguments and a result that can be pickled.
        arguments: of the function.

    Raises:
        ProcessError: a process ended with an error, or died more often than it is started again.
    """
    from torch.distributed.elastic.multiprocessing.api import SignalException
    from torch.distributed.elastic.multiprocessing.errors import ChildFailedError
    from torch.distributed.launcher.api import LaunchConfig, elastic_launch

    for name in ("torch.distributed.elastic", "torch.multiprocessing.spawn"):
        logging.getLogger(name).setLevel(logging.CRITICAL)  # they log tracebacks and each process that is ended
    with TemporaryDirectory() as folder:
        refused = Path(folder, "refused")
        config = LaunchConfig(
            1,
            1,
            count,
            run_id="train",
            rdzv_backend="c10d",
            rdzv_endpoint="localhost:0",
            max_restarts=RESTARTS,
            start_method="spawn",
        )
        try:
            results: dict[int, Result] = elastic_launch(config, _call)(refused, function, *arguments)
        except SignalException as error:
            raise KeyboardInterrupt from error
        except ChildFailedError as error:
            raise ProcessError(_reason(error, refused)) from error
    return results[0]


@contextmanager
def announced_errors() -> Iterator[None]:
    """Tell the processes that `torchrun` started, and which wait for this one, why it cannot start.

    Raises:
        ProcessError: in the first process of each machine.
        SystemExit: in the others.
    """
    try:
        yield
    except ProcessError:  # the others know
        raise
    except _REFUSALS as error:
        if is_member():
            from paraphrastic.training.processes import announce

            announce(str(error))
        raise


def _call(refused: Path, function: Callable[..., Result], *arguments: Any) -> Result:
    """Call the function in a process of the group; what is refused once is not tried again."""
    if refused.exists():
        sys.exit(1)
    try:
        return function(*arguments)
    except ConnectionLostError:
        raise
    except _REFUSALS as error:
        refused.write_text(f"process {rank()}: {error}", encoding="utf-8")
        sys.exit(1)


def _reason(error: Any, refused: Path) -> str:
    if refused.exists():
        return refused.read_text(encoding="utf-8")
    number, failure = error.get_first_failure()
    lines = failure.message.strip().splitlines()
    return f"process {number} died {RESTARTS + 1} times: {lines[-1]}; run the same command again to continue"
