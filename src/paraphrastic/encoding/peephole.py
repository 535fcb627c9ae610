"""The LSTM with peepholes of Gers et al. (2003) over packed sentences.

All input products are one matrix product, all weight gradients are one each, and only the products with the
previous state remain in the loop over time. `torch.nn.LSTM` has no peepholes, and is slower on CPU for packed
sequences.
"""

from typing import Any

import torch
from torch import Generator, Tensor, nn

from paraphrastic.encoding.packing import before, steps
from paraphrastic.encoding.products import Reducible
from paraphrastic.encoding.weights import glorot


class _Lstm(torch.autograd.Function):
    """All states of one layer and, by hand, the gradient (backpropagation through time).

    Gate blocks stand in the order input, forget, candidate and, where there is one, output. Weights that come in
    bfloat16 say that products are to be done in it.
    """

    @staticmethod
    def forward(
        ctx: Any,
        rows: Tensor,
        W: Tensor,
        U: Tensor,
        b: Tensor,
        peepholes: Tensor,
        sizes: list[int],
        places: Tensor | None,
    ) -> Tensor:
        dim = len(U)
        inputs = rows.to(W.dtype)
        gates = (inputs @ W).to(b.dtype) + b  # a sum of two types at once is slow
        gates = gates if places is None else gates.index_select(0, places)
        cells = b.new_empty(len(gates), dim)
        tanhs = torch.empty_like(cells)
        states = torch.empty_like(cells) if U.shape[1] == 4 * dim else tanhs
        for now, then in steps(sizes):
            old = cells[then] if now.start else None
            if old is not None:
                gates[now] += (states[then].to(U.dtype) @ U).to(b.dtype)
            _step(gates[now].split(dim, 1), peepholes, old, cells[now], tanhs[now], states[now])
        ctx.save_for_backward(inputs, W, U, peepholes, gates, cells, tanhs, states)
        ctx.sizes, ctx.places = sizes, places
        return states

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        inputs, W, U, peepholes, gates, cells, tanhs, states = ctx.saved_tensors
        d_states, d_peepholes, d_cell = grads[0].clone(), torch.zeros_like(peepholes), None
        deltas = torch.empty_like(gates, dtype=U.dtype)  # gradient of what enters the gates
        for now, then in reversed(steps(ctx.sizes)):
            old = cells[then] if now.start else None
            values, delta = (gates[now], cells[now], tanhs[now]), torch.empty_like(gates[now])
            d_cell = _step_back(values, old, d_states[now], d_cell, delta, peepholes, d_peepholes)
            deltas[now] = delta
            if old is not None:
                d_states[then] += (deltas[now] @ U.T).to(d_states.dtype)
        d_U, d_b = before(ctx.sizes, states).to(U.dtype).T @ deltas, deltas.sum(0)
        if ctx.places is not None:
            deltas = gates.new_zeros(len(inputs), deltas.shape[1]).index_add(0, ctx.places, deltas.to(gates.dtype))
            deltas = deltas.to(U.dtype)
        return deltas @ W.T, inputs.T @ deltas, d_U, d_b, d_peepholes, None, None


def _step(
    gates: tuple[Tensor, ...], peepholes: Tensor, old: Tensor | None, cell: Tensor, squashed: Tensor, state: Tensor
) -> None:
    """Turn what enters the gates into their values, and write cell, tanh of the cell and state; old: cells before."""
    i, f, z, *o = gates
    if old is not None:
        i.addcmul_(old, peepholes[0])
        f.addcmul_(old, peepholes[1])
    torch.mul(i.sigmoid_(), z.tanh_(), out=cell)
    f.sigmoid_()
    if old is not None:
        cell.addcmul_(f, old)
    torch.tanh(cell, out=squashed)
    if o:
        torch.mul(o[0].addcmul_(cell, peepholes[2]).sigmoid_(), squashed, out=state)


def _step_back(
    values: tuple[Tensor, Tensor, Tensor],
    old: Tensor | None,
    d_state: Tensor,
    d_later: Tensor | None,
    delta: Tensor,
    peepholes: Tensor,
    d_peepholes: Tensor,
) -> Tensor | None:
    """Write the gradient of what entered the gates; that of the cells before is returned.

    d_later: gradient that the cells have from the next step, which only the first sentences reach.
    """
    gates, cell, squashed = values
    (i, f, z, *o), (d_i, d_f, d_z, *d_o) = (blocks.split(cell.shape[1], 1) for blocks in (gates, delta))
    d_cell = torch.addcmul(d_state, d_state, squashed.square(), value=-1)
    if o:
        d_cell.mul_(o[0])
        torch.mul(d_state.mul(squashed), _slope(o[0]), out=d_o[0])
        d_cell.addcmul_(d_o[0], peepholes[2])
        d_peepholes[2] += (d_o[0] * cell).sum(0)
    if d_later is not None:
        d_cell[: len(d_later)] += d_later
    torch.mul(d_cell.mul(z), _slope(i), out=d_i)
    torch.mul(d_cell.mul(i), 1 - z.square(), out=d_z)
    if old is None:
        d_f.zero_()
        return None
    torch.mul(d_cell.mul(old), _slope(f), out=d_f)
    d_peepholes[0] += (d_i * old).sum(0)
    d_peepholes[1] += (d_f * old).sum(0)
    return d_cell.mul_(f).addcmul_(d_i, peepholes[0]).addcmul_(d_f, peepholes[1])


def _slope(sigmoid: Tensor) -> Tensor:
    return torch.addcmul(sigmoid, sigmoid, sigmoid, value=-1)


class Peephole(Reducible):
    """One layer, one direction.

    With h_0 = c_0 = 0 and ⊙ elementwise, for each step (Gers et al. 2003; acl2017 §3.1, iclr2016 §3):
    `i = σ(x Wi + h' Ui + c' ⊙ pi + bi)`, `f = σ(x Wf + h' Uf + c' ⊙ pf + bf)`,
    `c = f ⊙ c' + i ⊙ tanh(x Wz + h' Uz + bz)`, `o = σ(x Wo + h' Uo + c ⊙ po + bo)`, `h = o ⊙ tanh(c)`.
    Without an output gate `h = tanh(c)`.

    Args:
        dim: size of an input.
        hidden: size of a state.
        output_gate: whether there is one.
        generator: source of the first weights.
        reduced: matrix products of training in bfloat16.
    """

    def __init__(self, dim: int, hidden: int, output_gate: bool, generator: Generator, reduced: bool) -> None:
        super().__init__(reduced)
        blocks = 4 if output_gate else 3
        self.W = nn.Parameter(glorot(dim, hidden, generator, blocks))
        self.U = nn.Parameter(glorot(hidden, hidden, generator, blocks))
        self.b = nn.Parameter(torch.zeros(blocks * hidden))
        self.peepholes = nn.Parameter(torch.zeros(blocks - 1, hidden))

    def forward(self, inputs: Tensor, sizes: list[int], places: Tensor | None = None) -> Tensor:
        """States (N, hidden) of inputs packed by time, with `sizes` sentences at each step.

        Args:
            inputs: (N, dim); or, where few different ones occur again and again, these once (distinct, dim).
            sizes: they sum to N.
            places: (N,) int64, the row of `inputs` at each packed place; None where each has its own.
        """
        W, U = self.fit(self.W), self.fit(self.U)
        return _Lstm.apply(inputs, W, U, self.b, self.peepholes, sizes, places)
