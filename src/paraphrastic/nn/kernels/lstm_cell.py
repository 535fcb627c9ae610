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

`cell` and `cell_gradient` are these equations in plain torch. They define the result and run on all devices except the
CPU, which runs `lstm_cell_cpu`. On NVIDIA GPUs `torch.compile` fuses them: as separate operations a step is twenty
kernel launches, which take the CPU several times as long as the GPU needs to execute them.

Products and their operands (states and δ) may be bfloat16; everything else is float32 or float64.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor

from paraphrastic.nn.kernels import lstm_cell_cpu

TensorFunction = Callable[..., tuple[Tensor, ...]]
TimeStep = Callable[[slice, slice], None]  # computes one time step, given its packed positions and the previous ones


class BufferPool:
    """Uninitialised tensors by name; a released buffer is reused by the next request of that name.

    Without reuse the operating system must zero fresh memory pages in every step, 150 MB per step for charLSTM.
    """

    def __init__(self) -> None:
        self._released: dict[str, Tensor] = {}

    def allocate(self, name: str, rows: int, width: int, like: Tensor) -> Tensor:
        """Return an uninitialised tensor (rows, width) with the data type and device of `like`.

        It reuses the buffer that was last released under `name`, if that is large enough. The version counter of
        that buffer is incremented, so that a backward pass through its old contents raises.
        """
        old = self._released.pop(name, None)
        size = rows * width * like.element_size()
        if old is None or (old.dtype, old.device) != (like.dtype, like.device) or old.untyped_storage().nbytes() < size:
            return like.new_empty(rows, width)
        old[:0].zero_()  # writes no element, but increments the version counter
        return old.as_strided((rows, width), (width, 1))

    def release(self, **buffers: Tensor) -> None:
        """Make buffers available for reuse under their names."""
        self._released |= buffers


class LstmActivations(NamedTuple):
    """Buffers that a forward pass stores for the backward pass, at N packed positions."""

    gates: Tensor  # (N, blocks · hidden), values of i, f, z and o
    cells: Tensor  # (N, hidden), c
    tanhs: Tensor  # (N, hidden), tanh(c)
    states: Tensor  # (N, hidden), h
    cast_states: Tensor  # (N, hidden), h in the data type of products; an alias of `states` if that is the same

    @classmethod
    def allocate(cls, pool: BufferPool, positions: int, U: Tensor, like: Tensor) -> "LstmActivations":
        """Allocate buffers; all but the states, which the caller returns, come from `pool`.

        `U` (hidden, blocks · hidden) has the data type of products, `like` that of everything else.
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


def cell(
    input_products: Tensor, state_products: Tensor, bias: Tensor, peepholes: Tensor, previous: Tensor
) -> tuple[Tensor, ...]:
    """Return gates (n, blocks · hidden), c, tanh(c) and h (n, hidden) of one step of n sentences.

    Args:
        input_products: (n, blocks · hidden), x W.
        state_products: (n, blocks · hidden), h' U.
        bias: (blocks · hidden,), b.
        peepholes: (blocks − 1, hidden), p_i, p_f and p_o.
        previous: (n, hidden), c'.
    """
    s_i, s_f, s_z, *s_o = (bias + input_products + state_products).split(peepholes.shape[1], 1)  # (n, hidden) each
    i, f, z = (s_i + previous * peepholes[0]).sigmoid(), (s_f + previous * peepholes[1]).sigmoid(), s_z.tanh()
    c = i * z + f * previous
    tanh_c = c.tanh()
    o = [(s + c * peepholes[2]).sigmoid() for s in s_o]
    return torch.cat([i, f, z, *o], 1), c, tanh_c, o[0] * tanh_c if o else tanh_c


def cell_gradient(
    gates: Tensor, c: Tensor, tanh_c: Tensor, previous: Tensor, peepholes: Tensor, d_h: Tensor, d_c: Tensor
) -> tuple[Tensor, ...]:
    """Return δ (n, blocks · hidden), dc' (n, hidden), and the gradients of bias and peepholes from one step.

    Gates, c and tanh(c) are from `cell`, `previous` and `peepholes` are its arguments. `d_h` (n, hidden) is dh, and
    `d_c` (n, hidden) is dc from the next step.
    """
    i, f, z, *o = gates.split(peepholes.shape[1], 1)  # (n, hidden) each
    d_o = [d_h * tanh_c * gate * (1 - gate) for gate in o]
    d_c = d_c + (d_h * o[0] if o else d_h) * (1 - tanh_c.square())
    d_c = d_c + d_o[0] * peepholes[2] if o else d_c
    d_i, d_f, d_z = d_c * z * i * (1 - i), d_c * previous * f * (1 - f), d_c * i * (1 - z.square())
    d_previous = d_c * f + d_i * peepholes[0] + d_f * peepholes[1]
    d_peepholes = torch.stack([(d_i * previous).sum(0), (d_f * previous).sum(0), *((d * c).sum(0) for d in d_o)])
    delta = torch.cat([d_i, d_f, d_z, *d_o], 1)
    return delta, d_previous, delta.sum(0), d_peepholes


class Compiled:
    """A function compiled by `torch.compile`; the function itself from the first failure on, as without a compiler."""

    def __init__(self, function: TensorFunction) -> None:
        self._function = function
        self._compiled: TensorFunction | None = None

    def __call__(self, *tensors: Tensor) -> tuple[Tensor, ...]:
        """Call the function."""
        try:
            self._compiled = self._compiled or torch.compile(self._function, dynamic=True)
            return self._compiled(*tensors)
        except Exception:  # the compilers of torch raise errors of many classes
            self._compiled = self._function
            return self._function(*tensors)


_compiled_cell, _compiled_cell_gradient = Compiled(cell), Compiled(cell_gradient)


def make_forward_step(
    input_products: Tensor, rows: Tensor, state_products: Tensor, bias: Tensor, peepholes: Tensor, out: LstmActivations
) -> TimeStep:
    """Return a function that computes one time step and stores it in `out`.

    Args:
        input_products: (distinct inputs, blocks · hidden), x W.
        rows: (N,) int64, row of `input_products` at each packed position.
        state_products: (sentences, blocks · hidden), a buffer for h' U of the step; zero at the first step.
        bias: (blocks · hidden,).
        peepholes: (blocks − 1, hidden), p_i, p_f and p_o.
        out: N positions.
    """
    if bias.device.type == "cpu":
        return _on_cpu(lstm_cell_cpu.forward, (input_products, rows, state_products, bias, peepholes, *out))

    compute = _compiled_cell if bias.is_cuda else cell

    def step(current: slice, previous: slice) -> None:
        products = input_products.index_select(0, rows[current])
        old = _previous_cells(out, current, previous)
        computed = compute(products, state_products[: len(products)], bias, peepholes, old)
        for buffer, values in zip(out, (*computed, computed[-1]), strict=True):
            buffer[current] = values

    return step


def make_backward_step(
    saved: LstmActivations,
    peepholes: Tensor,
    d_states: Tensor,
    d_recurrent: Tensor,
    d_cells: Tensor,
    deltas: Tensor,
    d_bias: Tensor,
    d_peepholes: Tensor,
) -> TimeStep:
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
    if peepholes.device.type == "cpu":
        gradients = d_states, d_recurrent, d_cells, deltas, d_bias, d_peepholes
        return _on_cpu(lstm_cell_cpu.backward, (*saved[:3], peepholes, *gradients))

    compute = _compiled_cell_gradient if peepholes.is_cuda else cell_gradient

    def step(current: slice, previous: slice) -> None:
        gates, cells, tanhs = (tensor[current] for tensor in saved[:3])
        n, old = len(cells), _previous_cells(saved, current, previous)
        d_h = d_states[current] + d_recurrent[:n]
        delta, d_old, d_b, d_p = compute(gates, cells, tanhs, old, peepholes, d_h, d_cells[:n])
        deltas[current], d_cells[:n] = delta, d_old
        d_bias.add_(d_b)
        d_peepholes.add_(d_p)

    return step


def _previous_cells(saved: LstmActivations, current: slice, previous: slice) -> Tensor:
    """Return c' of the step `current`; zero at the first step."""
    return saved.cells[previous] if current.start else torch.zeros_like(saved.cells[current])


def _on_cpu(kernel: Callable[..., None], tensors: tuple[Tensor, ...]) -> TimeStep:
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


def _as_array(tensor: Tensor) -> Any:
    """Return the memory of `tensor` as an array; bfloat16 as the int16 with the same bits."""
    return (tensor.view(torch.int16) if tensor.dtype == torch.bfloat16 else tensor).detach().numpy()
