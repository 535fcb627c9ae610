"""A fully connected layer."""

from typing import Literal

import torch
from torch import Generator, Tensor, nn

from paraphrastic.encoding.weights import glorot

Activation = Literal["linear", "tanh", "relu"]


def activation(name: Activation) -> nn.Module:
    """The function of that name, elementwise."""
    return {"linear": nn.Identity(), "tanh": nn.Tanh(), "relu": nn.ReLU()}[name]


class Dense(nn.Module):
    """`f(x W + b)`: W (inputs, outputs) starts as Glorot's, b at zero."""

    def __init__(self, inputs: int, outputs: int, f: Activation, generator: Generator) -> None:
        super().__init__()
        self.W, self.b = nn.Parameter(glorot(inputs, outputs, generator)), nn.Parameter(torch.zeros(outputs))
        self._f = activation(f)

    def forward(self, x: Tensor) -> Tensor:
        """(n, outputs) from (n, inputs)."""
        return self._f(torch.addmm(self.b, x, self.W))
