"""Operations on columns of text: no Python object per sentence."""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

_ROWS = 1 << 20  # sentences whose lengths are computed together
_OVERHEAD = 3  # bytes counted per sentence beside its text, so that empty sentences fill a chunk too


def chunks(sentences: pa.StringArray | pa.ChunkedArray, size: int) -> Iterator[pa.StringArray]:
    """Yield consecutive sentences in chunks of about `size` bytes, which bounds memory.

    A sentence is never split, so that a chunk can be longer than `size`. Nulls become empty strings. At least one chunk
    is yielded; it is empty if there are no sentences.
    """
    arrays = sentences.chunks if isinstance(sentences, pa.ChunkedArray) else [sentences]
    for array in arrays or [pa.array([], sentences.type)]:
        for start in range(0, max(len(array), 1), _ROWS):
            yield from _split(pc.fill_null(array.slice(start, _ROWS), ""), size)


def _split(sentences: pa.StringArray, size: int) -> Iterator[pa.StringArray]:
    ends = np.cumsum(pc.binary_length(sentences).to_numpy() + _OVERHEAD, dtype=np.int64)
    cuts = np.flatnonzero(np.diff(ends // size)) + 1
    for start, end in pairwise([0, *cuts.tolist(), len(sentences)]):
        yield sentences.slice(start, end - start)


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
