"""What weights start from."""

import torch
from torch import Generator, Tensor


def glorot(rows: int, columns: int, generator: Generator, blocks: int = 1) -> Tensor:
    """`blocks` uniform matrices side by side, (rows, blocks · columns), as Glorot & Bengio (2010, Eq. 16) draw one.

    The bound √(6 / (rows + columns)) keeps variances about equal on the way forward and back.
    """
    bound = (6 / (rows + columns)) ** 0.5
    return torch.empty(rows, blocks * columns).uniform_(-bound, bound, generator=generator)
