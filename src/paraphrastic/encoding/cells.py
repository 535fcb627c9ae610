"""The cells of an LSTM with peepholes at one step, forward and backward: all of it but the products of matrices.

Gate blocks stand in the order input, forget, candidate and, where there is one, output. What a product has made or is
to read may be in bfloat16, all else is in float32 or float64.
"""

import os
from collections.abc import Callable
from functools import cache, partial
from importlib.util import find_spec
from shutil import which
from typing import NamedTuple

import torch
from torch import Tensor

from paraphrastic.encoding import fused
from paraphrastic.encoding.workspace import Workspace


class Cells(NamedTuple):
    """What a forward pass leaves for the backward one, at N places packed by time.

    Attributes:
        gates: (N, blocks · dim), their values.
        cells: (N, dim).
        tanhs: (N, dim), of the cells.
        states: (N, dim).
        kept: (N, dim), the states in the type of products; the same tensor where it is theirs.
    """

    gates: Tensor
    cells: Tensor
    tanhs: Tensor
    states: Tensor
    kept: Tensor

    @classmethod
    def taken(cls, workspace: Workspace, places: int, U: Tensor, like: Tensor) -> "Cells":
        """Room for so many places; `U` (dim, blocks · dim) has the sizes and the type of products, `like` the other.

        All but the states, which others read, is from `workspace`.
        """
        dim, width = U.shape
        gates = workspace.take("gates", places, width, like)
        cells, tanhs = (workspace.take(name, places, dim, like) for name in ("cells", "tanhs"))
        states = like.new_empty(places, dim)
        kept = states if U.dtype == like.dtype else workspace.take("kept", places, dim, U)
        return cls(gates, cells, tanhs, states, kept)

    def given(self, workspace: Workspace) -> None:
        """Give back what was taken."""
        workspace.give(gates=self.gates, cells=self.cells, tanhs=self.tanhs)
        if self.kept.dtype != self.states.dtype:
            workspace.give(kept=self.kept)


def ahead(
    entering: Tensor, places: Tensor, recurrent: Tensor, bias: Tensor, peepholes: Tensor, done: Cells
) -> Callable[[slice, slice], None]:
    """What writes one step into `done`, given its places and those of the same sentences one step before.

    Args:
        entering: (distinct, blocks · dim), products of inputs.
        places: (N,) int64, which of them enters where.
        recurrent: (sentences, blocks · dim), to hold the products of the states before at each step; zero at the first.
        bias: (blocks · dim,).
        peepholes: (blocks − 1, dim): of input, forget and output gate.
        done: N places.
    """
    inputs = entering, places, recurrent, bias, peepholes
    if bias.device.type == "cpu":
        arrays = [_array(tensor) for tensor in (*inputs, *done)]
        return lambda now, then: fused.ahead(*arrays, now.start, then.start, now.stop - now.start)
    if _in_kernels(bias):
        from paraphrastic.encoding import kernels

        return lambda now, then: kernels.ahead(*inputs, *done, now=now, then=then)
    return partial(_ahead, *inputs, done)


def back(
    done: Cells,
    peepholes: Tensor,
    d_states: Tensor,
    later: Tensor,
    d_cells: Tensor,
    deltas: Tensor,
    d_bias: Tensor,
    d_peepholes: Tensor,
) -> Callable[[slice, slice], None]:
    """What writes the gradient of what entered the gates at one step, given places as in `ahead`.

    Args:
        done: what `ahead` left.
        peepholes: as there.
        d_states: (N, dim), gradient of the states but for what comes from the next step.
        later: (sentences, dim), to hold that at each step, zero where there is no next step.
        d_cells: (sentences, dim), the same of the cells; turned into the gradient of the cells before.
        deltas: (N, blocks · dim), written.
        d_bias: (blocks · dim,), added to.
        d_peepholes: (blocks − 1, dim), added to.
    """
    outputs = peepholes, d_states, later, d_cells, deltas, d_bias, d_peepholes
    if peepholes.device.type == "cpu":
        arrays = [_array(tensor) for tensor in (*done[:3], *outputs)]
        return lambda now, then: fused.back(*arrays, now.start, then.start, now.stop - now.start)
    if _in_kernels(peepholes):
        from paraphrastic.encoding import kernels

        return lambda now, then: kernels.back(*done[:3], *outputs, now=now, then=then)
    return partial(_back, done, *outputs)


def gather(deltas: Tensor, places: Tensor, out: Tensor) -> None:
    """Add each row of `deltas` (N, width) to the row of `out` (distinct, width) that `places` (N,) names."""
    if out.device.type == "cpu":
        fused.gather(*map(_array, (deltas, places, out)))
    else:
        out.index_add_(0, places, deltas.to(out.dtype))


def _in_kernels(tensor: Tensor) -> bool:
    """Whether this device and type have kernels of ours."""
    return tensor.is_cuda and tensor.dtype == torch.float32 and _builds_kernels()


@cache
def _builds_kernels() -> bool:
    """Whether Triton is here, and a compiler for what it launches kernels with."""
    return find_spec("triton") is not None and any(map(which, (os.environ.get("CC", "gcc"), "clang")))


def _array(tensor: Tensor) -> fused.Array:
    return (tensor.view(torch.int16) if tensor.dtype == torch.bfloat16 else tensor).detach().numpy()


def _ahead(
    entering: Tensor,
    places: Tensor,
    recurrent: Tensor,
    bias: Tensor,
    peepholes: Tensor,
    done: Cells,
    now: slice,
    then: slice,
) -> None:
    gates, cells, tanhs, states, kept = (tensor[now] for tensor in done)
    n, dim = cells.shape
    old = done.cells[then] if now.start else torch.zeros_like(cells)
    torch.add(entering.index_select(0, places[now]), bias, out=gates).add_(recurrent[:n])
    i, f, z, *o = gates.split(dim, 1)
    i.addcmul_(old, peepholes[0]).sigmoid_()
    f.addcmul_(old, peepholes[1]).sigmoid_()
    torch.mul(i, z.tanh_(), out=cells).addcmul_(f, old)
    torch.tanh(cells, out=tanhs)
    states.copy_(o[0].addcmul_(cells, peepholes[2]).sigmoid_() * tanhs if o else tanhs)
    kept.copy_(states)


def _back(
    done: Cells,
    peepholes: Tensor,
    d_states: Tensor,
    later: Tensor,
    d_cells: Tensor,
    deltas: Tensor,
    d_bias: Tensor,
    d_peepholes: Tensor,
    now: slice,
    then: slice,
) -> None:
    gates, cells, tanhs, *_ = (tensor[now] for tensor in done)
    n, dim = cells.shape
    old = done.cells[then] if now.start else torch.zeros_like(cells)
    i, f, z, *o = gates.split(dim, 1)
    d_state, d_cell, delta = d_states[now] + later[:n], d_cells[:n], torch.empty_like(gates)
    d_i, d_f, d_z, *d_o = delta.split(dim, 1)
    if o:
        torch.mul(d_state * tanhs, _slope(o[0]), out=d_o[0])
        d_state *= o[0]
        d_cell.addcmul_(d_o[0], peepholes[2])
        d_peepholes[2] += (d_o[0] * cells).sum(0)
    d_cell += d_state * (1 - tanhs.square())
    torch.mul(d_cell * z, _slope(i), out=d_i)
    torch.mul(d_cell * old, _slope(f), out=d_f)
    torch.mul(d_cell * i, 1 - z.square(), out=d_z)
    d_cell.mul_(f).addcmul_(d_i, peepholes[0]).addcmul_(d_f, peepholes[1])
    d_peepholes[0] += (d_i * old).sum(0)
    d_peepholes[1] += (d_f * old).sum(0)
    d_bias += delta.sum(0)
    deltas[now] = delta.to(deltas.dtype)


def _slope(sigmoid: Tensor) -> Tensor:
    return torch.addcmul(sigmoid, sigmoid, sigmoid, value=-1)
