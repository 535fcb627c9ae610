"""Matrix products with bfloat16 operands, on processors with and without bfloat16 instructions."""

import pytest
import torch

from paraphrastic.nn import precision
from paraphrastic.nn.precision import Matmul, matmul


@pytest.fixture
def operands():
    generator = torch.Generator().manual_seed(0)
    return torch.randn(7, 300, generator=generator), torch.randn(300, 5, generator=generator)


@pytest.mark.parametrize("instructions", [False, True])
def test_product_of_bfloat16(monkeypatch, operands, instructions):
    monkeypatch.setattr(precision, "_cpu_multiplies_bfloat16", lambda: instructions)
    left, right = (operand.bfloat16() for operand in operands)
    exact = left.double() @ right.double()
    out = torch.empty(7, 5, dtype=torch.bfloat16)
    for product in (matmul(left, right), matmul(left, right, out), out):
        assert product.dtype == torch.bfloat16
        torch.testing.assert_close(product.double(), exact, rtol=2**-8, atol=1e-4)  # bfloat16 has 8 bits


def test_processor_without_instructions_multiplies_float32(monkeypatch, operands):
    monkeypatch.setattr(precision, "_cpu_multiplies_bfloat16", lambda: False)
    left, right = (operand.bfloat16() for operand in operands)
    assert torch.equal(matmul(left, right), torch.mm(left.float(), right.float()).bfloat16())


def test_layer_rounds_operands_in_training_only(operands):
    layer, (left, right) = Matmul("bfloat16"), operands
    rounded = matmul(left.bfloat16(), right.bfloat16()).float()
    assert torch.equal(layer(left, right), rounded)
    assert torch.equal(layer.eval()(left, right), left @ right)
    assert not torch.equal(rounded, left @ right)
