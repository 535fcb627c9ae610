"""Start, find and end the processes of one training, with torch's elastic launcher.

`run_in_processes` starts them on this machine. `torchrun` or another launcher that sets the same variables of the
environment starts them on one machine or on several.
"""

import logging
import os
import socket
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from paraphrastic.base.errors import ConnectionLostError, ParaphrasticError, ProcessError
from paraphrastic.base.parallel import end_with

if TYPE_CHECKING:
    import torch

    from paraphrastic.training.processes import Processes

RESTARTS = 3  # of all processes, after one of them died

Result = TypeVar("Result")
_ADDRESS = "RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"  # with these a process finds the others of its group
_REFUSALS = ParaphrasticError, OSError, MemoryError  # what is wrong will be wrong again


class Member(NamedTuple):
    """A process of a group.

    Attributes:
        host: name of its machine.
        run: a hash of each thing that determines what it computes, by name.
        problem: why it cannot start; empty if it can.
    """

    host: str
    run: Mapping[str, str]
    problem: str = ""


def is_member() -> bool:
    """Return whether a launcher started this process as one of a group."""
    return all(name in os.environ for name in _ADDRESS)


def rank() -> int:
    """Return the number of this process in its group; 0 without one."""
    return _number("RANK", 0)


def world_size() -> int:
    """Return how many processes the group has; 1 without one."""
    return _number("WORLD_SIZE", 1)


def local_rank() -> int:
    """Return the number of this process among those of its group on this machine; 0 without a group."""
    return _number("LOCAL_RANK", 0)


def nodes() -> int:
    """Return on how many machines the group runs, as far as its launcher says; 1 without a group."""
    return _number("GROUP_WORLD_SIZE", 1)


def run_in_processes(count: int, function: Callable[..., Result], *arguments: Any) -> Result:
    """Call a function in `count` processes of this machine, and return what the first one returns.

    When a process dies, all are started again, so that the function should go on from a checkpoint. When this process
    dies, they end too.

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
            launch = elastic_launch(config, _call)
            results: dict[int, Result] = launch(os.getpid(), refused, function, *arguments)
        except SignalException as error:
            raise KeyboardInterrupt from error
        except ChildFailedError as error:
            raise ProcessError(_reason(error, refused)) from error
    return results[0]


def join(device: "torch.device", run: Mapping[str, str] = MappingProxyType({})) -> "Processes":
    """Join the group that started this process: over NCCL on GPUs, over gloo on CPUs. One process if there is none.

    Args:
        device: of this process.
        run: a hash of each thing that determines what this process computes, by name.

    Raises:
        ProcessError: another process computes something else, cannot start, or does not come.
    """
    from torch import distributed

    from paraphrastic.training.processes import Processes, ProcessGroup

    if not is_member():
        return Processes()
    if not distributed.is_initialized():
        _meet(device, Member(socket.gethostname(), {**run}))
    return ProcessGroup()


def leave() -> None:
    """Wait for the other processes of the group, and end the connections."""
    from torch import distributed

    from paraphrastic.training.processes import connected

    with connected():
        distributed.barrier()
        distributed.destroy_process_group()


@contextmanager
def announced_errors() -> Iterator[None]:
    """Tell the processes that `torchrun` started, and which wait for this one, why it cannot start.

    Raises:
        ProcessError: in the first process of each machine.
        SystemExit: in the others.
    """
    if "TORCHELASTIC_RUN_ID" in os.environ:
        end_with(os.getppid())
    try:
        yield
    except ProcessError:  # the others know
        raise
    except _REFUSALS as error:
        if is_member():
            from torch import device, distributed

            if not distributed.is_initialized():
                _meet(device("cpu"), Member(socket.gethostname(), {}, str(error)))
        raise


def refuse_differences(members: Sequence[Member]) -> None:
    """Refuse processes of which one cannot start, or which would not compute the same.

    Raises:
        ProcessError: names the process and its problem, or in what it differs from process 0.
    """
    for number, each in enumerate(members):
        if each.problem:
            raise ProcessError(f"process {number} on {each.host} cannot start: {each.problem}")
    first = members[0]
    for number, each in enumerate(members):
        names = [name for name, value in first.run.items() if each.run.get(name) != value]
        if names:
            raise ProcessError(
                f"process {number} on {each.host} differs from process 0 on {first.host} in {', '.join(names)}: all "
                "machines need the same commit, params.yaml and data"
            )


def _meet(device: "torch.device", member: Member) -> None:
    """Connect the processes; of several of a machine that refuse, one says why."""
    import torch
    from torch import distributed

    from paraphrastic.training.processes import connected

    if rank() >= world_size():
        raise ProcessError(f"environment variables RANK = {rank()}, WORLD_SIZE = {world_size()}: ranks start at 0")
    if device.type == "cuda":
        torch.cuda.set_device(device)
    members = [member] * world_size()
    with connected():  # objects are exchanged by gloo, which a process that has no GPU can use too
        distributed.init_process_group("cpu:gloo,cuda:nccl" if device.type == "cuda" else "gloo")
        distributed.all_gather_object(members, member)
    try:
        refuse_differences(members)
    except ProcessError as error:
        if local_rank() > 0:
            raise SystemExit(1) from error
        raise


def _call(starter: int, refused: Path, function: Callable[..., Result], *arguments: Any) -> Result:
    """Call the function in a process of the group; what is refused once is not tried again."""
    end_with(starter)
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


def _number(name: str, default: int) -> int:
    """Return a number that the launcher has set; the default without a launcher."""
    text = os.environ.get(name, str(default)) if is_member() else str(default)
    if not text.isdecimal():
        raise ProcessError(f"environment variable {name} = {text!r}: should be a number; torchrun sets it, or unset it")
    return int(text)
