"""Types of the results of `Model.encode`; mypy checks this file, which nothing runs."""

from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from paraphrastic import Model
from paraphrastic.inference.quantization import Quantized
from paraphrastic.scoring.scorer import Vectors


def check_encode(model: Model, texts: list[str]) -> None:
    """State the type of each form of result."""
    assert_type(model.encode("a dog"), Vectors)
    assert_type(model.encode(texts, 32, normalize_embeddings=True, truncate_dim=100), Vectors)
    assert_type(model.encode_query(np.array(texts), precision=None), Vectors)
    assert_type(model.encode(iter(texts), precision="int8", ranges=np.zeros((2, 300))), Quantized)
    assert_type(model.encode(texts, convert_to_tensor=True, precision="float16"), Tensor)
    assert_type(model.encode_document("a dog", convert_to_tensor=True), Tensor)
    assert_type(model.encode("a dog", convert_to_numpy=False), Tensor)
    assert_type(model.encode(texts, convert_to_numpy=False), list[Tensor])
    assert_type(model.encode("a dog", return_unknown=True), tuple[Any, float])
    assert_type(model.encode(texts, return_unknown=True), tuple[Any, NDArray[np.float64]])
    model.encode(texts, precision="int4")  # type: ignore[call-overload]
    model.encode(texts, normalize=True)  # type: ignore[call-overload]
