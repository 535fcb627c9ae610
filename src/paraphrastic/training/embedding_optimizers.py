"""Optimizers of an embedding table: sparse on the CPU, dense on other devices, none if it is frozen.

A table of words is Ww of the papers, whose penalty is λw. A table of n-grams or characters belongs to Wc, whose penalty
is λc. The caller chooses the penalty.

A mini-batch touches about a thousand of tens of thousands of rows, so dense Adam spends nearly all its time on rows
whose gradient is zero. `SparseRowOptimizer` updates the touched rows only. When a row is touched again after n idle
steps, it first applies what dense Adam (Kingma and Ba 2015) would have done in these steps. The result differs from
that of `DenseOptimizer` in two ways, besides rounding:

* ε is added to √v without bias correction, as at the end of §2 of the paper; PyTorch adds it to the corrected one.
* The penalty of n idle steps is one division by 1 + λK/√v, see below. It equals the product of n divisions to first
  order only.

Idle steps of Adam. With gradient zero, step k of the idle ones sets m ← β1 m and v ← β2 v, and moves the row by
−c_k m / √v, with c_k the bias-corrected learning rate. After k idle steps m/√v has changed by the factor r^k with
r = β1/√β2, so that the row moves in total by

    −(m/√v) · Σ_{k=1..n} c_k r^k

The sum depends only on the first and the last idle step. With `ahead[t] = Σ_{k≥1} c_{t+k} r^k`, tabulated once for the
learning rates of the whole run, the sum over steps t + 1 … s is `ahead[t] − r^{s−t} ahead[s]`.

Idle steps of the penalty. ½λ‖w − w0‖² acts in every step. As in `DenseOptimizer` it is implicit:
`w − w0 ← (w − w0) / (1 + λ K / √v)`. K is the sum of the learning rates over the idle steps, each scaled by the factor
by which √v has decreased since: K = Σ_{k=1..n} c_k √β2^{n−k}, from a second table, `behind`.

AdaGrad has no moments that decay (r = 0, √β2 = 1), so only the penalty has idle steps.

The compiled loops have no flags of fast mathematics, so that they round in the same way on every processor. They are as
fast: reading the rows is what bounds them.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from paraphrastic.base.parallel import Array, njit
from paraphrastic.training.optimizers import BETA1, BETA2, EPSILON, DenseOptimizer, L2Penalty, gradient_of


class EmbeddingOptimizer:
    """An embedding table (rows, dim) that is not trained; subclasses train it. Steps are counted from 1.

    Attributes:
        weights: the table, on any device. Rows may lag behind until `flush` is called.
    """

    def __init__(self, weights: Tensor) -> None:
        self.weights = weights

    def gather(self, ids: Tensor, step: int) -> tuple[Tensor, Tensor]:
        """Return a leaf tensor with at least the rows `ids`, as they are before `step`, and the row of each id in it.

        The leaf collects the gradient of the step. A further call in the same step returns a leaf with the rows and
        the gradient of the earlier ones too.
        """
        return self.weights, ids

    def reduce_gradient(self, reduce: Callable[[Tensor], None]) -> None:
        """Call `reduce`, which changes its argument, with the gradient of all rows that the step has gathered."""

    def update(self, step: int) -> None:
        """Update the rows that the step has gathered with the gradient of the last leaf."""

    def flush(self, step: int) -> None:
        """Apply all updates up to `step` to every row."""

    def state(self) -> dict[str, Any]:
        """Return everything that `restore` needs to continue bit-identically."""
        return {}

    def restore(self, state: dict[str, Any]) -> None:
        """Continue from what `state` returned."""


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
        return EmbeddingOptimizer(weights)
    if weights.device.type == "cpu" and optimizer != "sgd":
        return SparseRowOptimizer(weights, learning_rates, optimizer, penalty)
    return DenseEmbeddingOptimizer(weights, learning_rates, optimizer, penalty)


class DenseEmbeddingOptimizer(EmbeddingOptimizer):
    """Updates all rows in every step, which a GPU does faster than gathering rows; see `embedding_optimizer`."""

    def __init__(
        self, weights: Tensor, learning_rates: NDArray[np.float64], optimizer: str, penalty: L2Penalty
    ) -> None:
        self.weights, self._learning_rates = weights.requires_grad_(), learning_rates
        self._optimizer = DenseOptimizer([weights], optimizer, penalty)
        self._step, self._gathered = 0, list[Tensor]()  # the ids of each call of `gather` in a step

    def gather(self, ids: Tensor, step: int) -> tuple[Tensor, Tensor]:
        """See `EmbeddingOptimizer`."""
        self._gathered = [*self._gathered, ids] if step == self._step else [ids]
        self._step = step
        return self.weights, ids

    def reduce_gradient(self, reduce: Callable[[Tensor], None]) -> None:
        """See `EmbeddingOptimizer`."""
        rows, gradient = torch.cat(self._gathered).unique(), gradient_of(self.weights)
        touched = gradient.index_select(0, rows)
        reduce(touched)
        gradient.index_copy_(0, rows, touched)

    def update(self, step: int) -> None:
        """See `EmbeddingOptimizer`."""
        self._optimizer.update(step, self._learning_rates[step - 1])

    def state(self) -> dict[str, Any]:
        """See `EmbeddingOptimizer`."""
        return {"weights": self.weights.detach(), "optimizer": self._optimizer.state()}

    def restore(self, state: dict[str, Any]) -> None:
        """See `EmbeddingOptimizer`."""
        self.weights.detach().copy_(state["weights"])
        self._optimizer.restore(state["optimizer"])


class SparseRowOptimizer(EmbeddingOptimizer):
    """Adam or AdaGrad on the touched rows of an embedding table (rows, dim) float32 in main memory."""

    def __init__(
        self, weights: Tensor, learning_rates: NDArray[np.float64], optimizer: str, penalty: L2Penalty
    ) -> None:
        self.weights, self._w, self._strength = weights, weights.numpy(), penalty.strength
        self._adam = optimizer == "adam"
        self._idle = _IdleSteps(learning_rates, self._adam)
        self._m, self._v = np.zeros_like(self._w), np.zeros_like(self._w)
        self._last = np.zeros(len(self._w), np.int64)  # the step that last touched each row; 0 for none
        keep = penalty.strength and penalty.to_start
        self._start = self._w.copy() if keep else np.empty((0, 0), np.float32)
        self._marks = np.zeros(len(self._w), np.int64)
        # m ← mix[0] m + mix[1] g and v ← mix[2] v + mix[3] g²
        self._mix = np.array((BETA1, 1 - BETA1, BETA2, 1 - BETA2) if self._adam else (0, 1, 1, 1), np.float32)
        self._step, self._rows, self._leaf = 0, np.empty(0, np.int64), torch.empty(0)

    def gather(self, ids: Tensor, step: int) -> tuple[Tensor, Tensor]:
        """See `EmbeddingOptimizer`."""
        if step != self._step:
            self._step, self._rows, self._leaf = step, self._rows[:0], torch.empty(0)
        earlier, gradient = len(self._rows), self._leaf.grad
        self._rows, positions = _distinct(np.concatenate([self._rows, ids.numpy()]), self._marks)
        self._catch_up(self._rows, step - 1)
        self._leaf = self.weights.index_select(0, torch.from_numpy(self._rows)).requires_grad_()
        places = torch.from_numpy(positions)
        if gradient is not None:
            gradient_of(self._leaf).index_copy_(0, places[:earlier], gradient)
        return self._leaf, places[earlier:]

    def reduce_gradient(self, reduce: Callable[[Tensor], None]) -> None:
        """See `EmbeddingOptimizer`."""
        reduce(gradient_of(self._leaf))

    def update(self, step: int) -> None:
        """See `EmbeddingOptimizer`."""
        if self._leaf.grad is None:
            return
        rows, grad, rate = self._rows, self._leaf.grad.numpy(), self._idle.rate[step]
        step_size, shrink = np.float32(rate), np.float32(self._strength * rate)
        _update(self._w, self._m, self._v, self._start, rows, grad, step_size, self._mix, shrink)
        self._last[rows] = step

    def flush(self, step: int) -> None:
        """See `EmbeddingOptimizer`."""
        self._catch_up(np.flatnonzero(self._last), step)

    def _catch_up(self, rows: Array, step: int) -> None:
        """Apply the idle steps up to `step` to `rows`; none are left to be applied."""
        last = self._last[rows]
        idle, touched = step - last, last > 0
        drift = np.where(touched, self._idle.drift(last, step), 0).astype(np.float32)
        shrink = np.where(touched & (idle > 0), self._strength * self._idle.penalty(last, step), 0).astype(np.float32)
        beta1, beta2 = (BETA1, BETA2) if self._adam else (0.0, 1.0)
        idle = np.where(touched, idle, 0)
        decay1, decay2 = (beta1**idle).astype(np.float32), (beta2**idle).astype(np.float32)
        _apply_idle_steps(self._w, self._m, self._v, self._start, rows, drift, decay1, decay2, shrink)
        self._last[rows[touched]] = step

    def state(self) -> dict[str, Any]:
        """See `EmbeddingOptimizer`."""
        arrays = {"m": self._m, "v": self._v, "last": self._last}
        return {"weights": self.weights} | {name: torch.from_numpy(a) for name, a in arrays.items()}

    def restore(self, state: dict[str, Any]) -> None:
        """See `EmbeddingOptimizer`."""
        for name, tensor in self.state().items():
            tensor.copy_(state[name])


class _IdleSteps:
    """The tables of the module's docstring, for the learning rates of a run; entry t belongs to step t."""

    def __init__(self, learning_rates: NDArray[np.float64], adam: bool) -> None:
        t = np.arange(1, len(learning_rates) + 1, dtype=np.float64)
        correction = (1 - BETA2**t) ** 0.5, 1 - BETA1**t  # of moments that start at zero
        rates = learning_rates * correction[0] / correction[1] if adam else learning_rates
        self.rate = np.concatenate([[0], rates])  # c_t
        self._ratio: float = BETA1 / BETA2**0.5 if adam else 0.0  # r
        self._root: float = BETA2**0.5 if adam else 1.0  # √β2
        self._ahead, self._behind = np.zeros(len(learning_rates) + 1), np.zeros(len(learning_rates) + 1)
        for k in range(1, len(self.rate)):
            self._behind[k] = self._behind[k - 1] * self._root + self.rate[k]
            self._ahead[-1 - k] = self._ratio * (self._ahead[-k] + self.rate[-k])

    def drift(self, last: Array, step: int) -> Array:
        """Return Σ_{k=1..n} c_{last+k} r^k with n = step − last."""
        total: Array = self._ahead[last] - self._ratio ** (step - last) * self._ahead[step]
        return total

    def penalty(self, last: Array, step: int) -> Array:
        """Return Σ_{k=1..n} c_{last+k} √β2^{n−k} with n = step − last."""
        total: Array = self._behind[step] - self._root ** (step - last) * self._behind[last]
        return total


@njit(error_model="numpy")
def _apply_idle_steps(
    w: Array, m: Array, v: Array, start: Array, rows: Array, drift: Array, decay1: Array, decay2: Array, shrink: Array
) -> None:
    """Move `rows` (k,) of the table by the drift (k,), decay their moments, and shrink their distance from the start.

    Shapes: `w`, `m`, `v` (table rows, dim); `start` the same, or (0, 0) if W0 = 0.
    """
    epsilon = np.float32(EPSILON)
    for k in range(len(rows)):
        row, d, p = rows[k], drift[k], shrink[k]
        if d == 0 and p == 0 and decay2[k] == 1:
            continue
        for j in range(w.shape[1]):
            root = np.sqrt(v[row, j])
            w[row, j] -= d * m[row, j] / (root + epsilon)
            m[row, j] *= decay1[k]
            v[row, j] *= decay2[k]
            if p > 0 and v[row, j] > 0:  # an element without a gradient so far is not regularised
                w0 = start[row, j] if len(start) else np.float32(0)
                w[row, j] = w0 + (w[row, j] - w0) / (1 + p / (np.sqrt(v[row, j]) + epsilon))


@njit(error_model="numpy")
def _update(
    w: Array, m: Array, v: Array, start: Array, rows: Array, grad: Array, rate: Any, mix: Array, shrink: Any
) -> None:
    """Apply one step of Adam or AdaGrad, with gradients (k, dim), and then of the penalty, to `rows` (k,)."""
    keep1, new1, keep2, new2 = mix
    epsilon = np.float32(EPSILON)
    for k in range(len(rows)):
        row = rows[k]
        for j in range(w.shape[1]):
            g = grad[k, j]
            m[row, j] = keep1 * m[row, j] + new1 * g
            v[row, j] = keep2 * v[row, j] + new2 * g * g
            root = np.sqrt(v[row, j]) + epsilon
            w[row, j] -= rate * m[row, j] / root
            if shrink > 0 and v[row, j] > 0:
                w0 = start[row, j] if len(start) else np.float32(0)
                w[row, j] = w0 + (w[row, j] - w0) / (1 + shrink / root)


@njit()
def _distinct(ids: Array, marks: Array) -> tuple[Array, Array]:
    """Return the distinct ids, ascending, and the position of each id among them; `marks` is zero before and after."""
    for i in ids:
        marks[i] = 1
    rows = np.flatnonzero(marks)
    for position in range(len(rows)):
        marks[rows[position]] = position
    positions = np.empty_like(ids)
    for n in range(len(ids)):
        positions[n] = marks[ids[n]]
    marks[rows] = 0
    return rows, positions
