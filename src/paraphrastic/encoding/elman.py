"""The simple recurrent network over packed sentences."""

from typing import Any, Literal

import torch
from torch import Tensor, nn

from paraphrastic.encoding.packing import before, steps
from paraphrastic.encoding.products import product

Activation = Literal["tanh", "relu", "identity"]


class _Recurrence(torch.autograd.Function):
    """`h = f(input + h' U)` and, by hand, its gradient."""

    @staticmethod
    def forward(ctx: Any, inputs: Tensor, U: Tensor, activation: Activation, sizes: list[int], reduced: bool) -> Tensor:
        states, weights = inputs.clone(), U.to(torch.bfloat16) if reduced else U
        for now, then in steps(sizes):
            if now.start:
                states[now] += states[then].to(weights.dtype) @ weights
            _squash(states[now], activation)
        ctx.save_for_backward(weights, states)
        ctx.activation, ctx.sizes, ctx.reduced = activation, sizes, reduced
        return states

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        weights, states = ctx.saved_tensors
        deltas, back = grads[0].clone(), weights.T.contiguous()
        for now, then in reversed(steps(ctx.sizes)):
            _multiply_slope(deltas[now], states[now], ctx.activation)
            if now.start:
                deltas[then] += deltas[now].to(back.dtype) @ back
        return deltas, product(before(ctx.sizes, states).T, deltas, ctx.reduced), None, None, None


def _squash(values: Tensor, activation: Activation) -> None:
    if activation != "identity":
        (values.tanh_ if activation == "tanh" else values.relu_)()


def _multiply_slope(delta: Tensor, state: Tensor, activation: Activation) -> None:
    """The derivative of the activation, from its value."""
    if activation == "tanh":
        delta.addcmul_(delta, state.square(), value=-1)
    elif activation == "relu":
        delta.mul_(state > 0)


class Elman(nn.Module):
    """`h_t = f(x_t W + h_{t−1} U + b)` with h_0 = 0: iclr2016 §3 (RNN, iRNN).

    Args:
        W: (dim, hidden), what the weights of the inputs start from.
        U: (hidden, hidden), those of the states.
        activation: f.
        reduced: matrix products in bfloat16.
    """

    def __init__(self, W: Tensor, U: Tensor, activation: Activation, reduced: bool) -> None:
        super().__init__()
        self.W, self.U, self.b = nn.Parameter(W), nn.Parameter(U), nn.Parameter(torch.zeros(U.shape[1]))
        self._activation, self._reduced = activation, reduced

    def forward(self, packed: Tensor, sizes: list[int]) -> Tensor:
        """States (N, hidden) from inputs `packed` by time (N, dim) with `sizes` sentences at each step."""
        inputs = product(packed, self.W, self._reduced) + self.b
        return _Recurrence.apply(inputs, self.U, self._activation, sizes, self._reduced)
