"""Combine the forward and the backward direction of a bidirectional encoder."""

from typing import Literal

import torch
from torch import Generator, Tensor, nn

from paraphrastic.nn.initialization import glorot_uniform
from paraphrastic.nn.precision import Matmul, MatmulDtype

CombineMode = Literal["sum", "dense"]


class Combine(nn.Module):
    """`f + b` (sum), or `tanh([f; b] W + c)` (dense), of forward and backward vectors f and b (acl2017 §4.2)."""

    def __init__(self, mode: CombineMode, dim: int, generator: Generator, matmul_dtype: MatmulDtype) -> None:
        super().__init__()
        self._dense, self._matmul = mode == "dense", Matmul(matmul_dtype)
        if self._dense:
            self.W, self.b = nn.Parameter(glorot_uniform(2 * dim, dim, generator)), nn.Parameter(torch.zeros(dim))

    def forward(self, forward: Tensor, backward: Tensor) -> Tensor:
        """Map two tensors (n, dim) to one, (n, dim)."""
        if not self._dense:
            return forward + backward
        combined: Tensor = self._matmul(torch.cat([forward, backward], 1), self.W) + self.b
        return combined.tanh()
