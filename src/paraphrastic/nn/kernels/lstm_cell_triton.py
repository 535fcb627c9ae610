"""The LSTM cell (`lstm_cell`) on NVIDIA GPUs, one Triton kernel per direction and time step.

As separate torch operations a step is twenty kernel launches, which take the CPU several times as long as the GPU needs
to execute them. Triton is part of torch's GPU builds; `lstm_cell` imports this module only if it is installed. Each
program of a kernel computes ROWS sentences and COLUMNS elements of their states.
"""

from typing import Any

import triton
import triton.language as tl
from torch import Tensor
from triton import JITFunction

ROWS, COLUMNS = tl.constexpr(16), tl.constexpr(64)
_POSITIONS = ["start", "previous_start", "n"]  # differ at every step; specialising on them would compile for each step


@triton.jit
def _tanh(x: tl.tensor) -> tl.tensor:
    return 2 * tl.sigmoid(2 * x) - 1


@triton.jit
def _tile(n: tl.tensor, hidden: tl.constexpr) -> tuple[tl.tensor, tl.tensor, tl.tensor]:
    """Return this program's rows (ROWS, 1) and columns (1, COLUMNS), and a mask of those in range."""
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)[:, None]
    col = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)[None, :]
    return row, col, (row < n) & (col < hidden)


@triton.jit
def _add_columns(sums: tl.tensor, values: tl.tensor, col: tl.tensor, hidden: tl.constexpr) -> None:
    """Add the column sums of `values` to `sums`, which other programs add to at the same time."""
    tl.atomic_add(sums + col, tl.sum(values, 0, keep_dims=True), col < hidden)


@triton.jit
def _gate_input(
    input_products: tl.tensor,
    state_products: tl.tensor,
    bias: tl.tensor,
    block: tl.tensor,
    input_row: tl.tensor,
    state_row: tl.tensor,
    col: tl.tensor,
    mask: tl.tensor,
) -> tl.tensor:
    """Return x W + h' U + b of the block that begins at column `block`."""
    from_input = tl.load(input_products + input_row + block, mask, 0.0).to(tl.float32)
    from_state = tl.load(state_products + state_row + block, mask, 0.0).to(tl.float32)
    return from_input + from_state + tl.load(bias + block + col, mask, 0.0)


@triton.jit(do_not_specialize=_POSITIONS)
def _forward(
    input_products: tl.tensor,
    rows: tl.tensor,
    state_products: tl.tensor,
    bias: tl.tensor,
    peepholes: tl.tensor,
    gates: tl.tensor,
    cells: tl.tensor,
    tanhs: tl.tensor,
    states: tl.tensor,
    cast_states: tl.tensor,
    start: tl.tensor,
    previous_start: tl.tensor,
    n: tl.tensor,
    hidden: tl.constexpr,
    blocks: tl.constexpr,
) -> None:
    row, col, mask = _tile(n, hidden)
    at = (start + row).to(tl.int64) * hidden + col
    gate_at = (start + row).to(tl.int64) * blocks * hidden + col
    input_row = tl.load(rows + start + row, row < n, 0) * blocks * hidden + col
    state_row = row * blocks * hidden + col
    old = tl.load(cells + (previous_start + row).to(tl.int64) * hidden + col, mask & (start > 0), 0.0)
    i = _gate_input(input_products, state_products, bias, 0, input_row, state_row, col, mask)
    i = tl.sigmoid(i + old * tl.load(peepholes + col, mask, 0.0))
    f = _gate_input(input_products, state_products, bias, hidden, input_row, state_row, col, mask)
    f = tl.sigmoid(f + old * tl.load(peepholes + hidden + col, mask, 0.0))
    z = _tanh(_gate_input(input_products, state_products, bias, 2 * hidden, input_row, state_row, col, mask))
    cell = i * z + f * old
    tanh_cell = _tanh(cell)
    state = tanh_cell
    if blocks == 4:
        o = _gate_input(input_products, state_products, bias, 3 * hidden, input_row, state_row, col, mask)
        o = tl.sigmoid(o + cell * tl.load(peepholes + 2 * hidden + col, mask, 0.0))
        tl.store(gates + gate_at + 3 * hidden, o, mask)
        state = o * tanh_cell
    tl.store(gates + gate_at, i, mask)
    tl.store(gates + gate_at + hidden, f, mask)
    tl.store(gates + gate_at + 2 * hidden, z, mask)
    tl.store(cells + at, cell, mask)
    tl.store(tanhs + at, tanh_cell, mask)
    tl.store(states + at, state, mask)
    tl.store(cast_states + at, state, mask)


@triton.jit(do_not_specialize=_POSITIONS)
def _backward(
    gates: tl.tensor,
    cells: tl.tensor,
    tanhs: tl.tensor,
    peepholes: tl.tensor,
    d_states: tl.tensor,
    d_recurrent: tl.tensor,
    d_cells: tl.tensor,
    deltas: tl.tensor,
    d_bias: tl.tensor,
    d_peepholes: tl.tensor,
    start: tl.tensor,
    previous_start: tl.tensor,
    n: tl.tensor,
    hidden: tl.constexpr,
    blocks: tl.constexpr,
) -> None:
    row, col, mask = _tile(n, hidden)
    at = (start + row).to(tl.int64) * hidden + col
    gate_at = (start + row).to(tl.int64) * blocks * hidden + col
    step_at = row * hidden + col
    old = tl.load(cells + (previous_start + row).to(tl.int64) * hidden + col, mask & (start > 0), 0.0)
    i, f = tl.load(gates + gate_at, mask, 0.0), tl.load(gates + gate_at + hidden, mask, 0.0)
    z, tanh_cell = tl.load(gates + gate_at + 2 * hidden, mask, 0.0), tl.load(tanhs + at, mask, 0.0)
    d_state = tl.load(d_states + at, mask, 0.0) + tl.load(d_recurrent + step_at, mask, 0.0).to(tl.float32)
    d_cell = tl.load(d_cells + step_at, mask, 0.0)
    if blocks == 4:
        o = tl.load(gates + gate_at + 3 * hidden, mask, 0.0)
        d_o = d_state * tanh_cell * o * (1 - o)
        d_state *= o
        d_cell += d_o * tl.load(peepholes + 2 * hidden + col, mask, 0.0)
        tl.store(deltas + gate_at + 3 * hidden, d_o, mask)
        _add_columns(d_bias + 3 * hidden, d_o, col, hidden)
        _add_columns(d_peepholes + 2 * hidden, d_o * tl.load(cells + at, mask, 0.0), col, hidden)
    d_cell += d_state * (1 - tanh_cell * tanh_cell)
    d_i, d_f, d_z = d_cell * z * i * (1 - i), d_cell * old * f * (1 - f), d_cell * i * (1 - z * z)
    d_old = d_cell * f + d_i * tl.load(peepholes + col, mask, 0.0) + d_f * tl.load(peepholes + hidden + col, mask, 0.0)
    tl.store(d_cells + step_at, d_old, mask)
    tl.store(deltas + gate_at, d_i, mask)
    tl.store(deltas + gate_at + hidden, d_f, mask)
    tl.store(deltas + gate_at + 2 * hidden, d_z, mask)
    _add_columns(d_bias, d_i, col, hidden)
    _add_columns(d_bias + hidden, d_f, col, hidden)
    _add_columns(d_bias + 2 * hidden, d_z, col, hidden)
    _add_columns(d_peepholes, d_i * old, col, hidden)
    _add_columns(d_peepholes + hidden, d_f * old, col, hidden)


def forward(tensors: tuple[Tensor, ...], current: slice, previous: slice) -> None:
    """Compute one step; `tensors` are the arguments of `lstm_cell.make_forward_step`, with `out` unpacked."""
    _launch(_forward, tensors, tensors[4], current, previous)


def backward(tensors: tuple[Tensor, ...], current: slice, previous: slice) -> None:
    """Compute the gradient of one step; `tensors` are gates, cells, tanhs and the arguments of `make_backward_step`."""
    _launch(_backward, tensors, tensors[3], current, previous)


def _launch(
    kernel: JITFunction[Any], tensors: tuple[Tensor, ...], peepholes: Tensor, current: slice, previous: slice
) -> None:
    (gates, hidden), n = peepholes.shape, current.stop - current.start
    grid = triton.cdiv(n, ROWS.value), triton.cdiv(hidden, COLUMNS.value)
    kernel[grid](*tensors, current.start, previous.start, n, hidden, gates + 1)  # z has no peephole
