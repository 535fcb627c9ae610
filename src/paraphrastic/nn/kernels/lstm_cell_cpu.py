"""The LSTM cell (`lstm_cell`) on the CPU, in one pass over memory per direction.

As separate torch operations, the cell takes as long as the matrix products between which it stands, because every
operation reads and writes all gates. Here each sentence's row stays in the cache from the first gate to the state.
Loops are split so that each reads few arrays, which lets the compiler vectorise them.

NumPy has no bfloat16. Arrays of int16 hold its bits: a bfloat16 is the upper half of a float32, so widening is a shift
by 16 bits, and rounding to nearest even adds 0x7FFF plus the lowest kept bit before the shift.
"""

import math
from typing import Any

import numpy as np
from numba import types
from numba.extending import overload

from paraphrastic.base.parallel import FASTMATH, Array, njit

# Arguments of tanh are clamped to ±7.9, where it is 1 within 3e-7; beyond 9 the approximation below exceeds 1.
_TANH_BOUND = 7.9
# tanh(x) ≈ x · P(x²) / Q(x²), coefficients from the highest power: Eigen's approximation, error below 3e-7.
_P = tuple(map(np.float32, (-2.76076847742355e-16, 2.00018790482477e-13, -8.60467152213735e-11, 5.12229709037114e-08,
                            1.48572235717979e-05, 6.37261928875436e-04, 4.89352455891786e-03)))  # fmt: skip
_Q = tuple(map(np.float32, (1.19825839466702e-06, 1.18534705686654e-04, 2.26843463243900e-03, 4.89352518554385e-03)))


def _widen(number: Any) -> Any:
    """Convert the bits of a bfloat16 to float32; return other numbers unchanged."""


@overload(_widen)
def _overload_widen(number: Any) -> Any:
    def unchanged(number: Any) -> Any:
        return number

    def widened(number: Any) -> Any:
        return np.int32(np.int32(number) << np.int32(16)).view(np.float32)

    return widened if number == types.int16 else unchanged


def _narrow(number: Any, like: Any) -> Any:
    """Round to the bits of the nearest bfloat16 if `like` is an int16; return the number unchanged otherwise."""


@overload(_narrow)
def _overload_narrow(number: Any, like: Any) -> Any:
    def unchanged(number: Any, like: Any) -> Any:
        return number

    def rounded(number: Any, like: Any) -> Any:
        bits = np.float32(number).view(np.int32)
        return np.int16((bits + np.int32(0x7FFF) + ((bits >> np.int32(16)) & np.int32(1))) >> np.int32(16))

    return rounded if like == types.int16 else unchanged


def _tanh(x: Any) -> Any:
    """Hyperbolic tangent: the rational approximation in float32, exact in float64."""


@overload(_tanh, jit_options={"fastmath": FASTMATH, "error_model": "numpy"})
def _overload_tanh(x: Any) -> Any:
    low, high = np.float32(-_TANH_BOUND), np.float32(_TANH_BOUND)
    p0, p1, p2, p3, p4, p5, p6 = _P
    q0, q1, q2, q3 = _Q

    def exact(x: Any) -> Any:
        return math.tanh(x)

    def rational(x: Any) -> Any:
        x = low if x < low else x
        x = high if x > high else x
        s = x * x
        numerator = (((((p0 * s + p1) * s + p2) * s + p3) * s + p4) * s + p5) * s + p6
        return x * numerator / (((q0 * s + q1) * s + q2) * s + q3)

    return rational if x == types.float32 else exact


@njit(fastmath=FASTMATH, error_model="numpy")
def _sigmoid(x: Any) -> Any:
    """`σ(x) = (1 + tanh(x / 2)) / 2`."""
    half = np.float32(0.5)
    return half * _tanh(half * x) + half


@njit(fastmath=FASTMATH, error_model="numpy")
def forward(
    input_products: Array,
    rows: Array,
    state_products: Array,
    bias: Array,
    peepholes: Array,
    gates: Array,
    cells: Array,
    tanhs: Array,
    states: Array,
    cast_states: Array,
    start: int,
    previous_start: int,
    n: int,
) -> None:
    """Compute n positions from `start` on; their sentences stand from `previous_start` on in the previous step.

    Arguments are those of `lstm_cell.make_forward_step`.
    """
    hidden, zero = cells.shape[1], np.zeros_like(cells[0])
    for r in range(n):
        gate, cell, tanh = gates[start + r], cells[start + r], tanhs[start + r]
        state, cast_state = states[start + r], cast_states[start + r]
        x_product = input_products[rows[start + r]]
        old = cells[previous_start + r] if start else zero
        for j in range(len(gate)):
            gate[j] = _widen(x_product[j]) + _widen(state_products[r, j]) + bias[j]
        for j in range(hidden):
            gate[j] = _sigmoid(gate[j] + old[j] * peepholes[0, j])
        for j in range(hidden):
            gate[hidden + j] = _sigmoid(gate[hidden + j] + old[j] * peepholes[1, j])
        for j in range(hidden):
            gate[2 * hidden + j] = _tanh(gate[2 * hidden + j])
        for j in range(hidden):
            cell[j] = gate[hidden + j] * old[j] + gate[j] * gate[2 * hidden + j]
        for j in range(hidden):
            tanh[j] = _tanh(cell[j])
        if len(gate) > 3 * hidden:
            for j in range(hidden):
                gate[3 * hidden + j] = _sigmoid(gate[3 * hidden + j] + cell[j] * peepholes[2, j])
            for j in range(hidden):
                state[j] = gate[3 * hidden + j] * tanh[j]
        else:
            state[:] = tanh
        for j in range(hidden):
            cast_state[j] = _narrow(state[j], cast_state[j])


@njit(fastmath=FASTMATH, error_model="numpy")
def backward(
    gates: Array,
    cells: Array,
    tanhs: Array,
    peepholes: Array,
    d_states: Array,
    d_recurrent: Array,
    d_cells: Array,
    deltas: Array,
    d_bias: Array,
    d_peepholes: Array,
    start: int,
    previous_start: int,
    n: int,
) -> None:
    """Compute the gradient of n positions from `start` on; arguments are those of `lstm_cell.make_backward_step`."""
    hidden, zero = cells.shape[1], np.zeros_like(cells[0])
    one, d_state, delta = gates.dtype.type(1), np.empty(hidden, gates.dtype), np.empty(gates.shape[1], gates.dtype)
    for r in range(n):
        gate, cell, tanh = gates[start + r], cells[start + r], tanhs[start + r]
        d_cell, out, from_loss = d_cells[r], deltas[start + r], d_states[start + r]
        old = cells[previous_start + r] if start else zero
        for j in range(hidden):
            d_state[j] = from_loss[j] + _widen(d_recurrent[r, j])
        if len(gate) > 3 * hidden:
            for j in range(hidden):
                o = gate[3 * hidden + j]
                delta[3 * hidden + j] = d_state[j] * tanh[j] * o * (one - o)
                d_state[j] *= o
            for j in range(hidden):
                d_cell[j] += delta[3 * hidden + j] * peepholes[2, j]
                d_peepholes[2, j] += delta[3 * hidden + j] * cell[j]
        for j in range(hidden):
            d_cell[j] += d_state[j] * (one - tanh[j] * tanh[j])
        for j in range(hidden):
            i, f, z = gate[j], gate[hidden + j], gate[2 * hidden + j]
            delta[j] = d_cell[j] * z * i * (one - i)
            delta[hidden + j] = d_cell[j] * old[j] * f * (one - f)
            delta[2 * hidden + j] = d_cell[j] * i * (one - z * z)
        for j in range(hidden):
            d_cell[j] = d_cell[j] * gate[hidden + j] + delta[j] * peepholes[0, j] + delta[hidden + j] * peepholes[1, j]
        for j in range(hidden):
            d_peepholes[0, j] += delta[j] * old[j]
            d_peepholes[1, j] += delta[hidden + j] * old[j]
        for j in range(len(delta)):
            d_bias[j] += delta[j]
        for j in range(len(delta)):
            out[j] = _narrow(delta[j], out[j])


@njit(fastmath=FASTMATH, error_model="numpy")
def add_rows(deltas: Array, rows: Array, out: Array) -> None:
    """Add each row of `deltas` to row `rows[n]` of `out`."""
    for n in range(len(deltas)):
        row = out[rows[n]]
        for j in range(len(row)):
            row[j] += _widen(deltas[n, j])
