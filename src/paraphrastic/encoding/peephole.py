"""The LSTM with peepholes of Gers et al. (2003) over packed sentences.

All input products are one matrix product, all weight gradients are one each, and only the products with the
previous state remain in the loop over time. `torch.nn.LSTM` has no peepholes, and is slower on CPU for packed
sequences.
"""

from typing import Any

import torch
from torch import Generator, Tensor, nn

from paraphrastic.encoding.cells import Cells, ahead, back, gather
from paraphrastic.encoding.packing import before, steps
from paraphrastic.encoding.products import Reducible
from paraphrastic.encoding.weights import glorot
from paraphrastic.encoding.workspace import Workspace


class _Lstm(torch.autograd.Function):
    """All states of one layer and, by hand, the gradient (backpropagation through time).

    Weights that come in bfloat16 say that products are to be done in it.
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
        workspace: Workspace,
    ) -> Tensor:
        inputs, ctx.shared, ctx.sizes, ctx.workspace = rows.to(W.dtype), places is not None, sizes, workspace
        entering, places = inputs @ W, torch.arange(len(rows), device=rows.device) if places is None else places
        done = Cells.taken(workspace, len(places), U, b)
        recurrent = U.new_zeros(max(sizes, default=0), U.shape[1])
        step = ahead(entering, places, recurrent, b, peepholes, done)
        for now, then in steps(sizes):
            if now.start:
                torch.mm(done.kept[then], U, out=recurrent[: now.stop - now.start])
            step(now, then)
        ctx.save_for_backward(inputs, W, U, peepholes, places, *done)
        return done.states

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        inputs, W, U, peepholes, places, *tensors = ctx.saved_tensors
        done = Cells(*tensors)
        d_cells = torch.zeros_like(done.cells[: max(ctx.sizes, default=0)])
        later, back_U = torch.zeros_like(d_cells, dtype=U.dtype), U.T.contiguous()
        deltas = ctx.workspace.take("deltas", *done.gates.shape, U)  # gradient of what enters the gates
        d_b, d_peepholes = done.gates.new_zeros(U.shape[1]), torch.zeros_like(peepholes)
        step = back(done, peepholes, grads[0].contiguous(), later, d_cells, deltas, d_b, d_peepholes)
        for now, then in reversed(steps(ctx.sizes)):
            step(now, then)
            if now.start:
                torch.mm(deltas[now], back_U, out=later[: now.stop - now.start])
        d_U = before(ctx.sizes, done.kept).T @ deltas
        by_input = _by_input(deltas, places, len(inputs)) if ctx.shared else deltas
        d_rows, d_W = by_input @ W.T, inputs.T @ by_input
        done.given(ctx.workspace)
        ctx.workspace.give(deltas=deltas)
        return d_rows, d_W, d_U, d_b, d_peepholes, None, None, None


def _by_input(deltas: Tensor, places: Tensor, inputs: int) -> Tensor:
    """The rows of `deltas` (N, width) that belong to the same input added up, (inputs, width)."""
    out = deltas.new_zeros(inputs, deltas.shape[1], dtype=torch.promote_types(deltas.dtype, torch.float32))
    gather(deltas, places, out)
    return out.to(deltas.dtype)


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
        self.workspace = Workspace()

    def forward(self, inputs: Tensor, sizes: list[int], places: Tensor | None = None) -> Tensor:
        """States (N, hidden) of inputs packed by time, with `sizes` sentences at each step.

        Args:
            inputs: (N, dim); or, where few different ones occur again and again, these once (distinct, dim).
            sizes: they sum to N.
            places: (N,) int64, the row of `inputs` at each packed place; None where each has its own.
        """
        W, U = self.fit(self.W), self.fit(self.U)
        return _Lstm.apply(inputs, W, U, self.b, self.peepholes, sizes, places, self.workspace)
