"""The pass over memory that LSTMs take on the CPU, and the kernels on a GPU, against single operations of torch."""

import numpy as np
import pytest
import torch

from paraphrastic.nn.kernels import lstm_cell as cells
from paraphrastic.nn.kernels.buffer_pool import BufferPool
from paraphrastic.nn.kernels.lstm_cell import Cells

DIM, STEP, BEFORE = 19, slice(6, 10), slice(1, 5)  # 19: no whole number of vector registers


def numbers(blocks, products, kind):
    """What enters a step of 4 sentences that stand in the second block of places, and its gradient."""
    chance = torch.Generator().manual_seed(3)

    def some(*shape, dtype=kind):
        return torch.randn(shape, generator=chance, dtype=torch.float64).to(dtype)

    done = Cells.taken(BufferPool(), 10, torch.empty(DIM, blocks * DIM, dtype=products), torch.empty(0, dtype=kind))
    done.cells.copy_(some(10, DIM))
    entering, places = some(7, blocks * DIM, dtype=products), torch.randint(7, (10,), generator=chance)
    recurrent = some(6, blocks * DIM, dtype=products)
    inputs = entering, places, recurrent, some(blocks * DIM), some(blocks - 1, DIM)
    d_states, later, d_cells = some(10, DIM), some(6, DIM, dtype=products), some(6, DIM)
    outputs = torch.zeros_like(done.gates, dtype=products), some(blocks * DIM), some(blocks - 1, DIM)
    return inputs, done, (d_states, later, d_cells, *outputs)


def both_ways(ahead, back, blocks, products, kind, then, device="cpu"):
    inputs, done, gradients = ([t.to(device) for t in part] for part in numbers(blocks, products, kind))
    done = Cells(*done)
    ahead(*inputs, done)(STEP, then)
    back(done, inputs[-1], *gradients)(STEP, then)
    written = [tensor[STEP] for tensor in (*done, gradients[3])]
    return [tensor.cpu().double() for tensor in (*written, gradients[2], *gradients[4:])]


def by_torch(*fixed):
    name = cells._ahead if len(fixed) == 6 else cells._back
    return lambda now, then: name(*fixed, now, then)


@pytest.mark.parametrize("blocks", [3, 4])
@pytest.mark.parametrize(
    ("products", "kind", "tolerance"),
    [
        (torch.float64, torch.float64, 1e-12),
        (torch.float32, torch.float32, 3e-6),
        (torch.bfloat16, torch.float32, 1e-2),
    ],
)
def test_one_pass_is_what_the_operations_give(blocks, products, kind, tolerance):
    ours = both_ways(cells.ahead, cells.back, blocks, products, kind, BEFORE)
    theirs = both_ways(by_torch, by_torch, blocks, products, kind, BEFORE)
    for one, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(one, other, atol=tolerance, rtol=tolerance)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
@pytest.mark.parametrize("blocks", [3, 4])
@pytest.mark.parametrize(("products", "tolerance"), [(torch.float32, 3e-6), (torch.bfloat16, 1e-2)])
def test_kernels_are_what_the_operations_give(blocks, products, tolerance):
    ours = both_ways(cells.ahead, cells.back, blocks, products, torch.float32, BEFORE, "cuda")
    theirs = both_ways(by_torch, by_torch, blocks, products, torch.float32, BEFORE)
    for one, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(one, other, atol=tolerance, rtol=tolerance)


@pytest.mark.parametrize(
    ("triton", "compilers", "built"),
    [(True, {"gcc"}, True), (True, {"clang"}, True), (True, (), False), (False, {"gcc"}, False)],
)
def test_kernels_are_for_where_triton_and_a_compiler_are(triton, compilers, built, monkeypatch):
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setattr(cells, "find_spec", lambda name: "found" if triton else None)
    monkeypatch.setattr(cells, "which", lambda name: name if name in compilers else None)
    assert cells._builds_kernels.__wrapped__() is built


def test_the_first_step_has_no_cells_before():
    def first(ahead):
        inputs, done, _ = numbers(4, torch.float64, torch.float64)
        ahead(*inputs, done)(slice(0, 6), slice(0, 0))
        return done.cells[:6]

    torch.testing.assert_close(first(cells.ahead), first(by_torch))


def test_bfloat16_is_rounded_to_the_nearest():
    _, done, _ = numbers(4, torch.bfloat16, torch.float32)
    inputs = numbers(4, torch.bfloat16, torch.float32)[0]
    cells.ahead(*inputs, done)(STEP, BEFORE)
    assert torch.equal(done.kept[STEP], done.states[STEP].bfloat16())


def test_tanh_in_float32_is_as_close_as_its_table_says():
    x = np.concatenate([np.linspace(-20, 20, 100_000), [0]])
    entering = torch.from_numpy(x).float().reshape(-1, 1).repeat(1, 3)  # as the candidate, with other gates open
    done = Cells.taken(BufferPool(), len(x), torch.empty(1, 3), torch.empty(0))
    weights = torch.zeros(len(x), 3), torch.tensor([50.0, 50.0, 0.0]), torch.zeros(2, 1)
    entering[:, :2] = 0
    cells.ahead(entering, torch.arange(len(x)), *weights, done)(slice(0, len(x)), slice(0, 0))
    assert np.abs(done.gates[:, 2].double().numpy() - np.tanh(x)).max() < 3e-7


@pytest.mark.parametrize("products", [torch.float32, torch.bfloat16])
def test_what_is_not_a_number_stays_so(products):
    inputs, done, _ = numbers(4, products, torch.float32)
    inputs[0][inputs[1][STEP.start], 0] = torch.nan
    cells.ahead(*inputs, done)(STEP, BEFORE)
    assert done.states[STEP.start, 0].isnan()
    assert done.kept[STEP.start, 0].isnan()


def test_rows_of_the_same_input_are_added_up():
    deltas, places = torch.randn(50, DIM).bfloat16(), torch.randint(7, (50,))
    out = torch.zeros(7, DIM)
    cells.gather(deltas, places, out)
    torch.testing.assert_close(out, torch.zeros(7, DIM).index_add(0, places, deltas.float()))
