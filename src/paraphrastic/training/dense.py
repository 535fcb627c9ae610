"""Adam, AdaGrad and gradient descent with momentum over whole tensors."""

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8
MOMENTUM = 0.95  # charagram2016 §4.2
Number = TypeVar("Number", float, NDArray[np.float64])


class DenseSteps:
    """Steps on tensors that move as a whole, with the pull of ½λ‖W − W0‖² as `RowTable` takes it.

    The pull is implicit, `W − W0 ← (W − W0) / (1 + λ c / √v)` with c the rate and v the optimiser's squared
    gradients: to first order that is the gradient λ(W − W0) inside Adam, it never overshoots, and for λ → ∞ it
    keeps W0. Inside Adam itself a large λ makes W swing around W0, since only the sign of a gradient counts there.

    Args:
        parameters: moved in place, by the gradients that they have.
        optimizer: `adam` (Kingma & Ba 2015), `adagrad` (Duchi et al. 2011) or `sgd`, with momentum (v = 1 then).
        pull: λ.
        to_start: W0 is what the parameters are now; else zero.
    """

    def __init__(self, parameters: Sequence[Tensor], optimizer: str, pull: float, to_start: bool) -> None:
        self._parameters, self._pull, self._adam = list(parameters), pull, optimizer == "adam"
        self._anchors = [p.detach().clone() for p in parameters] if pull and to_start else [None] * len(parameters)
        self._optimizer = _MAKE[optimizer](self._parameters)

    def update(self, step: int, rate: float) -> None:
        """Take `step`, numbered from 1, at the learning rate `rate`, and forget the gradients."""
        for group in self._optimizer.param_groups:
            group["lr"] = float(rate)
        self._optimizer.step()
        self._optimizer.zero_grad()
        if self._pull:
            self._pull_back(self._pull * float(corrected(rate, step) if self._adam else rate))

    @torch.no_grad()
    def _pull_back(self, strength: float) -> None:
        for parameter, anchor in zip(self._parameters, self._anchors, strict=True):
            state = self._optimizer.state[parameter]
            if not state:  # no gradient so far, so it has not moved
                continue
            shrink = 1 + strength / _root(state)
            if anchor is None:
                parameter.div_(shrink)
            else:
                parameter.sub_(anchor).div_(shrink).add_(anchor)

    def state(self) -> dict[str, Tensor]:
        """The optimiser's tensors by `PARAMETER.NAME`; empty before its first step."""
        state = self._optimizer.state_dict()["state"]
        return {f"{index}.{name}": tensor for index, names in state.items() for name, tensor in names.items()}

    def restore(self, flat: dict[str, Tensor]) -> None:
        """Continue from `state`; other keys are left alone."""
        nested: dict[int, dict[str, Tensor]] = {}
        for key, tensor in flat.items():
            index, _, name = key.partition(".")
            if index.isdigit():
                nested.setdefault(int(index), {})[name] = tensor
        self._optimizer.load_state_dict(self._optimizer.state_dict() | {"state": nested})


def _adam(parameters: list[Tensor]) -> torch.optim.Optimizer:
    """One pass over memory on a GPU, where a large table is what Adam waits for."""
    return torch.optim.Adam(parameters, 0.0, (BETA1, BETA2), EPSILON, fused=parameters[0].is_cuda)


_MAKE: dict[str, Callable[[list[Tensor]], torch.optim.Optimizer]] = {
    "adam": _adam,
    "adagrad": partial(torch.optim.Adagrad, lr=0.0, eps=EPSILON),
    "sgd": partial(torch.optim.SGD, lr=0.0, momentum=MOMENTUM),
}


def _root(state: dict[str, Tensor]) -> Tensor | float:
    """√v of one parameter; infinite for what has had no gradient, so that no pull moves the rows of unseen units."""
    squares = state.get("exp_avg_sq", state.get("sum"))
    return 1.0 if squares is None else (squares.sqrt() + EPSILON).masked_fill_(squares == 0, math.inf)


def corrected(rate: Number, step: Number) -> Number:
    """Adam's rate with the correction for moments that start at zero, for steps numbered from 1."""
    return rate * (1 - BETA2**step) ** 0.5 / (1 - BETA1**step)
