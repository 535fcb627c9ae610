"""Heads: from sentence vectors to log-probabilities of classes (iclr2016 §4.4, after Tai et al. 2015)."""

import torch
from torch import Generator, Tensor, nn
from torch.nn.functional import log_softmax

from paraphrastic.nn.layers import Dense


class PairHead(nn.Module):
    """`h = σ([u ⊙ v; |u − v|] W + b)`, `p = softmax(h Wp + bp)` for a pair of vectors u and v.

    Args:
        dim: size of a sentence vector.
        hidden: size of h.
        classes: number of classes.
        generator: source of the initial weights.
    """

    def __init__(self, dim: int, hidden: int, classes: int, generator: Generator) -> None:
        super().__init__()
        self.features = Dense(2 * dim, hidden, "linear", generator)
        self.classes = Dense(hidden, classes, "linear", generator)

    def forward(self, left: Tensor, right: Tensor) -> Tensor:
        """Return log-probabilities (n, classes) from vectors (n, dim)."""
        both = torch.cat([left * right, (left - right).abs()], 1)  # (n, 2 dim)
        return log_softmax(self.classes(self.features(both).sigmoid()), 1)


class SentenceHead(nn.Module):
    """`h = σ(u W + b)`, `p = softmax(h Wp + bp)` for a vector u; arguments as for `PairHead`."""

    def __init__(self, dim: int, hidden: int, classes: int, generator: Generator) -> None:
        super().__init__()
        self.features = Dense(dim, hidden, "linear", generator)
        self.classes = Dense(hidden, classes, "linear", generator)

    def forward(self, vectors: Tensor) -> Tensor:
        """Return log-probabilities (n, classes) from vectors (n, dim)."""
        return log_softmax(self.classes(self.features(vectors).sigmoid()), 1)
