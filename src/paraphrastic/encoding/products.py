"""Matrix products in fewer bits, where a model asks for them.

Processors that have them multiply bfloat16 numbers, whose 8 bits of precision suffice for training, several
times faster than float32. Sums, states and weights stay in float32.
"""

from typing import Literal

import torch
from pydantic import BaseModel
from torch import Tensor


class Products(BaseModel):
    """Options of encoders that spend their time on matrix products.

    Attributes:
        products: `bfloat16`, or `float32` where the processor multiplies these faster.
    """

    products: Literal["float32", "bfloat16"]

    @property
    def reduced(self) -> bool:
        """Whether products are rounded to bfloat16."""
        return self.products == "bfloat16"


def product(left: Tensor, right: Tensor, reduced: bool) -> Tensor:
    """`left @ right` in the type of both; rounded to bfloat16 before and after if `reduced`."""
    if not reduced:
        return left @ right
    return (left.to(torch.bfloat16) @ right.to(torch.bfloat16)).to(left.dtype)
