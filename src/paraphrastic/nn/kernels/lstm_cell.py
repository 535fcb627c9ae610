"""The elementwise part of one time step of an LSTM with peepholes, forward and backward.

The matrix products are computed outside (`nn.peephole_lstm`). With s = x W + h' U + b the sum of products and bias, in
the blocks i (input), f (forget), z (candidate) and, if there is an output gate, o, and with c' the previous cell:

    i = σ(s_i + c' ⊙ p_i)    f = σ(s_f + c' ⊙ p_f)    z = tanh(s_z)
    c = i ⊙ z + f ⊙ c'       o = σ(s_o + c ⊙ p_o)     h = o ⊙ tanh(c)

Let dh be the gradient of h, from the loss and from the next step's products, and dc that of c from the next step. With
δ the gradient of s:

    δ_o = dh ⊙ tanh(c) ⊙ o(1 − o)
    dc ← dc + dh ⊙ o ⊙ (1 − tanh²(c)) + δ_o ⊙ p_o
    δ_i = dc ⊙ z ⊙ i(1 − i)    δ_f = dc ⊙ c' ⊙ f(1 − f)    δ_z = dc ⊙ i ⊙ (1 − z²)
    dc' = dc ⊙ f + δ_i ⊙ p_i + δ_f ⊙ p_f

The gradients of the parameters are sums over positions: Σ δ of b, Σ δ_i ⊙ c' of p_i, Σ δ_f ⊙ c' of p_f and Σ δ_o ⊙ c of
p_o. Without an output gate, o = 1 and δ_o does not exist.

`reference_forward` and `reference_backward` are these equations in plain torch. They define the result and run on
devices without a kernel of their own. The CPU runs `lstm_cell_cpu`, NVIDIA GPUs with Triton run `lstm_cell_triton`.

Products and their operands (states and δ) may be bfloat16; everything else is float32 or float64.
"""

import os
import sysconfig
from collections.abc import Callable
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from shutil import which
from typing import NamedTuple

import torch
from torch import Tensor

from paraphrastic.nn.kernels import lstm_cell_cpu
from paraphrastic.nn.kernels.buffer_pool import BufferPool

Step = Callable[[slice, slice], None]  # computes one time step, given its packed positions and the previous ones


class LstmActivations(NamedTuple):
    """Buffers that a forward pass stores for the backward pass, at N packed positions.

    Attributes:
        gates: (N, blocks · hidden), values of i, f, z and o.
        cells: (N, hidden), c.
        tanhs: (N, hidden), tanh(c).
        states: (N, hidden), h.
        cast_states: (N, hidden), h in the data type of products; an alias of `states` if that is the same.
    """

    gates: Tensor
    cells: Tensor
    tanhs: Tensor
    states: Tensor
    cast_states: Tensor

    @classmethod
    def allocate(cls, pool: BufferPool, positions: int, U: Tensor, like: Tensor) -> "LstmActivations":
        """Allocate buffers; all but the states, which the caller returns, come from `pool`.

        Args:
            pool: buffers of earlier steps.
            positions: N.
            U: (hidden, blocks · hidden), in the data type of products.
            like: a tensor in the data type of everything else.
        """
        hidden, width = U.shape
        gates = pool.allocate("gates", positions, width, like)
        cells = pool.allocate("cells", positions, hidden, like)
        tanhs = pool.allocate("tanhs", positions, hidden, like)
        states = like.new_empty(positions, hidden)
        cast_states = states if U.dtype == like.dtype else pool.allocate("cast_states", positions, hidden, U)
        return cls(gates, cells, tanhs, states, cast_states)

    def release(self, pool: BufferPool) -> None:
        """Return the buffers to `pool`."""
        pool.release(gates=self.gates, cells=self.cells, tanhs=self.tanhs)
        if self.cast_states.dtype != self.states.dtype:
            pool.release(cast_states=self.cast_states)


def reference_forward(
    input_products: Tensor,
    rows: Tensor,
    state_products: Tensor,
    bias: Tensor,
    peepholes: Tensor,
    out: LstmActivations,
    current: slice,
    previous: slice,
) -> None:
    """Compute one step in plain torch and store it in `out`; arguments as for `make_forward_step`."""
    gates, cells, tanhs, states, cast_states = (tensor[current] for tensor in out)  # (n, …) views
    n, hidden = cells.shape
    previous_cells = out.cells[previous] if current.start else torch.zeros_like(cells)
    torch.add(input_products.index_select(0, rows[current]), bias, out=gates).add_(state_products[:n])
    i, f, z, *o = gates.split(hidden, 1)  # (n, hidden) each
    i.addcmul_(previous_cells, peepholes[0]).sigmoid_()
    f.addcmul_(previous_cells, peepholes[1]).sigmoid_()
    torch.mul(i, z.tanh_(), out=cells).addcmul_(f, previous_cells)
    torch.tanh(cells, out=tanhs)
    states.copy_(o[0].addcmul_(cells, peepholes[2]).sigmoid_() * tanhs if o else tanhs)
    cast_states.copy_(states)


def reference_backward(
    saved: LstmActivations,
    peepholes: Tensor,
    d_states: Tensor,
    d_recurrent: Tensor,
    d_cells: Tensor,
    deltas: Tensor,
    d_bias: Tensor,
    d_peepholes: Tensor,
    current: slice,
    previous: slice,
) -> None:
    """Compute the gradient of one step in plain torch; arguments as for `make_backward_step`."""
    gates, cells, tanhs, *_ = (tensor[current] for tensor in saved)
    n, hidden = cells.shape
    previous_cells = saved.cells[previous] if current.start else torch.zeros_like(cells)
    i, f, z, *o = gates.split(hidden, 1)
    d_state, d_cell, delta = d_states[current] + d_recurrent[:n], d_cells[:n], torch.empty_like(gates)
    d_i, d_f, d_z, *d_o = delta.split(hidden, 1)
    if o:
        torch.mul(d_state * tanhs, _sigmoid_derivative(o[0]), out=d_o[0])
        d_state *= o[0]
        d_cell.addcmul_(d_o[0], peepholes[2])
        d_peepholes[2] += (d_o[0] * cells).sum(0)
    d_cell += d_state * (1 - tanhs.square())
    torch.mul(d_cell * z, _sigmoid_derivative(i), out=d_i)
    torch.mul(d_cell * previous_cells, _sigmoid_derivative(f), out=d_f)
    torch.mul(d_cell * i, 1 - z.square(), out=d_z)
    d_cell.mul_(f).addcmul_(d_i, peepholes[0]).addcmul_(d_f, peepholes[1])
    d_peepholes[0] += (d_i * previous_cells).sum(0)
    d_peepholes[1] += (d_f * previous_cells).sum(0)
    d_bias += delta.sum(0)
    deltas[current] = delta.to(deltas.dtype)


def _sigmoid_derivative(sigmoid: Tensor) -> Tensor:
    return torch.addcmul(sigmoid, sigmoid, sigmoid, value=-1)


def make_forward_step(
    input_products: Tensor, rows: Tensor, state_products: Tensor, bias: Tensor, peepholes: Tensor, out: LstmActivations
) -> Step:
    """Return a function that computes one time step and stores it in `out`.

    Args:
        input_products: (distinct inputs, blocks · hidden), x W.
        rows: (N,) int64, row of `input_products` at each packed position.
        state_products: (sentences, blocks · hidden), a buffer for h' U of the step; zero at the first step.
        bias: (blocks · hidden,).
        peepholes: (blocks − 1, hidden), p_i, p_f and p_o.
        out: N positions.
    """
    inputs = input_products, rows, state_products, bias, peepholes
    if bias.device.type == "cpu":
        return _on_cpu(lstm_cell_cpu.forward, (*inputs, *out))
    if _has_triton_kernel(bias):
        from paraphrastic.nn.kernels import lstm_cell_triton

        return partial(lstm_cell_triton.forward, (*inputs, *out))
    return partial(reference_forward, *inputs, out)


def make_backward_step(
    saved: LstmActivations,
    peepholes: Tensor,
    d_states: Tensor,
    d_recurrent: Tensor,
    d_cells: Tensor,
    deltas: Tensor,
    d_bias: Tensor,
    d_peepholes: Tensor,
) -> Step:
    """Return a function that computes the gradient of one time step. Steps must be visited from last to first.

    Args:
        saved: the buffers that `make_forward_step` wrote.
        peepholes: (blocks − 1, hidden).
        d_states: (N, hidden), gradient of the states from the loss.
        d_recurrent: (sentences, hidden), a buffer for the gradient of the states from the next step's products; zero
            if there is no next step.
        d_cells: (sentences, hidden), the gradient dc from the next step; replaced by dc'.
        deltas: (N, blocks · hidden), δ, written.
        d_bias: (blocks · hidden,), added to.
        d_peepholes: (blocks − 1, hidden), added to.
    """
    arguments = peepholes, d_states, d_recurrent, d_cells, deltas, d_bias, d_peepholes
    if peepholes.device.type == "cpu":
        return _on_cpu(lstm_cell_cpu.backward, (*saved[:3], *arguments))
    if _has_triton_kernel(peepholes):
        from paraphrastic.nn.kernels import lstm_cell_triton

        return partial(lstm_cell_triton.backward, (*saved[:3], *arguments))
    return partial(reference_backward, saved, *arguments)


def _on_cpu(kernel: Callable[..., None], tensors: tuple[Tensor, ...]) -> Step:
    """Return a function that runs `kernel` on one time step of `tensors`."""
    arrays = [_as_array(tensor) for tensor in tensors]
    return lambda current, previous: kernel(*arrays, current.start, previous.start, current.stop - current.start)


def add_rows(deltas: Tensor, rows: Tensor, out: Tensor) -> None:
    """Add each row of `deltas` (N, width) to the row of `out` (distinct, width) that `rows` (N,) gives.

    On the CPU `index_add_` would need a float32 copy of bfloat16 rows, and takes many times as long.
    """
    if out.device.type == "cpu":
        lstm_cell_cpu.add_rows(*map(_as_array, (deltas, rows, out)))
    else:
        out.index_add_(0, rows, deltas.to(out.dtype))


def _has_triton_kernel(tensor: Tensor) -> bool:
    return tensor.is_cuda and tensor.dtype == torch.float32 and _can_build_triton_kernels()


@cache
def _can_build_triton_kernels() -> bool:
    """Return whether Triton is installed, and what it needs for the code that launches kernels.

    That is a C compiler, the one that `CC` names if it is set, and the header files of Python.
    """
    compilers = [os.environ["CC"]] if "CC" in os.environ else ["gcc", "clang"]
    has_header = Path(sysconfig.get_paths()["include"], "Python.h").is_file()
    return find_spec("triton") is not None and any(map(which, compilers)) and has_header


def _as_array(tensor: Tensor) -> lstm_cell_cpu.Array:
    """Return the memory of `tensor` as an array; bfloat16 as the int16 with the same bits."""
    return (tensor.view(torch.int16) if tensor.dtype == torch.bfloat16 else tensor).detach().numpy()
