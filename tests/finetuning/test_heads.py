"""Heads and their losses: against their equations in NumPy, worked by hand, and their properties."""

import numpy as np
import pytest
import torch

from paraphrastic.evaluation.metrics import pearson
from paraphrastic.finetuning.heads import PairHead, SentenceHead, expected_score, kl_divergence, target_distribution


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


def test_target_distribution_worked_by_hand():
    expected = [[0, 0, 0.75, 0.25, 0], [1, 0, 0, 0, 0], [0, 0, 0, 0, 1], [0, 0.5, 0.5, 0, 0]]
    torch.testing.assert_close(target_distribution(torch.tensor([3.25, 1, 5, 2.5]), 5), torch.tensor(expected))
    scores = torch.linspace(1, 5, 41, dtype=torch.float64)
    p = target_distribution(scores, 5)
    torch.testing.assert_close(p.sum(1), torch.ones(41, dtype=torch.float64))
    torch.testing.assert_close(p @ torch.arange(1, 6, dtype=torch.float64), scores)
    scores = torch.linspace(1, 5, 30, dtype=torch.float64)
    expected = expected_score((target_distribution(scores, 5) + 1e-12).log())
    torch.testing.assert_close(expected, scores, atol=1e-9, rtol=0)
    assert pearson(scores.numpy(), expected.numpy()) == pytest.approx(1, abs=1e-6)
    log_p = torch.log_softmax(50 * torch.randn(200, 5, generator=torch.Generator().manual_seed(1)), 1)
    assert expected_score(log_p).min() >= 1
    assert expected_score(log_p).max() <= 5


def test_loss_of_uniform_distribution_worked_by_hand():
    uniform = torch.full((1, 5), 0.2).log()
    # 0.75 ln(0.75 / 0.2) + 0.25 ln(0.25 / 0.2) = 0.9913 + 0.0558
    loss = kl_divergence(uniform, target_distribution(torch.tensor([3.25]), 5))
    assert float(loss) == pytest.approx(1.04710, abs=1e-5)
    log_p = torch.log_softmax(torch.randn(2, 5, generator=torch.Generator().manual_seed(1)), 1)
    target = target_distribution(torch.tensor([3.25, 1.0]), 5)
    rows = [kl_divergence(log_p[n : n + 1], target[n : n + 1]) for n in range(2)]
    torch.testing.assert_close(kl_divergence(log_p, target), torch.stack(rows).mean())
    p = target_distribution(torch.tensor([3.25, 1.0]), 5)
    log_p = (p + 1e-9).log().requires_grad_()
    loss = kl_divergence(log_p, p)
    loss.backward()
    assert float(loss.detach()) == pytest.approx(0, abs=1e-6)
    assert log_p.grad.isfinite().all()
