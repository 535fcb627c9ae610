"""Operations on columns of text: no Python object per sentence."""

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import DTypeLike, NDArray

_ROWS = 1 << 20  # sentences whose lengths are computed together
_OVERHEAD = 3  # bytes counted per sentence beside its text, so that empty sentences fill a chunk too


# one column of sentences, as a whole or in parts; a file of sentences is one too
Texts: TypeAlias = pa.StringArray | pa.ChunkedArray | Iterable[pa.StringArray]


def chunks(sentences: Texts, size: int) -> Iterator[pa.StringArray]:
    """Yield consecutive sentences in chunks of about `size` bytes, which bounds memory.

    A sentence is never split, so that a chunk can be longer than `size`. Nulls become empty strings. At least one chunk
    is yielded; it is empty if there are no sentences.
    """
    empty = True
    for array in _parts(sentences):
        for start in range(0, len(array), _ROWS):
            yield from _split(pc.fill_null(array.slice(start, _ROWS), ""), size)
            empty = False
    if empty:
        yield pa.array([], pa.string())


def _parts(sentences: Texts) -> Iterable[pa.StringArray]:
    if isinstance(sentences, pa.ChunkedArray):
        parts: Iterable[pa.StringArray] = sentences.chunks
        return parts
    return [sentences] if isinstance(sentences, pa.Array) else sentences


def _split(sentences: pa.StringArray, size: int) -> Iterator[pa.StringArray]:
    if sentences.nbytes < size:
        yield sentences
        return
    ends = np.cumsum(pc.binary_length(sentences).to_numpy() + _OVERHEAD, dtype=np.int64)
    cuts = np.flatnonzero(np.diff(ends // size)) + 1
    for start, end in pairwise([0, *cuts.tolist(), len(sentences)]):
        yield sentences.slice(start, end - start)


class GrowingArray:
    """A flat array that grows at its end, in place, so that its values are never in memory twice.

    Args:
        dtype: data type of the values.
    """

    def __init__(self, dtype: DTypeLike) -> None:
        self._values, self._size = np.empty(0, dtype), 0

    def __len__(self) -> int:
        return self._size

    def last(self) -> Any:
        """Return the last value."""
        return self._values[self._size - 1]

    def extend(self, values: NDArray[Any]) -> None:
        """Append values."""
        end = self._size + len(values)
        if end > len(self._values):
            self._values.resize(end + end // 16, refcheck=False)
        self._values[self._size : end] = values
        self._size = end

    def values(self) -> NDArray[Any]:
        """Return all values; nothing can be appended after that."""
        self._values.resize(self._size, refcheck=False)
        return self._values


def split_words(sentences: pa.StringArray) -> tuple[pa.StringArray, NDArray[np.int64]]:
    """Split n tokenized sentences without nulls at spaces.

    Returns:
        All words, and the offsets of the sentences in them, (n + 1,).
    """
    lists = pc.split_pattern(sentences, " ")
    words, offsets = lists.flatten(), lists.offsets.to_numpy().astype(np.int64)
    not_empty = pc.binary_length(words).to_numpy() > 0  # a leading, trailing or double space gives an empty word
    if not_empty.all():
        return words, offsets
    return words.filter(pa.array(not_empty)), offsets_from_lengths(not_empty)[offsets]


def offsets_from_lengths(lengths: NDArray[np.integer] | NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the offsets of n consecutive rows, (n + 1,): row i is `[offsets[i], offsets[i + 1])`."""
    return np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
