"""The simple recurrent network over packed sentences."""

from typing import Any, Literal

import torch
from torch import Tensor, nn

from paraphrastic.encoding.packing import before, steps
from paraphrastic.encoding.products import Reducible

Activation = Literal["tanh", "relu", "identity"]


class _Recurrence(torch.autograd.Function):
    """`h = f(input + h' U)` and, by hand, its gradient; products are done in the type of U."""

    @staticmethod
    def forward(ctx: Any, inputs: Tensor, U: Tensor, activation: Activation, sizes: list[int]) -> Tensor:
        states = inputs.clone()
        for now, then in steps(sizes):
            if now.start:
                states[now] += (states[then].to(U.dtype) @ U).to(states.dtype)
            _squash(states[now], activation)
        ctx.save_for_backward(U, states)
        ctx.activation, ctx.sizes = activation, sizes
        return states

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        U, states = ctx.saved_tensors
        deltas = grads[0].clone()
        for now, then in reversed(steps(ctx.sizes)):
            _multiply_slope(deltas[now], states[now], ctx.activation)
            if now.start:
                deltas[then] += (deltas[now].to(U.dtype) @ U.T).to(deltas.dtype)
        return deltas, before(ctx.sizes, states).to(U.dtype).T @ deltas.to(U.dtype), None, None


def _squash(values: Tensor, activation: Activation) -> None:
    if activation != "identity":
        (values.tanh_ if activation == "tanh" else values.relu_)()


def _multiply_slope(delta: Tensor, state: Tensor, activation: Activation) -> None:
    """The derivative of the activation, from its value."""
    if activation == "tanh":
        delta.addcmul_(delta, state.square(), value=-1)
    elif activation == "relu":
        delta.mul_(state > 0)


class Elman(Reducible):
    """`h_t = f(x_t W + h_{t−1} U + b)` with h_0 = 0: iclr2016 §3 (RNN, iRNN).

    Args:
        W: (dim, hidden), what the weights of the inputs start from.
        U: (hidden, hidden), those of the states.
        activation: f.
        reduced: matrix products of training in bfloat16.
    """

    def __init__(self, W: Tensor, U: Tensor, activation: Activation, reduced: bool) -> None:
        super().__init__(reduced)
        self.W, self.U, self.b = nn.Parameter(W), nn.Parameter(U), nn.Parameter(torch.zeros(U.shape[1]))
        self._activation = activation

    def forward(self, packed: Tensor, sizes: list[int]) -> Tensor:
        """States (N, hidden) from inputs `packed` by time (N, dim) with `sizes` sentences at each step."""
        inputs = self.product(packed, self.W) + self.b
        return _Recurrence.apply(inputs, self.fit(self.U), self._activation, sizes)
