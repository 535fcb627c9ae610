"""A fully connected layer."""

import torch
from torch import Generator, Tensor, nn

from paraphrastic.nn.initialization import glorot_uniform
from paraphrastic.nn.static_form import Activation


def activation(name: Activation) -> nn.Module:
    """Return the elementwise function of that name."""
    return {"linear": nn.Identity(), "tanh": nn.Tanh(), "relu": nn.ReLU()}[name]


class Dense(nn.Module):
    """`f(x W + b)`; W (inputs, outputs) starts Glorot-uniform, b at zero."""

    def __init__(self, inputs: int, outputs: int, f: Activation, generator: Generator) -> None:
        super().__init__()
        self.W = nn.Parameter(glorot_uniform(inputs, outputs, generator))
        self.b = nn.Parameter(torch.zeros(outputs))
        self._f = activation(f)

    def forward(self, x: Tensor) -> Tensor:
        """Map (n, inputs) to (n, outputs)."""
        outputs: Tensor = self._f(torch.addmm(self.b, x, self.W))
        return outputs
