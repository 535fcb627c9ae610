"""Data-parallel training: several processes compute shares of each mini-batch and take the same step.

Every process has the whole model, draws the same mini-batches and the same noise, and encodes a share of the
sentences. Sentence vectors are gathered, so that negatives come from the whole mini-batch, and every process computes
the same loss. The gradient of each vector then goes back through the process that encoded it, and the gradients of all
processes are added: for the embedding table those of the rows that the mini-batch uses. The steps of pair models are
not divided: every process computes all.
"""

from collections.abc import Callable, Iterable, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, distributed
from torch.distributed.rendezvous import rendezvous

from paraphrastic.nn.batch import Batch
from paraphrastic.training.rank import is_member, starts


class Processes:
    """One process, which computes everything.

    Attributes:
        rank: number of this process, from 0.
        size: number of processes.
    """

    rank, size = 0, 1

    def encode(self, encode: Callable[[Batch], Tensor], batch: Batch) -> Tensor:
        """Return the vectors of the sentences of a mini-batch, (B, out_dim).

        Args:
            encode: maps some sentences to their vectors.
            batch: all sentences.
        """
        return encode(batch)

    def sum_gradients(self, parameters: Iterable[Tensor], leaf: Tensor, ids: Tensor) -> None:
        """Add the gradients of all processes.

        Args:
            parameters: of the modules that encode.
            leaf: the embeddings, (rows, dim).
            ids: the rows of the mini-batch, (N,).
        """

    def agree(self, score: Callable[[], float]) -> float:
        """Return what the first process computes."""
        return score()


class ProcessGroup(Processes):
    """The processes of the group of torch.distributed that this one has joined."""

    def __init__(self) -> None:
        self.rank, self.size = distributed.get_rank(), distributed.get_world_size()
        self._is_divided = False  # the mini-batch of the current step

    def encode(self, encode: Callable[[Batch], Tensor], batch: Batch) -> Tensor:
        """Return the vectors of all sentences, (B, out_dim); the gradient flows into those of this process."""
        self._is_divided = len(batch) >= self.size
        if not self._is_divided:
            return encode(batch)
        bounds = share_bounds(batch.host_offsets, self.size)
        own = encode(batch.part(bounds[self.rank], bounds[self.rank + 1]))
        return self._gathered(own, np.diff(bounds).tolist())

    def _gathered(self, own: Tensor, counts: Sequence[int]) -> Tensor:
        sent = own.new_zeros(max(counts), own.shape[1])  # all send as many rows
        sent[: len(own)] = own.detach()
        received = [torch.empty_like(sent) for _ in counts]
        distributed.all_gather(received, sent)
        parts = [part[:count] for part, count in zip(received, counts, strict=True)]
        parts[self.rank] = own
        return torch.cat(parts)

    def sum_gradients(self, parameters: Iterable[Tensor], leaf: Tensor, ids: Tensor) -> None:
        """Add the gradients of all processes, of the embeddings those of the rows `ids`."""
        if not self._is_divided:
            return
        gradients = [_gradient(parameter) for parameter in parameters if parameter.requires_grad]
        if gradients:
            flat = torch.cat([gradient.reshape(-1) for gradient in gradients])
            distributed.all_reduce(flat)
            parts = flat.split([gradient.numel() for gradient in gradients])
            for gradient, part in zip(gradients, parts, strict=True):
                gradient.copy_(part.view_as(gradient))
        if leaf.requires_grad:
            rows, gradient = ids.unique(), _gradient(leaf)
            touched = gradient.index_select(0, rows)
            distributed.all_reduce(touched)
            gradient.index_copy_(0, rows, touched)

    def agree(self, score: Callable[[], float]) -> float:
        """Return what the first process computes; the others wait."""
        scores = [score() if self.rank == 0 else 0.0]
        distributed.broadcast_object_list(scores)
        return scores[0]


def share_bounds(offsets: NDArray[np.int64], size: int) -> list[int]:
    """Divide sentences among processes so that each has about as many ids and at least one sentence.

    Args:
        offsets: (B + 1,), where each of B sentences starts in their ids; B is at least `size`.
        size: number of processes.

    Returns:
        Number of the first sentence of each process, and B, (size + 1,).
    """
    count, bounds = len(offsets) - 1, [0]
    for rank in range(1, size):
        nearest = int(np.searchsorted(offsets, offsets[-1] * rank / size))
        bounds.append(min(max(nearest, bounds[-1] + 1), count - (size - rank)))
    return [*bounds, count]


def join(device: torch.device) -> Processes:
    """Join the group that started this process: over NCCL on GPUs, over gloo on CPUs. One process if there is none."""
    if not is_member():
        return Processes()
    if not distributed.is_initialized():
        store, number, size = next(rendezvous("env://"))
        # the launcher keeps one store, in which a process would find addresses of processes that died
        store = distributed.PrefixStore(f"start {starts()}", store)  # type: ignore[attr-defined]  # it is public
        backend = "nccl" if device.type == "cuda" else "gloo"
        distributed.init_process_group(backend, store=store, rank=number, world_size=size)
    return ProcessGroup()


def _gradient(tensor: Tensor) -> Tensor:
    if tensor.grad is None:
        tensor.grad = torch.zeros_like(tensor)
    return tensor.grad
