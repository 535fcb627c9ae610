"""The table of unit vectors (Ww) in training: touched rows only on CPU, dense elsewhere.

A mini-batch touches about a thousand of many ten thousand rows, so a step that moves the whole table spends
its time on rows whose gradient is zero. `RowTable` steps on the touched rows and, when a row is touched
again, catches up with what dense Adam (Kingma & Ba 2015) would have done to it in its n idle steps:

* the moments decay by β1^n and β2^n, and the row drifts on by `m/√v · Σ_k c_k r^k`, r = β1/√β2, c_k being the
  bias-corrected rate of step k: a geometric series, tabulated once for the rates of the whole run;
* the pull of λ toward the initial value acts in every step. It is taken implicitly,
  `w − w0 ← (w − w0) / (1 + λ K / √v)` with K the sum of the rates, which to first order is the gradient
  λ(w − w0) inside Adam, and which for λ → ∞ keeps w0.

AdaGrad has no moments to decay, so only the pull needs catching up.
"""

import math
from typing import Any, Protocol

import numpy as np
import torch
from numba import njit
from numpy.typing import NDArray
from torch import Tensor

from paraphrastic.training.dense import BETA1, BETA2, EPSILON, DenseSteps, corrected

Array = NDArray[Any]


class TrainedTable(Protocol):
    """A table (rows, dim) that an optimiser moves; steps are numbered from 1."""

    weights: Tensor

    def gather(self, ids: Tensor, step: int) -> tuple[Tensor, Tensor]:
        """A leaf that holds at least the rows `ids`, as they are before `step`, and where each id stands in it."""
        ...

    def update(self, step: int) -> None:
        """Move the rows of the last `gather` by the gradient that the leaf has by now."""
        ...

    def settle(self, step: int) -> None:
        """Bring every row to where it is after `step`."""
        ...

    def state(self) -> dict[str, Tensor]:
        """All that `restore` needs to go on with the same bits."""
        ...

    def restore(self, state: dict[str, Tensor]) -> None:
        """Continue from `state`."""
        ...


class _Series:
    """Sums over idle steps, tabulated for the rates of a run: entry t belongs to step t, entry 0 to the start."""

    def __init__(self, rates: NDArray[np.float64], adam: bool) -> None:
        t = np.arange(1, len(rates) + 1)
        self.rate = np.concatenate([[0], corrected(rates, t) if adam else rates])
        ratio, self.root = (BETA1 / BETA2**0.5, BETA2**0.5) if adam else (0.0, 1.0)
        self.ratio = ratio
        self.ahead, self.behind = np.zeros(len(rates) + 1), np.zeros(len(rates) + 1)
        for k in range(1, len(self.rate)):
            self.behind[k] = self.behind[k - 1] * self.root + self.rate[k]
            self.ahead[-1 - k] = ratio * (self.ahead[-k] + self.rate[-k])

    def drift(self, last: Array, step: int) -> Array:
        """Σ_{k=1..n} c_{last+k} r^k, n = step − last."""
        return self.ahead[last] - self.ratio ** (step - last) * self.ahead[step]

    def pull(self, last: Array, step: int) -> Array:
        """Σ_{k=1..n} c_{last+k} β2^((n−k)/2): the rates against √v as it stands after the n steps."""
        return self.behind[step] - self.root ** (step - last) * self.behind[last]


@njit(fastmath=True, cache=True, error_model="numpy")
def _catch_up(
    w: Array, m: Array, v: Array, anchor: Array, rows: Array, drift: Array, b1: Array, b2: Array, pull: Array
) -> None:
    epsilon = np.float32(EPSILON)
    for k in range(len(rows)):
        row, d, p = rows[k], drift[k], pull[k]
        if d == 0 and p == 0:
            continue
        for j in range(w.shape[1]):
            root = np.sqrt(v[row, j])
            w[row, j] -= d * m[row, j] / (root + epsilon)
            m[row, j] *= b1[k]
            v[row, j] *= b2[k]
            if p > 0 and v[row, j] > 0:  # what has had no gradient is not pulled
                home = anchor[row, j] if len(anchor) else np.float32(0)
                w[row, j] = home + (w[row, j] - home) / (1 + p / (np.sqrt(v[row, j]) + epsilon))


@njit(fastmath=True, cache=True, error_model="numpy")
def _step(
    w: Array,
    m: Array,
    v: Array,
    anchor: Array,
    rows: Array,
    grad: Array,
    rate: float,
    mix: Array,
    pull: float,
) -> None:
    """`mix`: how much of m, of the gradient, of v and of the squared gradient goes into the new moments."""
    keep1, new1, keep2, new2 = mix
    rate, pull, epsilon = np.float32(rate), np.float32(pull), np.float32(EPSILON)
    for k in range(len(rows)):
        row = rows[k]
        for j in range(w.shape[1]):
            g = grad[k, j]
            m[row, j] = keep1 * m[row, j] + new1 * g
            v[row, j] = keep2 * v[row, j] + new2 * g * g
            root = np.sqrt(v[row, j]) + epsilon
            w[row, j] -= rate * m[row, j] / root
            if pull > 0 and v[row, j] > 0:
                home = anchor[row, j] if len(anchor) else np.float32(0)
                w[row, j] = home + (w[row, j] - home) / (1 + pull / root)


@njit(cache=True)
def _compact(ids: Array, marks: Array) -> tuple[Array, Array]:
    """Distinct ids ascending, and the place of each id among them; `marks` (rows,) is all zero before and after."""
    for i in ids:
        marks[i] = 1
    rows = np.flatnonzero(marks)
    for place in range(len(rows)):
        marks[rows[place]] = place
    places = np.empty_like(ids)
    for n in range(len(ids)):
        places[n] = marks[ids[n]]
    marks[rows] = 0
    return rows, places


def trained_table(
    weights: Tensor, rates: NDArray[np.float64], optimizer: str, pull: float, to_start: bool
) -> TrainedTable:
    """What moves `weights` fastest: the rows that a step touches, where that comes to the same; else all rows.

    Args: as for `RowTable`; also `sgd`, with momentum, which moves all rows, and an infinite pull, which moves none.
    """
    if math.isinf(pull):
        return FixedTable(weights)
    rows = weights.device.type == "cpu" and optimizer != "sgd"
    return (RowTable if rows else DenseTable)(weights, rates, optimizer, pull, to_start)


class RowTable:
    """Adam or AdaGrad on the touched rows of a table in main memory.

    Args:
        weights: (rows, dim) float32, moved in place.
        rates: the learning rate of every step of the run.
        optimizer: `adam` or `adagrad`.
        pull: λ of ½λ‖W − W0‖².
        to_start: W0 is the table as given; else zero.
    """

    def __init__(
        self, weights: Tensor, rates: NDArray[np.float64], optimizer: str, pull: float, to_start: bool
    ) -> None:
        self.weights, self._w, self._pull = weights, weights.numpy(), pull
        self._adam = optimizer == "adam"
        self._series = _Series(rates, self._adam)
        self._m, self._v = np.zeros_like(self._w), np.zeros_like(self._w)
        self._last = np.zeros(len(self._w), np.int64)
        self._anchor = self._w.copy() if pull and to_start else np.empty((0, 0), np.float32)
        self._marks = np.zeros(len(self._w), np.int64)
        self._mix = np.array((BETA1, 1 - BETA1, BETA2, 1 - BETA2) if self._adam else (0, 1, 1, 1), np.float32)
        self._rows, self._leaf = np.empty(0, np.int64), torch.empty(0)

    def gather(self, ids: Tensor, step: int) -> tuple[Tensor, Tensor]:
        """See `TrainedTable`."""
        self._rows, places = _compact(ids.numpy(), self._marks)
        self._catch_up(self._rows, step - 1)
        self._leaf = self.weights.index_select(0, torch.from_numpy(self._rows)).requires_grad_()
        return self._leaf, torch.from_numpy(places)

    def update(self, step: int) -> None:
        """See `TrainedTable`."""
        if self._leaf.grad is None:
            return
        rate = self._series.rate[step]
        arrays = self._w, self._m, self._v, self._anchor, self._rows, self._leaf.grad.numpy()
        _step(*arrays, rate, self._mix, self._pull * rate)
        self._last[self._rows] = step

    def settle(self, step: int) -> None:
        """See `TrainedTable`."""
        rows = np.flatnonzero(self._last)
        self._catch_up(rows, step)
        self._last[rows] = step

    def _catch_up(self, rows: Array, step: int) -> None:
        last = self._last[rows]
        idle, touched = step - last, last > 0
        drift = np.where(touched, self._series.drift(last, step), 0).astype(np.float32)
        pull = np.where(touched & (idle > 0), self._pull * self._series.pull(last, step), 0).astype(np.float32)
        decay = [(b**idle).astype(np.float32) for b in ((BETA1, BETA2) if self._adam else (0.0, 1.0))]
        _catch_up(self._w, self._m, self._v, self._anchor, rows, drift, *decay, pull)

    def state(self) -> dict[str, Tensor]:
        """See `TrainedTable`."""
        arrays = {"m": self._m, "v": self._v, "last": self._last}
        return {"weights": self.weights} | {name: torch.from_numpy(a) for name, a in arrays.items()}

    def restore(self, state: dict[str, Tensor]) -> None:
        """See `TrainedTable`."""
        for name, tensor in self.state().items():
            tensor.copy_(state[name])


class FixedTable:
    """A table that stays as it is, on any device.

    Args:
        weights: (rows, dim).
    """

    def __init__(self, weights: Tensor) -> None:
        self.weights = weights

    def gather(self, ids: Tensor, step: int) -> tuple[Tensor, Tensor]:
        """See `TrainedTable`."""
        return self.weights, ids

    def update(self, step: int) -> None:
        """Nothing moves."""

    def settle(self, step: int) -> None:
        """Nothing is ever behind."""

    def state(self) -> dict[str, Tensor]:
        """Nothing changes."""
        return {}

    def restore(self, state: dict[str, Tensor]) -> None:
        """See `TrainedTable`."""


class DenseTable:
    """The same on any device, moving all rows in every step: what a GPU does faster than a gather.

    Args: as for `RowTable`.
    """

    def __init__(
        self, weights: Tensor, rates: NDArray[np.float64], optimizer: str, pull: float, to_start: bool
    ) -> None:
        self.weights, self._rates = weights, rates
        self._leaf = weights.requires_grad_()
        self._steps = DenseSteps([self._leaf], optimizer, pull, to_start)

    def gather(self, ids: Tensor, step: int) -> tuple[Tensor, Tensor]:
        """See `TrainedTable`."""
        return self._leaf, ids

    def update(self, step: int) -> None:
        """See `TrainedTable`."""
        self._steps.update(step, self._rates[step - 1])

    def settle(self, step: int) -> None:
        """Nothing is ever behind."""

    def state(self) -> dict[str, Tensor]:
        """See `TrainedTable`."""
        return {"weights": self.weights.detach()} | self._steps.state()

    def restore(self, state: dict[str, Tensor]) -> None:
        """See `TrainedTable`."""
        self.weights.detach().copy_(state["weights"])
        self._steps.restore(state)
