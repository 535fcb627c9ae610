"""Optimizers of an embedding table: sparse on the CPU, dense on other devices, none if it is frozen.

A table of words is Ww of the papers, whose penalty is λw. A table of n-grams or characters belongs to Wc, whose penalty
is λc. The caller chooses the penalty.
"""

import math
from collections.abc import Callable
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from paraphrastic.training.optimizers import DenseOptimizer, L2Penalty, SparseRowOptimizer, gradient_of


class EmbeddingOptimizer(Protocol):
    """Updates an embedding table (rows, dim). Steps are counted from 1.

    Attributes:
        weights: the table. Rows may lag behind until `flush` is called.
    """

    weights: Tensor

    def gather(self, ids: Tensor, step: int) -> tuple[Tensor, Tensor]:
        """Return a leaf tensor with at least the rows `ids`, as they are before `step`, and the row of each id in it.

        The leaf collects the gradient of the step. A further call in the same step returns a leaf with the rows and
        the gradient of the earlier ones too.
        """
        ...

    def reduce_gradient(self, reduce: Callable[[Tensor], None]) -> None:
        """Call `reduce`, which changes its argument, with the gradient of all rows that the step has gathered."""
        ...

    def update(self, step: int) -> None:
        """Update the rows that the step has gathered with the gradient of the last leaf."""
        ...

    def flush(self, step: int) -> None:
        """Apply all updates up to `step` to every row."""
        ...

    def state(self) -> dict[str, Tensor]:
        """Return everything that `restore` needs to continue bit-identically."""
        ...

    def restore(self, state: dict[str, Tensor]) -> None:
        """Continue from what `state` returned."""
        ...


def embedding_optimizer(
    weights: Tensor, learning_rates: NDArray[np.float64], optimizer: str, penalty: L2Penalty
) -> EmbeddingOptimizer:
    """Choose the optimizer for an embedding table: sparse on the CPU, dense on other devices, none if it is frozen.

    Args:
        weights: (rows, dim), updated in place.
        learning_rates: the learning rate of every step of the run.
        optimizer: `adam`, `adagrad` or `sgd`. SGD has momentum, which moves all rows in every step, so it is dense.
        penalty: an infinite strength freezes the table.
    """
    if math.isinf(penalty.strength):
        return FrozenEmbeddings(weights)
    if weights.device.type == "cpu" and optimizer != "sgd":
        return SparseRowOptimizer(weights, learning_rates, optimizer, penalty)
    return DenseEmbeddingOptimizer(weights, learning_rates, optimizer, penalty)


class DenseEmbeddingOptimizer:
    """Updates all rows in every step, which a GPU does faster than gathering rows.

    Args: those of `embedding_optimizer`.
    """

    def __init__(
        self, weights: Tensor, learning_rates: NDArray[np.float64], optimizer: str, penalty: L2Penalty
    ) -> None:
        self.weights, self._learning_rates = weights, learning_rates
        self._leaf = weights.requires_grad_()
        self._optimizer = DenseOptimizer([self._leaf], optimizer, penalty)
        self._step, self._gathered = 0, list[Tensor]()  # the ids of each call of `gather` in a step

    def gather(self, ids: Tensor, step: int) -> tuple[Tensor, Tensor]:
        """See `EmbeddingOptimizer`."""
        self._gathered = [*self._gathered, ids] if step == self._step else [ids]
        self._step = step
        return self._leaf, ids

    def reduce_gradient(self, reduce: Callable[[Tensor], None]) -> None:
        """See `EmbeddingOptimizer`."""
        rows, gradient = torch.cat(self._gathered).unique(), gradient_of(self._leaf)
        touched = gradient.index_select(0, rows)
        reduce(touched)
        gradient.index_copy_(0, rows, touched)

    def update(self, step: int) -> None:
        """See `EmbeddingOptimizer`."""
        self._optimizer.update(step, self._learning_rates[step - 1])

    def flush(self, step: int) -> None:
        """Do nothing: no row lags behind."""

    def state(self) -> dict[str, Tensor]:
        """See `EmbeddingOptimizer`."""
        return {"weights": self.weights.detach()} | self._optimizer.state()

    def restore(self, state: dict[str, Tensor]) -> None:
        """See `EmbeddingOptimizer`."""
        self.weights.detach().copy_(state["weights"])
        self._optimizer.restore(state)


class FrozenEmbeddings:
    """An embedding table that is not trained.

    Args:
        weights: (rows, dim), on any device.
    """

    def __init__(self, weights: Tensor) -> None:
        self.weights = weights

    def gather(self, ids: Tensor, step: int) -> tuple[Tensor, Tensor]:
        """See `EmbeddingOptimizer`."""
        return self.weights, ids

    def reduce_gradient(self, reduce: Callable[[Tensor], None]) -> None:
        """Do nothing."""

    def update(self, step: int) -> None:
        """Do nothing."""

    def flush(self, step: int) -> None:
        """Do nothing."""

    def state(self) -> dict[str, Tensor]:
        """Return nothing: the table does not change."""
        return {}

    def restore(self, state: dict[str, Tensor]) -> None:
        """Do nothing."""
