"""What the heads are fitted to, and what is read off them (iclr2016 §4.4.1, after Tai et al. 2015)."""

import torch
from torch import Tensor
from torch.nn.functional import nll_loss


def target(scores: Tensor, classes: int) -> Tensor:
    """The sparse distribution p over 1 … K with `Σ_i i · p_i = y` for each score y, (n, K) from (n,) in [1, K].

    `p_i = y − ⌊y⌋` for `i = ⌊y⌋ + 1`, `⌊y⌋ − y + 1` for `i = ⌊y⌋`, else 0.
    """
    values = torch.arange(1, classes + 1, dtype=scores.dtype, device=scores.device)
    return (1 - (scores.unsqueeze(1) - values).abs()).clamp(min=0)


def divergence(log_p: Tensor, wanted: Tensor) -> Tensor:
    """Mean of KL(wanted ‖ p) over the rows of two distributions (n, K), the second as logarithms: iclr2016 Eq. 2."""
    return (torch.special.xlogy(wanted, wanted) - wanted * log_p).sum(1).mean()


def likelihood(log_p: Tensor, labels: Tensor) -> Tensor:
    """Mean negative log-likelihood of labels (n,) int64 under log-probabilities (n, classes)."""
    return nll_loss(log_p, labels)


def expected(log_p: Tensor) -> Tensor:
    """`ŷ = Σ_i i · p_i`, (n,) in [1, K] from log-probabilities (n, K)."""
    values = torch.arange(1, log_p.shape[1] + 1, dtype=log_p.dtype, device=log_p.device)
    return (log_p.exp() * values).sum(1).clamp(1, log_p.shape[1])
