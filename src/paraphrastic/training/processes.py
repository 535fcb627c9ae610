"""Data-parallel training: several processes compute shares of each mini-batch and take the same step.

Every process has the whole model, draws the same mini-batches and the same noise, and encodes a share of the
sentences. Sentence vectors are gathered, so that negatives come from the whole mini-batch, and every process computes
the loss of a part of the sentences. The gradients of the vectors are added and go back through the process that encoded
them, and the gradients of all processes are added: for the embedding table those of the rows that the step uses, which
all processes know. The steps of pair models are not divided: every process computes all.

`run_in_processes` starts the processes on this machine. `torchrun` or another launcher that sets the same variables of
the environment starts them on one machine or on several.
"""

import logging
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, distributed

from paraphrastic.base.errors import ConnectionLostError, ParaphrasticError, ProcessError
from paraphrastic.base.parallel import end_with
from paraphrastic.nn.batch import Batch
from paraphrastic.training.embedding_optimizers import EmbeddingOptimizer
from paraphrastic.training.optimizers import gradient_of

RESTARTS = 3  # of all processes, after one of them died

State = dict[str, Any]  # of a training run
Result = TypeVar("Result")
_ADDRESS = "RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"  # with these a process finds the others of its group
_REFUSALS = ParaphrasticError, OSError, MemoryError  # what is wrong will be wrong again


class Processes:
    """The processes that divide the mini-batches; this one alone by default.

    Attributes:
        rank: number of this process, from 0.
        size: number of processes.
    """

    def __init__(self, rank: int = 0, size: int = 1) -> None:
        self.rank, self.size = rank, size

    def encode(self, encode: Callable[[Batch], Tensor], batch: Batch) -> Tensor:
        """Return the vectors of all sentences of a mini-batch, (B, out_dim).

        The gradient flows into those that this process encodes. A mini-batch with fewer sentences than processes is
        encoded by all, and the gradient is that of the first one.
        """
        if self.size == 1:
            return encode(batch)
        if len(batch) < self.size:
            vectors = encode(batch)
            vectors.register_hook(lambda gradient: self.sum(gradient) * (self.rank == 0))
            return vectors
        bounds = share_bounds(batch.host_offsets, self.size)
        own = encode(batch.part(bounds[self.rank], bounds[self.rank + 1]))
        vectors = self._gathered(own, np.diff(bounds).tolist())
        vectors.register_hook(self.sum)
        return vectors

    def _gathered(self, own: Tensor, counts: Sequence[int]) -> Tensor:
        sent = own.new_zeros(max(counts), own.shape[1])  # all send as many rows
        sent[: len(own)] = own.detach()
        received = [torch.empty_like(sent) for _ in counts]
        with connected():
            distributed.all_gather(received, sent)
        parts = [part[:count] for part, count in zip(received, counts, strict=True)]
        parts[self.rank] = own
        return torch.cat(parts)

    def own(self, count: int) -> slice:
        """Return which of `count` sentences of a mini-batch this process computes the loss of."""
        return slice(count * self.rank // self.size, count * (self.rank + 1) // self.size)

    def sum(self, loss: Tensor) -> Tensor:
        """Return the sum of what the processes compute of a loss, or of a gradient."""
        if self.size == 1:
            return loss
        total = loss.clone(memory_format=torch.contiguous_format)
        _add(total)
        return total

    def sum_gradients(self, parameters: Iterable[Tensor], embeddings: EmbeddingOptimizer) -> None:
        """Add the gradients of all processes: of the parameters, and of the rows that the step has gathered."""
        if self.size == 1:
            return
        gradients = [gradient_of(parameter) for parameter in parameters if parameter.requires_grad]
        if gradients:
            flat = torch.cat([gradient.reshape(-1) for gradient in gradients])
            _add(flat)
            parts = flat.split([gradient.numel() for gradient in gradients])
            for gradient, part in zip(gradients, parts, strict=True):
                gradient.copy_(part.view_as(gradient))
        embeddings.reduce_gradient(_add)

    def agree(self, score: Callable[[], float]) -> float:
        """Return what the first process computes; the others wait."""
        scores = [score() if self.rank == 0 else 0.0]
        if self.size > 1:
            with connected():
                distributed.broadcast_object_list(scores)
        return scores[0]

    def newest(self, state: State | None, digest: str) -> State | None:
        """Return the state of the process that has come farthest, which sends it if not all have read the same file.

        `digest` is a hash of the state of this process, which has the key `step`; empty without a state.
        """
        if self.size == 1:
            return state
        own, known = (state["step"] if state else 0, digest), [(0, "")] * self.size
        with connected():
            distributed.all_gather_object(known, own)
            if len(set(known)) == 1:
                return state
            states = [state]
            distributed.broadcast_object_list(states, known.index(max(known)))
        return states[0]


def share_bounds(offsets: NDArray[np.int64], size: int) -> list[int]:
    """Divide sentences among processes so that each has about as many ids and at least one sentence.

    Returns the number of the first sentence of each process, and B, (size + 1,), from `offsets` (B + 1,), where each of
    B sentences starts in their ids; B is at least `size`.
    """
    count, bounds = len(offsets) - 1, [0]
    for number in range(1, size):
        nearest = int(np.searchsorted(offsets, offsets[-1] * number / size))
        bounds.append(min(max(nearest, bounds[-1] + 1), count - (size - number)))
    return [*bounds, count]


def _add(gradient: Tensor) -> None:
    with connected():
        distributed.all_reduce(gradient)


@contextmanager
def connected() -> Iterator[None]:
    """Say in one line that another process cannot be reached.

    Raises:
        ConnectionLostError: torch has raised what it raises then.
    """
    try:
        yield
    except (RuntimeError, ValueError) as error:
        reason = next(iter(str(error).splitlines()), type(error).__name__)
        raise ConnectionLostError(
            f"process {os.environ.get('RANK', 0)} has no connection to the others; run the same command again to "
            f"continue ({reason})"
        ) from error


class Member(NamedTuple):
    """A process of a group."""

    host: str  # name of its machine
    run: Mapping[str, str]  # a hash of each thing that determines what it computes, by name
    problem: str = ""  # why it cannot start


def is_member() -> bool:
    """Return whether a launcher started this process as one of a group."""
    return all(name in os.environ for name in _ADDRESS)


def _number(name: str, default: int) -> int:
    """Return a number that the launcher has set; the default without a launcher."""
    text = os.environ.get(name, str(default)) if is_member() else str(default)
    if not text.isdecimal():
        raise ProcessError(f"environment variable {name} = {text!r}: should be a number; torchrun sets it, or unset it")
    return int(text)


rank = partial(_number, "RANK", 0)  # number of this process in its group
world_size = partial(_number, "WORLD_SIZE", 1)  # how many processes the group has
local_rank = partial(_number, "LOCAL_RANK", 0)  # number of this process among those of its group on this machine
nodes = partial(_number, "GROUP_WORLD_SIZE", 1)  # on how many machines the group runs, as far as its launcher says


def run_in_processes(count: int, function: Callable[..., Result], *arguments: Any) -> Result:
    """Call a function in `count` processes of this machine, and return what the first one returns.

    When a process dies, all are started again, so that the function should go on from a checkpoint. When this process
    dies, they end too. The function is one of a module; its arguments and its result can be pickled.

    Raises:
        ProcessError: a process ended with an error, or died more often than it is started again.
    """
    from torch.distributed.elastic.multiprocessing.api import DefaultLogsSpecs, SignalException
    from torch.distributed.elastic.multiprocessing.errors import ChildFailedError
    from torch.distributed.launcher.api import LaunchConfig, elastic_launch

    for name in ("torch.distributed.elastic", "torch.multiprocessing.spawn"):
        logging.getLogger(name).setLevel(logging.CRITICAL)  # they log tracebacks and each process that is ended
    with TemporaryDirectory() as folder, _kept_signal_handlers():
        refused = Path(folder, "refused")
        meeting: Any = {"run_id": "train", "rdzv_backend": "c10d", "rdzv_endpoint": "localhost:0"}
        logs = DefaultLogsSpecs(log_dir=folder)  # its own folder is not removed
        config = LaunchConfig(1, 1, count, **meeting, max_restarts=RESTARTS, start_method="spawn", logs_specs=logs)
        try:
            launch = elastic_launch(config, _call)
            results: dict[int, Result] = launch(os.getpid(), refused, function, *arguments)
        except SignalException as error:
            raise KeyboardInterrupt from error
        except ChildFailedError as error:
            if refused.exists():
                raise ProcessError(refused.read_text(encoding="utf-8")) from error
            number, failure = error.get_first_failure()
            found: Any = failure.message  # a text after a signal, a dict after an exception
            reason = (found["message"] if isinstance(found, dict) else found).strip().splitlines()[-1]
            raise ProcessError(
                f"process {number} died {RESTARTS + 1} times: {reason}; run the same command again to continue"
            ) from error
    return results[0]


@contextmanager
def _kept_signal_handlers() -> Iterator[None]:
    """Give signals the handlers back that torch replaces when it starts processes."""
    signals = signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT
    handlers = {each: handler for each in signals if (handler := signal.getsignal(each)) is not None}
    try:
        yield
    finally:
        if threading.current_thread() is threading.main_thread():  # elsewhere torch replaces none
            for each, handler in handlers.items():
                signal.signal(each, handler)


def join(device: torch.device, run: Mapping[str, str] = MappingProxyType({})) -> Processes:
    """Join the group that started this process: over NCCL on GPUs, over gloo on CPUs. One process if there is none.

    `run` has a hash of each thing that determines what this process computes, by name.

    Raises:
        ProcessError: another process computes something else, cannot start, or does not come.
    """
    if not is_member():
        return Processes()
    if not distributed.is_initialized():
        _meet(device, Member(socket.gethostname(), {**run}))
    return Processes(distributed.get_rank(), distributed.get_world_size())


def leave() -> None:
    """Wait for the other processes of the group, and end the connections."""
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
        if is_member() and not distributed.is_initialized():
            _meet(torch.device("cpu"), Member(socket.gethostname(), {}, str(error)))
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


def _meet(device: torch.device, member: Member) -> None:
    """Connect the processes; of several of a machine that refuse, one says why."""
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
