"""Adam, AdaGrad and SGD with momentum on whole tensors, and Adam and AdaGrad on the touched rows of an embedding table.

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
"""

import math
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from types import ModuleType
from typing import NamedTuple, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from paraphrastic.base.parallel import Array, njit

BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8
MOMENTUM = 0.95  # charagram2016 §4.2
Number = TypeVar("Number", float, NDArray[np.float64])


class L2Penalty(NamedTuple):
    """The penalty ½λ‖W − W0‖² on weights W.

    Attributes:
        strength: λ; infinite for weights that are not trained.
        to_start: W0 is the initial value of the weights; otherwise zero.
    """

    strength: float = 0.0
    to_start: bool = False


class DenseOptimizer:
    """An optimizer that updates every element in every step.

    The gradient of the penalty, λ(W − W0), is not added to the gradient of the loss. Adam divides a gradient by its
    magnitude, so that a large λ would only set the sign of the update and make W oscillate around W0. Instead the
    penalty acts as an implicit step after the optimizer's:

        W − W0 ← (W − W0) / (1 + λ c / √v)

    c is the learning rate, bias-corrected for Adam. v is the second moment of the gradient (AdaGrad: the sum of its
    squares; SGD: 1).

    To first order in c this is the gradient λ(W − W0) inside Adam. It never overshoots, and W → W0 for λ → ∞.

    Args:
        parameters: updated in place from their gradients.
        optimizer: `adam` (Kingma and Ba 2015), `adagrad` (Duchi et al. 2011), or `sgd` with momentum (√v = 1).
        penalty: λ and W0.
    """

    def __init__(self, parameters: Sequence[Tensor], optimizer: str, penalty: L2Penalty) -> None:
        self._parameters, self._strength, self._adam = list(parameters), penalty.strength, optimizer == "adam"
        keep = penalty.strength and penalty.to_start
        self._starts = [p.detach().clone() if keep else None for p in parameters]
        with _no_compiler():
            self._optimizer = _OPTIMIZERS[optimizer](self._parameters)

    def update(self, step: int, learning_rate: float) -> None:
        """Update the parameters in step `step`, counted from 1, and reset their gradients."""
        for group in self._optimizer.param_groups:
            group["lr"] = float(learning_rate)
        with _no_compiler():
            self._optimizer.step()
            self._optimizer.zero_grad()
        if self._strength:
            rate = bias_corrected(learning_rate, step) if self._adam else learning_rate
            self._apply_penalty(self._strength * float(rate))

    @torch.no_grad()
    def _apply_penalty(self, strength: float) -> None:
        for parameter, start in zip(self._parameters, self._starts, strict=True):
            state = self._optimizer.state[parameter]
            if not state:  # without a gradient so far, the parameter has not moved
                continue
            shrink = 1 + strength / _root_of_second_moment(state)
            if start is None:
                parameter.div_(shrink)
            else:
                parameter.sub_(start).div_(shrink).add_(start)

    def state(self) -> dict[str, Tensor]:
        """Return the optimizer's tensors by `PARAMETER.NAME`; empty before the first step."""
        with _no_compiler():
            state = self._optimizer.state_dict()["state"]
        return {f"{index}.{name}": tensor for index, names in state.items() for name, tensor in names.items()}

    def restore(self, flat: dict[str, Tensor]) -> None:
        """Continue from what `state` returned; other keys are ignored."""
        nested: dict[int, dict[str, Tensor]] = {}
        for key, tensor in flat.items():
            index, _, name = key.partition(".")
            if index.isdigit():
                nested.setdefault(int(index), {})[name] = tensor
        with _no_compiler():
            self._optimizer.load_state_dict(self._optimizer.state_dict() | {"state": nested})


@contextmanager
def _no_compiler() -> Iterator[None]:
    """Keep PyTorch's optimizers from importing `torch._dynamo`, 1.3 s: they only ask it not to compile them.

    A module with the two functions that they call takes its place. Nothing happens if it has been imported.
    """
    name = "torch._dynamo"
    if name in sys.modules:
        yield
        return
    sys.modules[name] = ModuleType(name)
    vars(sys.modules[name]).update(disable=lambda function, *_, **__: function, graph_break=lambda: None)
    try:
        yield
    finally:
        del sys.modules[name]


def gradient_of(tensor: Tensor) -> Tensor:
    """Return the gradient of a leaf; zeros, which it then has, if none has come."""
    if tensor.grad is None:
        tensor.grad = torch.zeros_like(tensor)
    return tensor.grad


def _adam(parameters: list[Tensor]) -> torch.optim.Optimizer:
    """Return Adam, fused into one kernel on a GPU, where it is bound by memory bandwidth."""
    return torch.optim.Adam(parameters, 0.0, (BETA1, BETA2), EPSILON, fused=parameters[0].is_cuda)


_OPTIMIZERS: dict[str, Callable[[list[Tensor]], torch.optim.Optimizer]] = {
    "adam": _adam,
    "adagrad": partial(torch.optim.Adagrad, lr=0.0, eps=EPSILON),
    "sgd": partial(torch.optim.SGD, lr=0.0, momentum=MOMENTUM),
}


def _root_of_second_moment(state: dict[str, Tensor]) -> Tensor | float:
    """Return √v; infinite where v = 0, so that the penalty moves no embedding that never had a gradient."""
    squares = state.get("exp_avg_sq", state.get("sum"))
    return 1.0 if squares is None else (squares.sqrt() + EPSILON).masked_fill_(squares == 0, math.inf)


def bias_corrected(learning_rate: Number, step: Number) -> Number:
    """Return Adam's learning rate with the correction for moments that start at zero, for steps counted from 1."""
    corrected: Number = learning_rate * (1 - BETA2**step) ** 0.5 / (1 - BETA1**step)
    return corrected


class SparseRowOptimizer:
    """Adam or AdaGrad on the touched rows of an embedding table in main memory.

    Args:
        weights: (rows, dim) float32, updated in place.
        learning_rates: the learning rate of every step of the run.
        optimizer: `adam` or `adagrad`.
        penalty: λ and W0 of ½λ‖W − W0‖².
    """

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
        rate = self._idle.rate[step]
        rows, grad = self._rows, self._leaf.grad.numpy()
        rate, shrink = np.float32(rate), np.float32(self._strength * rate)
        _update(self._w, self._m, self._v, self._start, rows, grad, rate, self._mix, shrink)
        self._last[self._rows] = step

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
        decay1, decay2 = (beta1**idle).astype(np.float32), (beta2**idle).astype(np.float32)
        _apply_idle_steps(self._w, self._m, self._v, self._start, rows, drift, decay1, decay2, shrink)
        self._last[rows[touched]] = step

    def state(self) -> dict[str, Tensor]:
        """See `EmbeddingOptimizer`."""
        arrays = {"m": self._m, "v": self._v, "last": self._last}
        return {"weights": self.weights} | {name: torch.from_numpy(a) for name, a in arrays.items()}

    def restore(self, state: dict[str, Tensor]) -> None:
        """See `EmbeddingOptimizer`."""
        for name, tensor in self.state().items():
            tensor.copy_(state[name])


class _IdleSteps:
    """Sums over idle steps, tabulated for the learning rates of a run; entry t belongs to step t, entry 0 to the start.

    `ahead` and `behind` are the tables of the module's docstring.
    """

    def __init__(self, learning_rates: NDArray[np.float64], adam: bool) -> None:
        t = np.arange(1, len(learning_rates) + 1, dtype=np.float64)
        self.rate = np.concatenate([[0], bias_corrected(learning_rates, t) if adam else learning_rates])  # c_t
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


@njit(fastmath=True, cache=True, error_model="numpy")
def _apply_idle_steps(
    w: Array, m: Array, v: Array, start: Array, rows: Array, drift: Array, decay1: Array, decay2: Array, shrink: Array
) -> None:
    """Move `rows` by the drift, decay their moments, and shrink their distance from the start.

    Shapes: `w`, `m`, `v` (table rows, dim); `start` (table rows, dim), or (0, 0) if W0 = 0; `rows`, `drift`, `decay1`,
    `decay2`, `shrink` (k,).
    """
    epsilon = np.float32(EPSILON)
    for k in range(len(rows)):
        row, d, p = rows[k], drift[k], shrink[k]
        if d == 0 and p == 0:
            continue
        for j in range(w.shape[1]):
            root = np.sqrt(v[row, j])
            w[row, j] -= d * m[row, j] / (root + epsilon)
            m[row, j] *= decay1[k]
            v[row, j] *= decay2[k]
            if p > 0 and v[row, j] > 0:  # an element without a gradient so far is not regularised
                w0 = start[row, j] if len(start) else np.float32(0)
                w[row, j] = w0 + (w[row, j] - w0) / (1 + p / (np.sqrt(v[row, j]) + epsilon))


@njit(fastmath=True, cache=True, error_model="numpy")
def _update(
    w: Array,
    m: Array,
    v: Array,
    start: Array,
    rows: Array,
    grad: Array,
    rate: np.float32,
    mix: Array,
    shrink: np.float32,
) -> None:
    """Apply one step of Adam or AdaGrad, and then of the penalty, to `rows`.

    Shapes: `w`, `m`, `v` (table rows, dim); `start` (table rows, dim), or (0, 0) if W0 = 0; `rows` (k,); `grad`
    (k, dim); `mix` (4,).
    """
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


@njit(cache=True)
def _distinct(ids: Array, marks: Array) -> tuple[Array, Array]:
    """Return the distinct ids, ascending, and the position of each id among them, without sorting.

    `marks` (rows,) is a work array that is all zero before and after.
    """
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
