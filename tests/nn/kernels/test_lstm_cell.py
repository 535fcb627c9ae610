"""One time step of an LSTM: the loops for the CPU against the equations in plain torch, compiled or not."""

import numpy as np
import pytest
import torch

from paraphrastic.nn.kernels.lstm_cell import (
    BufferPool,
    Compiled,
    LstmActivations,
    add_rows,
    cell,
    cell_gradient,
    make_backward_step,
    make_forward_step,
)
from tests.helpers.pretended_device import DEVICE, gpu

HIDDEN = 19  # not a multiple of the width of a vector register
POSITIONS, INPUTS, SENTENCES = 10, 7, 6
CURRENT, PREVIOUS = slice(6, 10), slice(1, 5)  # four sentences at the second step
FIRST, NO_STEP = slice(0, 6), slice(0, 0)


def normal(*shape, dtype=torch.float32, seed=3):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).to(dtype)


def random_step(blocks, matmul_dtype, dtype):
    """Return the arguments of `make_forward_step`, its `out`, and the gradients of `make_backward_step`."""
    width = blocks * HIDDEN
    like = torch.empty(HIDDEN, width, dtype=matmul_dtype), torch.empty(0, dtype=dtype)
    out = LstmActivations.allocate(BufferPool(), POSITIONS, *like)
    out.cells.copy_(normal(POSITIONS, HIDDEN))
    rows = torch.tensor([3, 0, 3, 6, 1, 1, 5, 2, 0, 4])
    input_products, state_products = (normal(n, width, dtype=matmul_dtype, seed=n) for n in (INPUTS, SENTENCES))
    inputs = input_products, rows, state_products, normal(width, dtype=dtype), normal(blocks - 1, HIDDEN, dtype=dtype)
    d_states, d_cells = (normal(n, HIDDEN, dtype=dtype, seed=n) for n in (POSITIONS, SENTENCES))
    d_recurrent = normal(SENTENCES, HIDDEN, dtype=matmul_dtype, seed=1)
    d_weights = normal(width, dtype=dtype, seed=2), normal(blocks - 1, HIDDEN, dtype=dtype, seed=4)
    deltas = torch.zeros_like(out.gates, dtype=matmul_dtype)
    return inputs, out, (d_states, d_recurrent, d_cells, deltas, *d_weights)


def forward_and_backward(device, step, *types):
    """Return everything that one step forward and backward on `device` writes, in float64 in main memory."""
    inputs, out, gradients = ([tensor.to(device) for tensor in part] for part in random_step(*types))
    out = LstmActivations(*out)
    make_forward_step(*inputs, out)(*step)
    make_backward_step(out, inputs[-1], *gradients)(*step)
    _, _, d_cells, deltas, *d_weights = gradients
    written = [tensor[step[0]] for tensor in (*out, deltas)]
    return [tensor.cpu().double() for tensor in (*written, d_cells, *d_weights)]


@pytest.mark.parametrize("step", [(CURRENT, PREVIOUS), (FIRST, NO_STEP)], ids=["second step", "first step"])
@pytest.mark.parametrize("blocks", [3, 4], ids=["no output gate", "output gate"])
@pytest.mark.parametrize(
    ("matmul_dtype", "dtype", "tolerance"),
    [
        (torch.float64, torch.float64, 1e-12),
        (torch.float32, torch.float32, 3e-6),
        (torch.bfloat16, torch.float32, 1e-2),
    ],
)
def test_step_on_cpu_and_on_another_device(step, blocks, matmul_dtype, dtype, tolerance):
    on_cpu = forward_and_backward("cpu", step, blocks, matmul_dtype, dtype)
    with gpu():
        in_torch = forward_and_backward(DEVICE, step, blocks, matmul_dtype, dtype)
    for one, other in zip(on_cpu, in_torch, strict=True):
        torch.testing.assert_close(one, other, atol=tolerance, rtol=tolerance)


def cell_arguments(n, blocks):
    """Return arguments of `cell` and of `cell_gradient` for n sentences."""
    width, previous = blocks * HIDDEN, normal(n, HIDDEN)
    peepholes, d_h = normal(blocks - 1, HIDDEN, seed=1), normal(n, HIDDEN, seed=2)
    products = normal(n, width), normal(n, width, seed=4), normal(width, seed=5), peepholes, previous
    gates, c, tanh_c, _ = cell(*products)
    return products, (gates, c, tanh_c, previous, peepholes, d_h, normal(n, HIDDEN, seed=6))


@pytest.mark.parametrize("fails_when", ["compiled", "called"])
def test_cell_where_compilation_fails(fails_when, monkeypatch):
    attempts = []

    def fail(*arguments, **options):
        attempts.append(arguments)
        raise RuntimeError("no C compiler")

    monkeypatch.setattr(torch, "compile", fail if fails_when == "compiled" else lambda function, **options: fail)
    compiled, (arguments, _) = Compiled(cell), cell_arguments(3, 4)
    for _ in range(2):
        assert all(map(torch.equal, compiled(*arguments), cell(*arguments)))
    assert len(attempts) == 1


def test_function_is_compiled_once_for_all_sizes(monkeypatch):
    calls, compiled = [], Compiled(cell)
    monkeypatch.setattr(torch, "compile", lambda function, **options: calls.append(options) or function)
    for n in (5, 2):
        compiled(*cell_arguments(n, 4)[0])
    assert calls == [{"dynamic": True}]


@pytest.mark.slow
@pytest.mark.parametrize("blocks", [3, 4], ids=["no output gate", "output gate"])
def test_compiled_cell(blocks):
    compiled = Compiled(cell), Compiled(cell_gradient)
    for n in (5, 2, 1):
        for function, fused, arguments in zip((cell, cell_gradient), compiled, cell_arguments(n, blocks), strict=True):
            torch.testing.assert_close(fused(*arguments), function(*arguments), atol=1e-5, rtol=1e-5)
            assert fused._compiled is not function


def test_error_of_tanh_in_float32():
    x = np.concatenate([np.linspace(-20, 20, 100_000), [0]])
    products = torch.zeros(len(x), 3)
    products[:, 2] = torch.from_numpy(x)  # the candidate; the bias keeps the other gates open
    bias, peepholes = torch.tensor([50.0, 50.0, 0.0]), torch.zeros(2, 1)
    out = LstmActivations.allocate(BufferPool(), len(x), torch.empty(1, 3), torch.empty(0))
    step = make_forward_step(products, torch.arange(len(x)), torch.zeros(len(x), 3), bias, peepholes, out)
    step(slice(0, len(x)), NO_STEP)
    assert np.abs(out.gates[:, 2].double().numpy() - np.tanh(x)).max() < 3e-7


@pytest.mark.parametrize("matmul_dtype", [torch.float32, torch.bfloat16])
def test_rounding_and_nan_in_one_input(matmul_dtype):
    inputs, out, _ = random_step(4, matmul_dtype, torch.float32)
    make_forward_step(*inputs, out)(CURRENT, PREVIOUS)
    assert torch.equal(out.cast_states[CURRENT], out.states[CURRENT].to(matmul_dtype))
    input_products, rows, *_ = inputs
    input_products[rows[CURRENT.start], 0] = torch.nan
    make_forward_step(*inputs, out)(CURRENT, PREVIOUS)
    assert out.states[CURRENT.start, 0].isnan()
    assert out.cast_states[CURRENT.start, 0].isnan()


def test_add_rows_of_repeated_inputs():
    deltas, rows = normal(50, HIDDEN, dtype=torch.bfloat16), torch.arange(50) % 7
    out = torch.zeros(7, HIDDEN)
    add_rows(deltas, rows, out)
    torch.testing.assert_close(out, torch.zeros(7, HIDDEN).index_add(0, rows, deltas.float()))


@pytest.mark.parametrize(
    ("rows", "dtype", "device"),
    [
        (3, "float32", "cpu"),
        (2, "float32", "cpu"),
        (4, "float32", "cpu"),
        (3, "bfloat16", "cpu"),
        (3, "float32", "meta"),
    ],
)
def test_buffer_after_release(rows, dtype, device):
    pool, like = BufferPool(), torch.empty(0, dtype=getattr(torch, dtype), device=device)
    first = pool.allocate("gates", 3, 7, torch.empty(0))
    pool.release(gates=first)
    second = pool.allocate("gates", rows, 7, like)
    assert (second.shape, second.dtype, second.device) == ((rows, 7), like.dtype, like.device)
    assert second.is_contiguous()
    assert (second.data_ptr() == first.data_ptr()) == (rows < 4 and (dtype, device) == ("float32", "cpu"))


def test_buffers_of_two_sizes_and_without_release():
    pool, addresses = BufferPool(), set()
    for rows in (5, 2, 5):
        buffer = pool.allocate("gates", rows, 7, torch.empty(0))
        pool.release(gates=buffer)
        addresses.add(buffer.data_ptr())
    assert len(addresses) == 1
    first, second = (pool.allocate("gates", 3, 7, torch.empty(0)) for _ in range(2))
    assert first.data_ptr() != second.data_ptr()
