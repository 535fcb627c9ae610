r"""Read word vectors in the text formats of GloVe and word2vec: a word and its numbers per line.

A word2vec file begins with a line `COUNT DIM`, a GloVe file does not. Words of GloVe 840B contain spaces, so a line is
split from the right by the dimension. Words contain U+0085 and U+00A0, so lines end at `\n` only.
"""

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from paraphrastic.errors import DataError

_LINES = 20_000  # parsed together; about 50 MB of text for 300 dimensions


def read_vectors(path: Path, dim: int) -> tuple[pa.StringArray, NDArray[np.float32]]:
    """Return the words (n,) and vectors (n, dim) of a file, in file order; of a repeated word the first line counts.

    Raises:
        DataError: the file is missing or empty, a line has another number of values or no word, a value is not a
            finite number, or a word is not UTF-8.
    """
    words: list[bytes] = []
    vectors: list[NDArray[np.float32]] = []
    try:
        with path.open("rb") as file:
            for first, lines in _blocks(file):
                skip = 1 if first == 1 and _is_header(lines[0], dim) else 0
                block_words, block_vectors = _parse(lines[skip:], dim, path, first + skip)
                words += block_words
                vectors.append(block_vectors)
    except OSError as error:
        raise DataError(f"{path}: {error.strerror}; `vectors` must name a file of word vectors") from error
    if not words:
        raise DataError(f"{path}: contains no vectors")
    return _drop_repeated(words, np.concatenate(vectors), path)


def _blocks(file: Iterable[bytes]) -> Iterator[tuple[int, list[bytes]]]:
    """Yield lines in blocks, each with the number of its first line."""
    number, remaining = 1, iter(file)
    while lines := list(islice(remaining, _LINES)):
        yield number, lines
        number += len(lines)


def _is_header(line: bytes, dim: int) -> bool:
    fields = line.split()
    return len(fields) == 2 and all(field.isdigit() for field in fields) and (dim != 1 or fields[1] == b"1")


def _parse(lines: list[bytes], dim: int, path: Path, first: int) -> tuple[list[bytes], NDArray[np.float32]]:
    """Parse lines of which the first has number `first`."""
    rows = [line.rstrip(b" \r\n").rsplit(b" ", dim) for line in lines]
    wrong = next((n for n, fields in enumerate(rows) if len(fields) != dim + 1 or not fields[0]), None)
    if wrong is not None:
        expected = f"expected a word and {dim} numbers; set `dim` to the dimension of the file"
        raise DataError(f"{path}, line {first + wrong}: {expected}")
    try:
        values = np.array([fields[1:] for fields in rows], np.bytes_).astype(np.float32).reshape(-1, dim)
    except ValueError as error:
        raise DataError(f"{path}, line {first} and following lines: {error}") from error
    infinite = np.flatnonzero(~np.isfinite(values).all(1))
    if len(infinite):
        raise DataError(f"{path}, line {first + int(infinite[0])}: a value is not a finite number")
    return [fields[0] for fields in rows], values


def _drop_repeated(
    words: list[bytes], vectors: NDArray[np.float32], path: Path
) -> tuple[pa.StringArray, NDArray[np.float32]]:
    try:
        texts = pa.array(words, pa.binary()).cast(pa.string())
    except pa.ArrowInvalid as error:
        raise DataError(f"{path}: a word is not UTF-8") from error
    first = np.unique(texts.dictionary_encode().indices.to_numpy(), return_index=True)[1]
    if len(first) == len(texts):
        return texts, vectors
    first.sort()
    return texts.take(pa.array(first)), vectors[first]
