"""The simple recurrent network (Elman 1990) over packed sentences."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from paraphrastic.nn.packing import previous_states, time_steps
from paraphrastic.nn.precision import Matmul, MatmulDtype, matmul
from paraphrastic.nn.static_form import Activation


class _Recurrence(torch.autograd.Function):
    """`h_t = f(input_t + h_{t−1} U)` with its gradient by hand; products are computed in the data type of U.

    With δ_t the gradient of the argument of f at step t, `δ_t = f'(·) ⊙ (∂L/∂h_t + δ_{t+1} Uᵀ)` and
    `∂L/∂U = Σ_t h_{t−1}ᵀ δ_t`. All f have derivatives that follow from their value: `1 − h²` for tanh,
    `h > 0` for ReLU.
    """

    @staticmethod
    def forward(ctx: Any, inputs: Tensor, U: Tensor, activation: Activation, batch_sizes: list[int]) -> Tensor:
        states = inputs.clone()  # (N, hidden)
        for current, previous in time_steps(batch_sizes):
            if current.start:
                states[current] += matmul(states[previous].to(U.dtype), U).to(states.dtype)
            _activate(states[current], activation)
        ctx.save_for_backward(U, states)
        ctx.activation, ctx.batch_sizes = activation, batch_sizes
        return states

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        U, states = ctx.saved_tensors
        deltas = grads[0].clone()  # (N, hidden)
        for current, previous in reversed(time_steps(ctx.batch_sizes)):
            _multiply_derivative(deltas[current], states[current], ctx.activation)
            if current.start:
                deltas[previous] += matmul(deltas[current].to(U.dtype), U.T).to(deltas.dtype)
        d_U = matmul(previous_states(ctx.batch_sizes, states).to(U.dtype).T, deltas.to(U.dtype))
        return deltas, d_U, None, None


_recurrence: Callable[..., Tensor] = _Recurrence.apply


def _activate(values: Tensor, activation: Activation) -> None:
    if activation != "linear":
        (values.tanh_ if activation == "tanh" else values.relu_)()


def _multiply_derivative(delta: Tensor, state: Tensor, activation: Activation) -> None:
    if activation == "tanh":
        delta.addcmul_(delta, state.square(), value=-1)
    elif activation == "relu":
        delta.mul_(state > 0)


class Elman(nn.Module):
    """`h_t = f(x_t W + h_{t−1} U + b)` with h_0 = 0: iclr2016 §3 (RNN, iRNN).

    Args:
        W: (dim, hidden), initial weights of the inputs.
        U: (hidden, hidden), initial weights of the states.
        activation: f.
        matmul_dtype: data type of the operands of matrix products in training.
    """

    def __init__(self, W: Tensor, U: Tensor, activation: Activation, matmul_dtype: MatmulDtype) -> None:
        super().__init__()
        self.W, self.U, self.b = nn.Parameter(W), nn.Parameter(U), nn.Parameter(torch.zeros(U.shape[1]))
        self._matmul, self._activation = Matmul(matmul_dtype), activation

    def forward(self, words: Tensor, batch_sizes: list[int]) -> Tensor:
        """Return states (N, hidden) of inputs (N, dim) that are packed by time."""
        inputs = self._matmul(words, self.W) + self.b  # (N, hidden), one product for all steps
        return _recurrence(inputs, self._matmul.cast(self.U), self._activation, batch_sizes)
