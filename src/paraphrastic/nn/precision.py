"""Matrix products with bfloat16 operands in training.

bfloat16 has the range of float32 and 8 bits of precision, which is enough to train these models. Processors with
bfloat16 instructions multiply it several times faster than float32. Sums, hidden states, parameters, and everything
that a trained model computes stay in float32.
"""

from typing import Literal

import torch
from pydantic import BaseModel
from torch import Tensor, nn

MatmulDtype = Literal["float32", "bfloat16"]


class Precision(BaseModel):
    """Option of models that spend most of their time on matrix products.

    Attributes:
        matmul_dtype: data type of the operands of matrix products in training.
    """

    matmul_dtype: MatmulDtype


class Matmul(nn.Module):
    """Matrix product whose operands are cast to `dtype` in training and left as they are in evaluation."""

    def __init__(self, dtype: MatmulDtype) -> None:
        super().__init__()
        self._bfloat16 = dtype == "bfloat16"

    def cast(self, matrix: Tensor) -> Tensor:
        """Return `matrix` in the data type of the operands; an alias if no cast is needed."""
        return matrix.to(torch.bfloat16) if self._bfloat16 and self.training else matrix

    def forward(self, left: Tensor, right: Tensor) -> Tensor:
        """Return `left @ right` in the data type of `left`."""
        return (self.cast(left) @ self.cast(right)).to(left.dtype)
