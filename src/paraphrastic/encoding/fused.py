"""The cells of an LSTM (`cells`) on the CPU, each direction of a step in one pass over memory.

As single operations of torch they cost as much as the products of matrices that they stand between. Arrays of
int16 hold the bits of bfloat16, which NumPy lacks; all other numbers are float32 or float64.
"""

import math
from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic, overload
from numpy.typing import NDArray

Array = NDArray[Any]

_FAST = {"reassoc", "contract", "arcp", "nsz"}  # but what is not a number stays so, for the loss to show
_OPTIONS = {"fastmath": _FAST, "error_model": "numpy"}
_BOUND = 7.9  # tanh is 1 in float32 beyond
# Of x · P(x²) / Q(x²), from the highest power: the approximation of Eigen, within 3e-7 of tanh.
_P = tuple(map(np.float32, (-2.76076847742355e-16, 2.00018790482477e-13, -8.60467152213735e-11, 5.12229709037114e-08,
                            1.48572235717979e-05, 6.37261928875436e-04, 4.89352455891786e-03)))  # fmt: skip
_Q = tuple(map(np.float32, (1.19825839466702e-06, 1.18534705686654e-04, 2.26843463243900e-03, 4.89352518554385e-03)))


@intrinsic
def _float(context: Any, bits: Any) -> Any:
    return types.float32(types.int32), lambda _, builder, __, args: builder.bitcast(args[0], ir.FloatType())


@intrinsic
def _bits(context: Any, number: Any) -> Any:
    return types.int32(types.float32), lambda _, builder, __, args: builder.bitcast(args[0], ir.IntType(32))


def _wide(number: Any) -> Any:
    """A number as it is, or the float32 that the 16 bits of a bfloat16 stand for."""


@overload(_wide)
def _(number: Any) -> Any:
    def same(number: Any) -> Any:
        return number

    def widened(number: Any) -> Any:
        return _float(np.int32(number) << np.int32(16))

    return widened if number == types.int16 else same


def _narrow(number: Any, like: Any) -> Any:
    """A number as it is, or the 16 bits of the nearest bfloat16, where `like` is such."""


@overload(_narrow)
def _(number: Any, like: Any) -> Any:
    def same(number: Any, like: Any) -> Any:
        return number

    def nearest(number: Any, like: Any) -> Any:
        bits = _bits(number)
        return np.int16((bits + np.int32(0x7FFF) + ((bits >> np.int32(16)) & np.int32(1))) >> np.int32(16))

    return nearest if like == types.int16 else same


def _tanh(x: Any) -> Any:
    """Hyperbolic tangent in the type of x."""


@overload(_tanh, jit_options=_OPTIONS)
def _(x: Any) -> Any:
    low, high = np.float32(-_BOUND), np.float32(_BOUND)
    p0, p1, p2, p3, p4, p5, p6 = _P
    q0, q1, q2, q3 = _Q

    def exact(x: Any) -> Any:
        return math.tanh(x)

    def rational(x: Any) -> Any:
        x = low if x < low else x
        x = high if x > high else x
        s = x * x
        over = (((((p0 * s + p1) * s + p2) * s + p3) * s + p4) * s + p5) * s + p6
        return x * over / (((q0 * s + q1) * s + q2) * s + q3)

    return rational if x == types.float32 else exact


@njit(cache=True, **_OPTIONS)
def _sigmoid(x: Any) -> Any:
    half = np.float32(0.5)
    return half * _tanh(half * x) + half


@njit(cache=True, **_OPTIONS)
def ahead(
    entering: Array,
    places: Array,
    recurrent: Array,
    bias: Array,
    peepholes: Array,
    gates: Array,
    cells: Array,
    tanhs: Array,
    states: Array,
    kept: Array,
    now: int,
    then: int,
    n: int,
) -> None:
    """Write n places from `now` on, whose sentences stand from `then` on one step before; see `cells.ahead`."""
    dim, start = cells.shape[1], np.zeros_like(cells[0])
    for r in range(n):  # loops over few arrays each, which the compiler can make vector instructions of
        gate, cell, tanh, state, keep = gates[now + r], cells[now + r], tanhs[now + r], states[now + r], kept[now + r]
        enter, old = entering[places[now + r]], cells[then + r] if now else start
        for j in range(len(gate)):
            gate[j] = _wide(enter[j]) + _wide(recurrent[r, j]) + bias[j]
        for j in range(dim):
            gate[j] = _sigmoid(gate[j] + old[j] * peepholes[0, j])
        for j in range(dim):
            gate[dim + j] = _sigmoid(gate[dim + j] + old[j] * peepholes[1, j])
        for j in range(dim):
            gate[2 * dim + j] = _tanh(gate[2 * dim + j])
        for j in range(dim):
            cell[j] = gate[dim + j] * old[j] + gate[j] * gate[2 * dim + j]
        for j in range(dim):
            tanh[j] = _tanh(cell[j])
        if len(gate) > 3 * dim:
            for j in range(dim):
                gate[3 * dim + j] = _sigmoid(gate[3 * dim + j] + cell[j] * peepholes[2, j])
            for j in range(dim):
                state[j] = gate[3 * dim + j] * tanh[j]
        else:
            state[:] = tanh
        for j in range(dim):
            keep[j] = _narrow(state[j], keep[j])


@njit(cache=True, **_OPTIONS)
def _back_output(
    gate: Array,
    tanh: Array,
    cell: Array,
    peephole: Array,
    state: Array,
    d_cell: Array,
    delta: Array,
    d_peephole: Array,
) -> None:
    """The part of `back` that is the output gate's; `state`, its gradient, becomes that of tanh of the cell."""
    dim = len(cell)
    for j in range(dim):
        o = gate[3 * dim + j]
        delta[3 * dim + j] = state[j] * tanh[j] * o * (gate.dtype.type(1) - o)
        state[j] *= o
    for j in range(dim):
        d_cell[j] += delta[3 * dim + j] * peephole[j]
        d_peephole[j] += delta[3 * dim + j] * cell[j]


@njit(cache=True, **_OPTIONS)
def back(
    gates: Array,
    cells: Array,
    tanhs: Array,
    peepholes: Array,
    d_states: Array,
    later: Array,
    d_cells: Array,
    deltas: Array,
    d_bias: Array,
    d_peepholes: Array,
    now: int,
    then: int,
    n: int,
) -> None:
    """The same for the gradient, see `cells.back`."""
    dim, start = cells.shape[1], np.zeros_like(cells[0])
    one, state, delta = gates.dtype.type(1), np.empty(dim, gates.dtype), np.empty(gates.shape[1], gates.dtype)
    for r in range(n):
        gate, cell, tanh, d_cell, out = gates[now + r], cells[now + r], tanhs[now + r], d_cells[r], deltas[now + r]
        old = cells[then + r] if now else start
        d_state = d_states[now + r]
        for j in range(dim):
            state[j] = d_state[j] + _wide(later[r, j])
        if len(gate) > 3 * dim:
            _back_output(gate, tanh, cell, peepholes[2], state, d_cell, delta, d_peepholes[2])
        for j in range(dim):
            d_cell[j] += state[j] * (one - tanh[j] * tanh[j])
        for j in range(dim):
            i, f, z = gate[j], gate[dim + j], gate[2 * dim + j]
            delta[j] = d_cell[j] * z * i * (one - i)
            delta[dim + j] = d_cell[j] * old[j] * f * (one - f)
            delta[2 * dim + j] = d_cell[j] * i * (one - z * z)
        for j in range(dim):
            d_cell[j] = d_cell[j] * gate[dim + j] + delta[j] * peepholes[0, j] + delta[dim + j] * peepholes[1, j]
        for j in range(dim):
            d_peepholes[0, j] += delta[j] * old[j]
            d_peepholes[1, j] += delta[dim + j] * old[j]
        for j in range(len(delta)):
            d_bias[j] += delta[j]
        for j in range(len(delta)):
            out[j] = _narrow(delta[j], out[j])


@njit(cache=True, **_OPTIONS)
def gather(deltas: Array, places: Array, out: Array) -> None:
    """See `cells.gather`."""
    for n in range(len(deltas)):
        row = out[places[n]]
        for j in range(len(row)):
            row[j] += _wide(deltas[n, j])
