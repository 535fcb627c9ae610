"""The LSTM with peephole connections of Gers et al. (2003) over packed sentences.

`torch.nn.LSTM` has no peepholes and is slower on the CPU for packed sentences. Here the products of all inputs are one
matrix product before the loop over time, and each weight gradient is one product after it. Only the product with the
previous state, and the elementwise cell (`kernels.lstm_cell`), are computed step by step.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Generator, Tensor, nn

from paraphrastic.nn.kernels.lstm_cell import (
    BufferPool,
    LstmActivations,
    add_rows,
    make_backward_step,
    make_forward_step,
)
from paraphrastic.nn.layers import Matmul, glorot_uniform, matmul
from paraphrastic.nn.options import MatmulDtype
from paraphrastic.nn.recurrent import previous_states, time_steps


class _Lstm(torch.autograd.Function):
    """The states of one layer, and their gradient by backpropagation through time.

    Products are computed in the data type of W and U.
    """

    @staticmethod
    def forward(
        ctx: Any,
        inputs: Tensor,
        W: Tensor,
        U: Tensor,
        b: Tensor,
        peepholes: Tensor,
        batch_sizes: list[int],
        rows: Tensor | None,
        pool: BufferPool,
    ) -> Tensor:
        ctx.shared, ctx.batch_sizes, ctx.pool = rows is not None, batch_sizes, pool
        inputs = inputs.to(W.dtype)
        if rows is None:
            rows = torch.arange(len(inputs), device=inputs.device)
        saved = LstmActivations.allocate(pool, len(rows), U, b)
        input_products = matmul(inputs, W)  # (distinct inputs, blocks · hidden)
        state_products = U.new_zeros(max(batch_sizes, default=0), U.shape[1])
        step = make_forward_step(input_products, rows, state_products, b, peepholes, saved)
        for current, previous in time_steps(batch_sizes):
            if current.start:
                matmul(saved.cast_states[previous], U, state_products[: current.stop - current.start])
            step(current, previous)
        ctx.save_for_backward(inputs, W, U, peepholes, rows, *saved)
        return saved.states

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        inputs, W, U, peepholes, rows, *buffers = ctx.saved_tensors
        saved = LstmActivations(*buffers)
        d_cells = torch.zeros_like(saved.cells[: max(ctx.batch_sizes, default=0)])
        d_recurrent, U_transposed = torch.zeros_like(d_cells, dtype=U.dtype), U.T.contiguous()
        deltas = ctx.pool.allocate("deltas", *saved.gates.shape, U)  # (N, blocks · hidden), δ of `lstm_cell`
        d_b, d_peepholes = saved.gates.new_zeros(U.shape[1]), torch.zeros_like(peepholes)
        d_states = grads[0].contiguous()
        step = make_backward_step(saved, peepholes, d_states, d_recurrent, d_cells, deltas, d_b, d_peepholes)
        for current, previous in reversed(time_steps(ctx.batch_sizes)):
            step(current, previous)
            if current.start:
                matmul(deltas[current], U_transposed, d_recurrent[: current.stop - current.start])
        d_U = matmul(previous_states(ctx.batch_sizes, saved.cast_states).T, deltas)
        by_input = deltas  # (inputs, blocks · hidden)
        if ctx.shared:
            sums = deltas.new_zeros(len(inputs), U.shape[1], dtype=torch.promote_types(U.dtype, torch.float32))
            add_rows(deltas, rows, sums)
            by_input = sums.to(U.dtype)
        d_inputs, d_W = matmul(by_input, W.T), matmul(inputs.T, by_input)
        saved.release(ctx.pool)
        ctx.pool.release(deltas=deltas)
        return d_inputs, d_W, d_U, d_b, d_peepholes, None, None, None


_lstm: Callable[..., Tensor] = _Lstm.apply


class PeepholeLstm(nn.Module):
    """One layer, one direction (Gers et al. 2003; acl2017 §3.1, iclr2016 §3).

    With h_0 = c_0 = 0, ⊙ elementwise, and h', c' the state and cell of the previous step:

        i = σ(x Wi + h' Ui + c' ⊙ pi + bi)
        f = σ(x Wf + h' Uf + c' ⊙ pf + bf)
        c = f ⊙ c' + i ⊙ tanh(x Wz + h' Uz + bz)
        o = σ(x Wo + h' Uo + c ⊙ po + bo)
        h = o ⊙ tanh(c)

    Without an output gate, h = tanh(c).

    Args:
        dim: size of an input.
        hidden: size of a state.
        output_gate: whether o exists.
        generator: source of the initial weights.
        matmul_dtype: data type of the operands of matrix products in training.
    """

    def __init__(
        self, dim: int, hidden: int, output_gate: bool, generator: Generator, matmul_dtype: MatmulDtype
    ) -> None:
        super().__init__()
        blocks = 4 if output_gate else 3  # columns of i, f, z and o
        self.W = nn.Parameter(glorot_uniform(dim, hidden, generator, blocks))
        self.U = nn.Parameter(glorot_uniform(hidden, hidden, generator, blocks))
        self.b = nn.Parameter(torch.zeros(blocks * hidden))
        self.peepholes = nn.Parameter(torch.zeros(blocks - 1, hidden))  # z has none
        self.pool, self._matmul = BufferPool(), Matmul(matmul_dtype)

    def forward(self, inputs: Tensor, batch_sizes: list[int], rows: Tensor | None = None) -> Tensor:
        """Return states (N, hidden) of inputs that are packed by time.

        Args:
            inputs: (N, dim); if few distinct inputs occur many times, the distinct ones only, (distinct, dim).
            batch_sizes: sentences at each step; their sum is N.
            rows: (N,) int64, row of `inputs` at each packed position; None if `inputs` has N rows in that order.
        """
        W, U = self._matmul.cast(self.W), self._matmul.cast(self.U)
        return _lstm(inputs, W, U, self.b, self.peepholes, batch_sizes, rows, self.pool)
