"""The cells of an LSTM (`cells`) on a GPU, each direction of a step in one kernel.

As single operations of torch a step is twenty launches, which take the CPU several times as long as the GPU needs for
them. Triton comes with the builds of torch for GPUs; `cells` imports this module where there is one. A program of a
kernel has ROWS sentences and COLUMNS of their states.
"""

from typing import Any

import triton
import triton.language as tl
from torch import Tensor
from triton import JITFunction

ROWS, COLUMNS = tl.constexpr(16), tl.constexpr(64)
_PLACES = ["now", "then", "n"]  # differ at every step: not to be compiled for each


@triton.jit
def _tanh(x: tl.tensor) -> tl.tensor:
    return 2 * tl.sigmoid(2 * x) - 1


@triton.jit
def _tile(n: tl.tensor, dim: tl.constexpr) -> tuple[tl.tensor, tl.tensor, tl.tensor]:
    """Sentences (ROWS, 1) and columns (1, COLUMNS) of this program, and which of them there are."""
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)[:, None]
    col = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)[None, :]
    return row, col, (row < n) & (col < dim)


@triton.jit
def _add(sums: tl.tensor, values: tl.tensor, col: tl.tensor, dim: tl.constexpr) -> None:
    """Add the columns of `values` to `sums`, which other programs add to."""
    tl.atomic_add(sums + col, tl.sum(values, 0, keep_dims=True), col < dim)


@triton.jit
def _enters(
    entering: tl.tensor,
    recurrent: tl.tensor,
    bias: tl.tensor,
    block: tl.tensor,
    entry: tl.tensor,
    row: tl.tensor,
    col: tl.tensor,
    here: tl.tensor,
) -> tl.tensor:
    """What enters the gates of a block, but for the peepholes; `block` is its first column."""
    product = tl.load(entering + entry + block, here, 0.0).to(tl.float32)
    back = tl.load(recurrent + row + block, here, 0.0).to(tl.float32)
    return product + back + tl.load(bias + block + col, here, 0.0)


@triton.jit(do_not_specialize=_PLACES)
def _ahead(
    entering: tl.tensor,
    places: tl.tensor,
    recurrent: tl.tensor,
    bias: tl.tensor,
    peepholes: tl.tensor,
    gates: tl.tensor,
    cells: tl.tensor,
    tanhs: tl.tensor,
    states: tl.tensor,
    kept: tl.tensor,
    now: tl.tensor,
    then: tl.tensor,
    n: tl.tensor,
    dim: tl.constexpr,
    blocks: tl.constexpr,
) -> None:
    row, col, here = _tile(n, dim)
    at, wide = (now + row).to(tl.int64) * dim + col, (now + row).to(tl.int64) * blocks * dim + col
    entry = tl.load(places + now + row, row < n, 0) * blocks * dim + col
    own = row * blocks * dim + col
    old = tl.load(cells + (then + row).to(tl.int64) * dim + col, here & (now > 0), 0.0)
    i = _enters(entering, recurrent, bias, 0, entry, own, col, here)
    i = tl.sigmoid(i + old * tl.load(peepholes + col, here, 0.0))
    f = _enters(entering, recurrent, bias, dim, entry, own, col, here)
    f = tl.sigmoid(f + old * tl.load(peepholes + dim + col, here, 0.0))
    z = _tanh(_enters(entering, recurrent, bias, 2 * dim, entry, own, col, here))
    cell = i * z + f * old
    tanh_cell = _tanh(cell)
    state = tanh_cell
    if blocks == 4:
        o = _enters(entering, recurrent, bias, 3 * dim, entry, own, col, here)
        o = tl.sigmoid(o + cell * tl.load(peepholes + 2 * dim + col, here, 0.0))
        tl.store(gates + wide + 3 * dim, o, here)
        state = o * tanh_cell
    tl.store(gates + wide, i, here)
    tl.store(gates + wide + dim, f, here)
    tl.store(gates + wide + 2 * dim, z, here)
    tl.store(cells + at, cell, here)
    tl.store(tanhs + at, tanh_cell, here)
    tl.store(states + at, state, here)
    tl.store(kept + at, state, here)


@triton.jit(do_not_specialize=_PLACES)
def _back(
    gates: tl.tensor,
    cells: tl.tensor,
    tanhs: tl.tensor,
    peepholes: tl.tensor,
    d_states: tl.tensor,
    later: tl.tensor,
    d_cells: tl.tensor,
    deltas: tl.tensor,
    d_bias: tl.tensor,
    d_peepholes: tl.tensor,
    now: tl.tensor,
    then: tl.tensor,
    n: tl.tensor,
    dim: tl.constexpr,
    blocks: tl.constexpr,
) -> None:
    row, col, here = _tile(n, dim)
    at, wide = (now + row).to(tl.int64) * dim + col, (now + row).to(tl.int64) * blocks * dim + col
    own = row * dim + col
    old = tl.load(cells + (then + row).to(tl.int64) * dim + col, here & (now > 0), 0.0)
    i, f = tl.load(gates + wide, here, 0.0), tl.load(gates + wide + dim, here, 0.0)
    z, tanh_cell = tl.load(gates + wide + 2 * dim, here, 0.0), tl.load(tanhs + at, here, 0.0)
    d_state = tl.load(d_states + at, here, 0.0) + tl.load(later + own, here, 0.0).to(tl.float32)
    d_cell = tl.load(d_cells + own, here, 0.0)
    if blocks == 4:
        o = tl.load(gates + wide + 3 * dim, here, 0.0)
        d_o = d_state * tanh_cell * o * (1 - o)
        d_state *= o
        d_cell += d_o * tl.load(peepholes + 2 * dim + col, here, 0.0)
        tl.store(deltas + wide + 3 * dim, d_o, here)
        _add(d_bias + 3 * dim, d_o, col, dim)
        _add(d_peepholes + 2 * dim, d_o * tl.load(cells + at, here, 0.0), col, dim)
    d_cell += d_state * (1 - tanh_cell * tanh_cell)
    d_i, d_f, d_z = d_cell * z * i * (1 - i), d_cell * old * f * (1 - f), d_cell * i * (1 - z * z)
    before = d_cell * f + d_i * tl.load(peepholes + col, here, 0.0) + d_f * tl.load(peepholes + dim + col, here, 0.0)
    tl.store(d_cells + own, before, here)
    tl.store(deltas + wide, d_i, here)
    tl.store(deltas + wide + dim, d_f, here)
    tl.store(deltas + wide + 2 * dim, d_z, here)
    _add(d_bias, d_i, col, dim)
    _add(d_bias + dim, d_f, col, dim)
    _add(d_bias + 2 * dim, d_z, col, dim)
    _add(d_peepholes, d_i * old, col, dim)
    _add(d_peepholes + dim, d_f * old, col, dim)


def ahead(*tensors: Tensor, now: slice, then: slice) -> None:
    """One step of `cells.ahead`, whose tensors these are, `done` unrolled; float32 but for products."""
    _launch(_ahead, tensors, tensors[4], now, then)


def back(*tensors: Tensor, now: slice, then: slice) -> None:
    """One step of `cells.back`, likewise, with the gates, cells and tanhs of `done`."""
    _launch(_back, tensors, tensors[3], now, then)


def _launch(kernel: JITFunction[Any], tensors: tuple[Tensor, ...], peepholes: Tensor, now: slice, then: slice) -> None:
    (gates, dim), n = peepholes.shape, now.stop - now.start
    grid = triton.cdiv(n, ROWS.value), triton.cdiv(dim, COLUMNS.value)
    kernel[grid](*tensors, now.start, then.start, n, dim, gates + 1)  # the candidate has no peephole
