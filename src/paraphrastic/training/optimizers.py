"""Adam, AdaGrad and SGD with momentum on whole tensors, with an L2 penalty."""

import math
from collections.abc import Callable, Sequence
from functools import partial
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from paraphrastic.base.parallel import Array, njit, replaced_module

BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8
MOMENTUM = 0.95  # charagram2016 §4.2
# optimizers of PyTorch import this, 1.3 s, to ask it not to compile them; it has the two functions that they call
_DYNAMO = ModuleType("torch._dynamo")
vars(_DYNAMO).update(disable=lambda function, *_, **__: function, graph_break=lambda: None)
_no_compiler = partial(replaced_module, _DYNAMO.__name__, _DYNAMO)


class L2Penalty(NamedTuple):
    """The penalty ½λ‖W − W0‖² on weights W."""

    strength: float = 0.0  # λ; infinite for weights that are not trained
    to_start: bool = False  # W0 is the initial value of the weights; otherwise zero


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
        self._starts = [p.detach().clone() if keep else p.new_empty(0) for p in parameters]
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
            rate = float(learning_rate)
            if self._adam:  # corrected for moments that start at zero
                rate = rate * (1 - BETA2**step) ** 0.5 / (1 - BETA1**step)
            self._apply_penalty(self._strength * rate)

    @torch.no_grad()
    def _apply_penalty(self, strength: float) -> None:
        for parameter, start in zip(self._parameters, self._starts, strict=True):
            state = self._optimizer.state[parameter]
            if not state:  # without a gradient so far, the parameter has not moved
                continue
            squares = state.get("exp_avg_sq", state.get("sum"))
            if squares is not None and parameter.device.type == "cpu":
                w, v, w0 = (each.view(-1).numpy() for each in (parameter, squares, start))
                compiled_shrink(w, v, w0, w.dtype.type(strength), w.dtype.type(EPSILON))
            else:
                shrink(parameter, squares, start, strength)

    def state(self) -> dict[int, Any]:
        """Return the optimizer's tensors by number of the parameter and name."""
        with _no_compiler():
            state: dict[int, Any] = self._optimizer.state_dict()["state"]
        return state

    def restore(self, state: dict[int, Any]) -> None:
        """Continue from what `state` returned."""
        with _no_compiler():
            self._optimizer.load_state_dict(self._optimizer.state_dict() | {"state": state})


def shrink(weights: Tensor, squares: Tensor | None, start: Tensor, strength: float) -> None:
    """Apply the penalty's step.

    Args:
        weights: updated in place.
        squares: v, their second moments; None if the optimizer has none.
        start: W0, of the shape of the weights; empty if W0 = 0.
        strength: λc.
    """
    # √v; infinite where v = 0, so that the penalty moves no element that never had a gradient
    root = 1.0 if squares is None else (squares.sqrt() + EPSILON).masked_fill_(squares == 0, math.inf)
    divisor = 1 + strength / root
    if start.numel():
        weights.sub_(start).div_(divisor).add_(start)
    else:
        weights.div_(divisor)


@njit(error_model="numpy")
def compiled_shrink(w: Array, v: Array, start: Array, strength: Any, epsilon: Any) -> None:
    """Do what `shrink` does, on arrays (elements,), in one pass over memory."""
    for i in range(len(w)):
        if v[i] > 0:
            w0 = start[i] if len(start) else np.float32(0)
            w[i] = w0 + (w[i] - w0) / (1 + strength / (np.sqrt(v[i]) + epsilon))


def gradient_of(tensor: Tensor) -> Tensor:
    """Return the gradient of a leaf; zeros, which it then has, if none has come."""
    if tensor.grad is None:
        tensor.grad = torch.zeros_like(tensor)
    return tensor.grad


_OPTIMIZERS: dict[str, Callable[[list[Tensor]], torch.optim.Optimizer]] = {
    # fused into one kernel where there is one: an update is bound by memory bandwidth
    "adam": lambda w: torch.optim.Adam(w, 0.0, (BETA1, BETA2), EPSILON, fused=w[0].device.type in ("cpu", "cuda")),
    "adagrad": lambda w: torch.optim.Adagrad(w, 0.0, eps=EPSILON, fused=w[0].device.type == "cpu"),
    "sgd": partial(torch.optim.SGD, lr=0.0, momentum=MOMENTUM),
}
