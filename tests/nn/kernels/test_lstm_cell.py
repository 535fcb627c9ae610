"""One time step of an LSTM: the loops for the CPU and the kernels for GPUs against the equations in plain torch."""

import os
from functools import partial
from importlib.util import find_spec

import numpy as np
import pytest
import torch

from paraphrastic.nn.kernels import lstm_cell
from paraphrastic.nn.kernels.buffer_pool import BufferPool
from paraphrastic.nn.kernels.lstm_cell import LstmActivations, add_rows, make_backward_step, make_forward_step

HIDDEN = 19  # not a multiple of the width of a vector register
POSITIONS, INPUTS, SENTENCES = 10, 7, 6
CURRENT, PREVIOUS = slice(6, 10), slice(1, 5)  # four sentences at the second step
NO_STEP = slice(0, 0)

HAS_GPU = torch.cuda.is_available()
RUNS_TRITON = find_spec("triton") is not None and (HAS_GPU or os.environ.get("TRITON_INTERPRET") == "1")


def random_step(blocks, matmul_dtype, dtype):
    """Return the arguments of `make_forward_step`, its `out`, and the gradients of `make_backward_step`."""
    generator = torch.Generator().manual_seed(3)

    def normal(*shape, dtype=dtype):
        return torch.randn(shape, generator=generator, dtype=torch.float64).to(dtype)

    width = blocks * HIDDEN
    like = torch.empty(HIDDEN, width, dtype=matmul_dtype), torch.empty(0, dtype=dtype)
    out = LstmActivations.allocate(BufferPool(), POSITIONS, *like)
    out.cells.copy_(normal(POSITIONS, HIDDEN))
    input_products = normal(INPUTS, width, dtype=matmul_dtype)
    rows = torch.randint(INPUTS, (POSITIONS,), generator=generator)
    state_products = normal(SENTENCES, width, dtype=matmul_dtype)
    inputs = input_products, rows, state_products, normal(width), normal(blocks - 1, HIDDEN)
    d_states, d_cells = normal(POSITIONS, HIDDEN), normal(SENTENCES, HIDDEN)
    d_recurrent = normal(SENTENCES, HIDDEN, dtype=matmul_dtype)
    d_weights = normal(width), normal(blocks - 1, HIDDEN)
    deltas = torch.zeros_like(out.gates, dtype=matmul_dtype)
    return inputs, out, (d_states, d_recurrent, d_cells, deltas, *d_weights)


def forward_and_backward(forward, backward, blocks, matmul_dtype, dtype, device="cpu"):
    """Return everything that one step forward and backward writes, in float64 in main memory."""
    inputs, out, gradients = ([t.to(device) for t in part] for part in random_step(blocks, matmul_dtype, dtype))
    out = LstmActivations(*out)
    forward(*inputs, out)(CURRENT, PREVIOUS)
    backward(out, inputs[-1], *gradients)(CURRENT, PREVIOUS)
    _, _, d_cells, deltas, *d_weights = gradients
    written = [tensor[CURRENT] for tensor in (*out, deltas)]
    return [tensor.cpu().double() for tensor in (*written, d_cells, *d_weights)]


def reference(blocks, matmul_dtype, dtype):
    """Return what one step writes in plain torch."""
    forward, backward = partial(partial, lstm_cell.reference_forward), partial(partial, lstm_cell.reference_backward)
    return forward_and_backward(forward, backward, blocks, matmul_dtype, dtype)


def assert_all_close(actual, expected, tolerance):
    for one, other in zip(actual, expected, strict=True):
        torch.testing.assert_close(one, other, atol=tolerance, rtol=tolerance)


@pytest.mark.parametrize("blocks", [3, 4], ids=["no output gate", "output gate"])
@pytest.mark.parametrize(
    ("matmul_dtype", "dtype", "tolerance"),
    [
        (torch.float64, torch.float64, 1e-12),
        (torch.float32, torch.float32, 3e-6),
        (torch.bfloat16, torch.float32, 1e-2),
    ],
)
def test_cpu_step_against_reference(blocks, matmul_dtype, dtype, tolerance):
    step = blocks, matmul_dtype, dtype
    assert_all_close(forward_and_backward(make_forward_step, make_backward_step, *step), reference(*step), tolerance)


@pytest.mark.skipif(not RUNS_TRITON, reason="no GPU, and no Triton with TRITON_INTERPRET=1")
@pytest.mark.parametrize("blocks", [3, 4], ids=["no output gate", "output gate"])
@pytest.mark.parametrize(("matmul_dtype", "tolerance"), [(torch.float32, 3e-6), (torch.bfloat16, 1e-2)])
def test_triton_step_against_reference(blocks, matmul_dtype, tolerance):
    from paraphrastic.nn.kernels import lstm_cell_triton

    def forward(*arguments):
        *inputs, out = arguments
        return partial(lstm_cell_triton.forward, (*inputs, *out))

    def backward(saved, *arguments):
        return partial(lstm_cell_triton.backward, (*saved[:3], *arguments))

    step, device = (blocks, matmul_dtype, torch.float32), "cuda" if HAS_GPU else "cpu"
    assert_all_close(forward_and_backward(forward, backward, *step, device), reference(*step), tolerance)


@pytest.mark.skipif(not HAS_GPU, reason="no GPU")
@pytest.mark.parametrize("blocks", [3, 4], ids=["no output gate", "output gate"])
@pytest.mark.parametrize(("matmul_dtype", "tolerance"), [(torch.float32, 3e-6), (torch.bfloat16, 1e-2)])
def test_gpu_step_against_reference(blocks, matmul_dtype, tolerance):
    step = blocks, matmul_dtype, torch.float32
    on_gpu = forward_and_backward(make_forward_step, make_backward_step, *step, "cuda")
    assert_all_close(on_gpu, reference(*step), tolerance)


@pytest.mark.parametrize(
    ("triton", "compilers", "expected"),
    [(True, {"gcc"}, True), (True, {"clang"}, True), (True, (), False), (False, {"gcc"}, False)],
)
def test_triton_kernels_with_and_without_triton_and_compiler(triton, compilers, expected, monkeypatch, tmp_path):
    monkeypatch.delenv("CC", raising=False)
    (tmp_path / "Python.h").touch()
    monkeypatch.setattr(lstm_cell.sysconfig, "get_paths", lambda: {"include": str(tmp_path)})
    monkeypatch.setattr(lstm_cell, "find_spec", lambda name: "spec" if triton else None)
    monkeypatch.setattr(lstm_cell, "which", lambda name: name if name in compilers else None)
    assert lstm_cell._can_build_triton_kernels.__wrapped__() is expected


def test_triton_kernels_with_a_compiler_that_is_named_and_missing(monkeypatch):
    monkeypatch.setenv("CC", "missing")
    monkeypatch.setattr(lstm_cell, "find_spec", lambda name: "spec")
    monkeypatch.setattr(lstm_cell, "which", lambda name: name if name == "clang" else None)
    assert not lstm_cell._can_build_triton_kernels.__wrapped__()  # Triton then uses `CC` alone


def test_triton_kernels_without_the_headers_of_python(monkeypatch, tmp_path):
    monkeypatch.setattr(lstm_cell, "find_spec", lambda name: "spec")
    monkeypatch.setattr(lstm_cell, "which", lambda name: name)
    monkeypatch.setattr(lstm_cell.sysconfig, "get_paths", lambda: {"include": str(tmp_path)})
    assert not lstm_cell._can_build_triton_kernels.__wrapped__()


def test_first_step_without_previous_cells():
    inputs, out, _ = random_step(4, torch.float64, torch.float64)
    make_forward_step(*inputs, out)(slice(0, 6), NO_STEP)
    cells = out.cells[:6].clone()
    lstm_cell.reference_forward(*inputs, out, slice(0, 6), NO_STEP)
    torch.testing.assert_close(cells, out.cells[:6])


def test_rounding_to_bfloat16():
    inputs, out, _ = random_step(4, torch.bfloat16, torch.float32)
    make_forward_step(*inputs, out)(CURRENT, PREVIOUS)
    assert torch.equal(out.cast_states[CURRENT], out.states[CURRENT].bfloat16())


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
def test_nan_in_one_input(matmul_dtype):
    inputs, out, _ = random_step(4, matmul_dtype, torch.float32)
    input_products, rows, *_ = inputs
    input_products[rows[CURRENT.start], 0] = torch.nan
    make_forward_step(*inputs, out)(CURRENT, PREVIOUS)
    assert out.states[CURRENT.start, 0].isnan()
    assert out.cast_states[CURRENT.start, 0].isnan()


def test_add_rows_of_repeated_inputs():
    generator = torch.Generator().manual_seed(1)
    deltas, rows = torch.randn(50, HIDDEN, generator=generator).bfloat16(), torch.randint(7, (50,), generator=generator)
    out = torch.zeros(7, HIDDEN)
    add_rows(deltas, rows, out)
    torch.testing.assert_close(out, torch.zeros(7, HIDDEN).index_add(0, rows, deltas.float()))
