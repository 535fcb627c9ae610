"""Initial values of weight matrices."""

import torch
from torch import Generator, Tensor


def glorot_uniform(rows: int, columns: int, generator: Generator, blocks: int = 1) -> Tensor:
    """Return `blocks` matrices side by side, (rows, blocks · columns), drawn as Glorot and Bengio (2010, Eq. 16).

    Each is uniform within ±√(6 / (rows + columns)), which keeps the variances of activations and gradients about
    equal from layer to layer.
    """
    bound = (6 / (rows + columns)) ** 0.5
    return torch.empty(rows, blocks * columns).uniform_(-bound, bound, generator=generator)
