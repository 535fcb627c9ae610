"""Matrix products with bfloat16 operands in training.

bfloat16 has the range of float32 and 8 bits of precision, which is enough to train these models. Processors with
bfloat16 instructions multiply it several times faster than float32. Operands and results of matrix products are
bfloat16, also in the backward pass. Sums of products, hidden states, parameters, the optimizer, and everything that a
trained model computes stay in float32.
"""

from functools import cache
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
        """Return `left @ right`, rounded to the data type of the operands, in the data type of `left`."""
        return matmul(self.cast(left), self.cast(right)).to(left.dtype)


def matmul(left: Tensor, right: Tensor, out: Tensor | None = None) -> Tensor:
    """Return `left @ right`, two matrices of one data type, in that data type.

    On a CPU for which oneDNN has no product of bfloat16, such as x86 without AVX-512, PyTorch multiplies bfloat16 in a
    plain loop, tens of times slower than float32. There the operands are widened to float32, which is exact, and the
    product is rounded.

    Args:
        left: (n, k).
        right: (k, m).
        out: (n, m), written if it is given.
    """
    if left.dtype != torch.bfloat16 or left.device.type != "cpu" or _cpu_multiplies_bfloat16():
        return torch.mm(left, right) if out is None else torch.mm(left, right, out=out)
    product = (left.float() @ right.float()).bfloat16()
    return product if out is None else out.copy_(product)


@cache
def _cpu_multiplies_bfloat16() -> bool:
    """Return whether oneDNN, which PyTorch calls for products of bfloat16, supports them on this processor."""
    return torch.backends.mkldnn.is_available() and bool(torch.ops.mkldnn._is_mkldnn_bf16_supported())
