"""Every encoder against its paper's equation, and properties that all encoders share."""

import numpy as np
import pytest
import torch

from paraphrastic import models
from paraphrastic.nn.layers import Matmul
from tests.helpers.encoder_variants import MORE, SENTENCES, VARIANTS, batch_of, build, variant_parameters
from tests.helpers.equations import EQUATIONS

WITH_MATRIX_PRODUCTS = [(name, block) for name, block in VARIANTS if "matmul_dtype" in block]
FAST_GRADIENTS = (
    *("avg", "proj", "dan", "rnn", "irnn", "charagram", "charcnn"),
    *("lstmavg-output_gate=True", "lstm-output_gate=False", "charlstm-output_gate=True"),
    *("bilstmavg-output_gate=True-combine=sum", "gran-output_gate=True-variant=4", "gran-output_gate=True-variant=5"),
    "bigran-output_gate=True-combine=dense-variant=3",
)


@pytest.mark.parametrize(("name", "block"), variant_parameters())
class TestEncoder:
    def test_vectors_against_naive_equation(self, name, block):
        encoder, embeddings = build(name, block, torch.float32)
        vectors = encoder(embeddings, batch_of(SENTENCES, encoder, torch.float32)).detach().numpy()
        weights = {key: value.double().numpy() for key, value in encoder.state_dict().items()}
        expected = [EQUATIONS[name](s, embeddings.double().numpy(), weights, block) for s in SENTENCES]
        np.testing.assert_allclose(vectors, expected, atol=1e-5)

    def test_gradient_of_every_parameter(self, name, block):
        encoder, embeddings = build(name, block)
        vectors = encoder(embeddings.requires_grad_(), batch_of(SENTENCES + MORE, encoder))
        vectors.square().sum().backward()
        assert all(p.grad.abs().sum(-1).min() > 0 for p in encoder.parameters())
        assert embeddings.grad.abs().sum(1).min() > 0

    def test_vectors_in_different_batches(self, name, block):
        encoder, embeddings = build(name, block)
        together = encoder(embeddings, batch_of(SENTENCES, encoder))
        reversed_order = encoder(embeddings, batch_of(SENTENCES[::-1], encoder)).flip(0)
        alone = torch.cat([encoder(embeddings, batch_of([sentence], encoder)) for sentence in SENTENCES])
        torch.testing.assert_close(together, reversed_order)
        torch.testing.assert_close(together, alone)

    def test_vectors_of_empty_batch(self, name, block):
        encoder, embeddings = build(name, block)
        assert encoder(embeddings, batch_of([], encoder)).shape == (0, encoder.out_dim)


@pytest.mark.parametrize(("name", "block"), variant_parameters(*FAST_GRADIENTS))
def test_gradient_against_finite_differences(name, block):
    dim = 3  # the cost of finite differences is quadratic in the number of weights
    encoder, embeddings = build(name, block | {"dim": dim})
    embeddings, batch = embeddings[:, :dim].clone(), batch_of([[3, 1, 3, 10], [], [7], [2, 2, 0]], encoder)
    names = [key for key, _ in encoder.named_parameters()]

    def forward(embeddings, *parameters):
        weights = dict(zip(names, parameters, strict=True))
        return torch.func.functional_call(encoder, weights, (embeddings, batch))

    inputs = [embeddings.requires_grad_(), *encoder.parameters()]
    assert torch.autograd.gradcheck(forward, inputs, fast_mode=False)


@pytest.mark.parametrize(("name", "block"), WITH_MATRIX_PRODUCTS)
def test_bfloat16_products_in_training_and_evaluation(name, block):
    encoder, embeddings = build(name, block, torch.float32)
    reduced, _ = build(name, block | {"matmul_dtype": "bfloat16"}, torch.float32)
    products = [module for module in reduced.modules() if isinstance(module, Matmul)]
    assert {product.cast(torch.ones(1, 1)).dtype for product in products} <= {torch.bfloat16}
    exact, close = (e(embeddings, batch_of(SENTENCES, e, torch.float32)) for e in (encoder, reduced))
    assert 1e-5 < (close - exact).norm() / exact.norm() < 0.02
    exact_gradient, close_gradient = (
        torch.cat([gradient.flatten() for gradient in torch.autograd.grad(vectors.sum(), list(e.parameters()))])
        for vectors, e in ((exact, encoder), (close, reduced))
    )
    assert (close_gradient - exact_gradient).norm() / exact_gradient.norm() < 0.05
    reduced.eval()
    assert torch.equal(reduced(embeddings, batch_of(SENTENCES, reduced, torch.float32)), exact)


def test_only_irnn_is_regularized_to_its_start():
    trained = {name: models.model_class(name) for name in models.names()}
    starts = {name for name, each in trained.items() if getattr(each, "regularize_to_start", False)}
    assert starts == {"irnn"}
