"""Heads, from sentence vectors to log-probabilities of classes, and what they are trained on (iclr2016 §4.4).

Both are those of Tai et al. 2015.
"""

import torch
from torch import Generator, Tensor, nn
from torch.nn.functional import kl_div, log_softmax

from paraphrastic.base.errors import DivergenceError
from paraphrastic.nn.layers import Dense


class SentenceHead(nn.Module):
    """`h = σ(u W + b)`, `p = softmax(h Wp + bp)` for a vector u.

    Args:
        dim: size of a sentence vector.
        hidden: size of h.
        classes: number of classes.
        generator: source of the initial weights.
    """

    def __init__(self, dim: int, hidden: int, classes: int, generator: Generator) -> None:
        super().__init__()
        self.features = Dense(dim, hidden, "linear", generator)
        self.classes = Dense(hidden, classes, "linear", generator)

    def forward(self, vectors: Tensor) -> Tensor:
        """Return log-probabilities (n, classes) from vectors (n, dim)."""
        return log_softmax(self.classes(self.features(vectors).sigmoid()), 1)


class PairHead(SentenceHead):
    """`h = σ([u ⊙ v; |u − v|] W + b)`, `p = softmax(h Wp + bp)` for a pair of vectors u and v."""

    def __init__(self, dim: int, hidden: int, classes: int, generator: Generator) -> None:
        super().__init__(2 * dim, hidden, classes, generator)

    def forward(self, left: Tensor, right: Tensor) -> Tensor:  # type: ignore[override]
        """Return log-probabilities (n, classes) from vectors (n, dim)."""
        return super().forward(torch.cat([left * right, (left - right).abs()], 1))


def target_distribution(scores: Tensor, classes: int) -> Tensor:
    """Return the sparse distribution p over 1 … K with mean `Σ_i i · p_i = y` for each score y.

    `p_i = y − ⌊y⌋` for `i = ⌊y⌋ + 1`, `⌊y⌋ − y + 1` for `i = ⌊y⌋`, 0 otherwise.

    Args:
        scores: (n,) in [1, K].
        classes: K.

    Returns:
        (n, K).
    """
    values = torch.arange(1, classes + 1, dtype=scores.dtype, device=scores.device)
    return (1 - (scores.unsqueeze(1) - values).abs()).clamp(min=0)


def kl_divergence(log_p: Tensor, target: Tensor) -> Tensor:
    """Return the mean of KL(target ‖ p) over rows, with log p and target (n, K): iclr2016 Eq. 2."""
    return kl_div(log_p, target, reduction="none").sum(1).mean()


def expected_score(log_p: Tensor) -> Tensor:
    """Return `ŷ = Σ_i i · p_i`, (n,) in [1, K], from log-probabilities (n, K)."""
    values = torch.arange(1, log_p.shape[1] + 1, dtype=log_p.dtype, device=log_p.device)
    mean: Tensor = (log_p.exp() * values).sum(1)
    return mean.clamp(1, log_p.shape[1])  # rounding can leave the interval


def finite(predicted: Tensor) -> Tensor:
    """Return predictions; raise a DivergenceError if one is not finite: `argmax` of NaN is the first class."""
    if not predicted.isfinite().all():
        raise DivergenceError(
            "a prediction is not finite; lower `learning_rate`, or bound the gradient with `max_grad_norm`"
        )
    return predicted
