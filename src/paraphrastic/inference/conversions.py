"""From what users pass to columns and vectors, and from scores and vectors to what they ask for."""

from collections.abc import Mapping
from typing import Any

import pyarrow as pa
from numpy.typing import NDArray

from paraphrastic.inference.text_column import text_column
from paraphrastic.scoring.scorer import Scores


def column_of(given: Any) -> pa.StringArray | pa.ChunkedArray:
    """Return texts, a single one, or batches of `mteb` as a column."""
    if isinstance(given, str):
        return text_column([given])
    if isinstance(given, bytes | pa.Array | pa.ChunkedArray):
        return text_column(given)
    items = list(given)
    if items and isinstance(items[0], Mapping):
        items = [text for batch in items for text in batch["text"]]
    return text_column(items)


def are_vectors(given: object) -> bool:
    """Return whether `given` is an array or a tensor of numbers."""
    return hasattr(given, "dtype") and hasattr(given, "shape") and "float" in str(given.dtype)


def scores_like(scores: Scores, given: object) -> Any:
    """Return scores, as a tensor if `given` is one."""
    return converted(scores, True, to_tensor=hasattr(given, "numpy"))


def converted(vectors: NDArray[Any], to_numpy: bool, to_tensor: bool) -> Any:
    """Return vectors as a tensor, an array or a list; a single vector, which is (dim,), is no list."""
    if to_tensor:
        import torch

        return torch.from_numpy(vectors)
    return vectors if to_numpy or vectors.ndim == 1 else list(vectors)
