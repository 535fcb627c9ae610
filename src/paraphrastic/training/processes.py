"""Data-parallel training: several processes compute shares of each mini-batch and take the same step.

Every process has the whole model, draws the same mini-batches and the same noise, and encodes a share of the
sentences. Sentence vectors are gathered, so that negatives come from the whole mini-batch, and every process computes
the loss of a part of the sentences. The gradients of the vectors are added and go back through the process that encoded
them, and the gradients of all processes are added: for the embedding table those of the rows that the step uses, which
all processes know. The steps of pair models are not divided: every process computes all.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, distributed

from paraphrastic.base.errors import ConnectionLostError
from paraphrastic.nn.batch import Batch
from paraphrastic.training.embedding_optimizers import EmbeddingOptimizer
from paraphrastic.training.optimizers import gradient_of

State = dict[str, Any]  # of a training run


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

    def own(self, count: int) -> slice:
        """Return which of `count` sentences of a mini-batch this process computes the loss of."""
        return slice(count * self.rank // self.size, count * (self.rank + 1) // self.size)

    def sum(self, loss: Tensor) -> Tensor:
        """Return the sum of what the processes compute of a loss."""
        return loss

    def sum_gradients(self, parameters: Iterable[Tensor], embeddings: EmbeddingOptimizer) -> None:
        """Add the gradients of all processes.

        Args:
            parameters: of the module that encodes.
            embeddings: the table that it reads; the gradient of the rows that the step has gathered is added.
        """

    def agree(self, score: Callable[[], float]) -> float:
        """Return what the first process computes."""
        return score()

    def newest(self, state: State | None, digest: str) -> State | None:
        """Return the state of the process that has come farthest; None if no process has one.

        Args:
            state: of this process, with the key `step`.
            digest: a hash of it; empty without a state.
        """
        return state


class ProcessGroup(Processes):
    """The processes of the group of torch.distributed that this one has joined."""

    def __init__(self) -> None:
        self.rank, self.size = distributed.get_rank(), distributed.get_world_size()

    def encode(self, encode: Callable[[Batch], Tensor], batch: Batch) -> Tensor:
        """Return the vectors of all sentences, (B, out_dim); the gradient flows into those of this process.

        A mini-batch with fewer sentences than processes is encoded by all, and the gradient is that of the first one.
        """
        if len(batch) < self.size:
            vectors = encode(batch)
            vectors.register_hook(lambda gradient: self.sum(gradient) * (self.rank == 0))
            return vectors
        bounds = share_bounds(batch.host_offsets, self.size)
        own = encode(batch.part(bounds[self.rank], bounds[self.rank + 1]))
        vectors = self._gathered(own, np.diff(bounds).tolist())
        vectors.register_hook(self.sum)
        return vectors

    def sum(self, loss: Tensor) -> Tensor:
        """Return the sum of what the processes compute of a loss, or of a gradient."""
        total = loss.clone(memory_format=torch.contiguous_format)
        _add(total)
        return total

    def _gathered(self, own: Tensor, counts: Sequence[int]) -> Tensor:
        sent = own.new_zeros(max(counts), own.shape[1])  # all send as many rows
        sent[: len(own)] = own.detach()
        received = [torch.empty_like(sent) for _ in counts]
        with connected():
            distributed.all_gather(received, sent)
        parts = [part[:count] for part, count in zip(received, counts, strict=True)]
        parts[self.rank] = own
        return torch.cat(parts)

    def sum_gradients(self, parameters: Iterable[Tensor], embeddings: EmbeddingOptimizer) -> None:
        """Add the gradients of all processes."""
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
        with connected():
            distributed.broadcast_object_list(scores)
        return scores[0]

    def newest(self, state: State | None, digest: str) -> State | None:
        """Return the state of the process that has come farthest, which sends it if not all have read the same file."""
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

    Args:
        offsets: (B + 1,), where each of B sentences starts in their ids; B is at least `size`.
        size: number of processes.

    Returns:
        Number of the first sentence of each process, and B, (size + 1,).
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
