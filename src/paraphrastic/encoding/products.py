"""Matrix products in fewer bits, where a model asks for them.

Processors that have them multiply bfloat16 numbers, whose 8 bits of precision suffice for training, several
times faster than float32. Sums, states and weights stay in float32, and so does all of encoding once a model is
trained.
"""

from typing import Literal

import torch
from pydantic import BaseModel
from torch import Tensor, nn


class Products(BaseModel):
    """Options of encoders that spend their time on matrix products.

    Attributes:
        products: of training, `bfloat16`, or `float32` where the processor multiplies these faster.
    """

    products: Literal["float32", "bfloat16"]

    @property
    def reduced(self) -> bool:
        """Whether products are rounded to bfloat16."""
        return self.products == "bfloat16"


class Reducible(nn.Module):
    """A module whose products are rounded in training.

    Args:
        reduced: whether they are.
    """

    def __init__(self, reduced: bool) -> None:
        super().__init__()
        self._reduced = reduced

    def fit(self, matrix: Tensor) -> Tensor:
        """`matrix` in the type in which it is to be multiplied now."""
        return matrix.to(torch.bfloat16) if self._reduced and self.training else matrix

    def product(self, left: Tensor, right: Tensor) -> Tensor:
        """`left @ right` in the type of both."""
        return (self.fit(left) @ self.fit(right)).to(left.dtype)
