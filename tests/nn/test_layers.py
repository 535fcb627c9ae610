"""Layers: products with bfloat16 operands, and dropout of embedding elements and of whole words."""

import numpy as np
import pytest
import torch

from paraphrastic.nn import layers
from paraphrastic.nn.batch import Batch
from paraphrastic.nn.layers import Matmul, WordLookup, matmul
from paraphrastic.text.columns import Ragged
from tests.helpers.encoder_variants import BOTH, DIM, SENTENCES, VARIANTS, WORD, batch_of, build


@pytest.fixture
def operands():
    generator = torch.Generator().manual_seed(0)
    return torch.randn(7, 300, generator=generator), torch.randn(300, 5, generator=generator)


@pytest.mark.parametrize("instructions", [False, True])
def test_product_of_bfloat16(monkeypatch, operands, instructions):
    monkeypatch.setattr(layers, "_cpu_multiplies_bfloat16", lambda: instructions)
    left, right = (operand.bfloat16() for operand in operands)
    exact = left.double() @ right.double()
    out = torch.empty(7, 5, dtype=torch.bfloat16)
    for product in (matmul(left, right), matmul(left, right, out), out):
        assert product.dtype == torch.bfloat16
        torch.testing.assert_close(product.double(), exact, rtol=2**-8, atol=1e-4)  # bfloat16 has 8 bits
        assert instructions or torch.equal(product, torch.mm(left.float(), right.float()).bfloat16())


def test_layer_rounds_operands_in_training_only(operands):
    layer, (left, right) = Matmul("bfloat16"), operands
    rounded = matmul(left.bfloat16(), right.bfloat16()).float()
    assert torch.equal(layer(left, right), rounded)
    assert torch.equal(layer.eval()(left, right), left @ right)
    assert not torch.equal(rounded, left @ right)


def looked_up_ones(dropout, word_dropout):
    """Return the embeddings (4000, DIM) of one word whose embedding is all ones."""
    words = Batch.of(Ragged(np.zeros(4000, np.int32), np.array([0, 4000])), torch.device("cpu"))
    torch.manual_seed(0)
    return WordLookup(dropout, word_dropout)(torch.ones(1, DIM), words)


@pytest.mark.parametrize(("dropout", "word_dropout", "kept"), [(0.0, 0.25, 4 / 3), (0.5, 0.0, 2)])
def test_dropout_of_words_or_elements(dropout, word_dropout, kept):
    vectors = looked_up_ones(dropout, word_dropout)
    assert vectors.unique().tolist() == pytest.approx([0, kept])
    assert (vectors == 0).double().mean() == pytest.approx(dropout + word_dropout, abs=0.03)
    assert (vectors.min(1).values == vectors.max(1).values).all() == (word_dropout > 0)


NOISY = {"dropout": 0.5, "word_dropout": 0.5}
CHARCNN = {name: block for name, block in VARIANTS if name == "charcnn"}["charcnn"]


@pytest.mark.parametrize(
    ("name", "block", "noise"),
    [("avg", WORD, NOISY), ("bigran", BOTH[0] | {"variant": 1}, NOISY), ("charcnn", CHARCNN, {"dropout": 0.5})],
)
def test_dropout_in_training_and_evaluation(name, block, noise):
    encoder, embeddings = build(name, block)
    noisy, _ = build(name, block | noise)
    batch = batch_of(SENTENCES, encoder)
    assert not torch.equal(noisy(embeddings, batch), noisy(embeddings, batch))
    exact, evaluated = (e.eval()(embeddings, batch).detach().numpy() for e in (encoder, noisy))
    np.testing.assert_array_equal(evaluated, exact)
