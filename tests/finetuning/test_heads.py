"""Heads against their equations in NumPy."""

import numpy as np
import pytest
import torch

from paraphrastic.finetuning.heads import PairHead, SentenceHead


@pytest.mark.parametrize("head_class", [PairHead, SentenceHead])
def test_head_against_equation(head_class):
    generator = torch.Generator().manual_seed(2)
    u, v = torch.randn(2, 6, 4, generator=generator).double()
    head = head_class(4, 3, 5, generator)
    for parameter in head.parameters():  # biases start at zero, which would hide their terms
        parameter.data.normal_(generator=generator)
    head.double()
    w = {name: value.numpy() for name, value in head.state_dict().items()}
    features = np.concatenate([(u * v).numpy(), (u - v).abs().numpy()], 1) if head_class is PairHead else u.numpy()
    hidden = 1 / (1 + np.exp(-(features @ w["features.W"] + w["features.b"])))
    p = np.exp(hidden @ w["classes.W"] + w["classes.b"])
    log_p = head(u, v) if head_class is PairHead else head(u)
    np.testing.assert_allclose(log_p.detach().exp(), p / p.sum(1, keepdims=True), atol=1e-12)
