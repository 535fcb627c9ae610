"""Word embeddings as word2vec text."""

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from paraphrastic.export.averages import word_embeddings
from paraphrastic.inference.model import Model
from paraphrastic.scoring.scorer import Vectors
from paraphrastic.vocabulary.pretrained import UNKNOWN_WORD

FILES = ()
_ROWS = 10_000  # formatted together


def write(model: Model, path: Path) -> str:
    """Write `COUNT DIM`, then a word and its numbers per line.

    The first word is `UUUNKKK`, the vector of unknown words, which the code of the papers needs in such a file.
    Entries with white space, as in GloVe 840B, are left out, because a reader would take their last words for numbers.

    Raises:
        ModelError: the model has no word embeddings.
    """
    words, rows, note = named_rows(model)
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.write(header(rows))
        for block, vectors in blocks(words, rows):
            lines = zip(block, vectors.tolist(), strict=True)
            file.writelines(f"{word} {' '.join(f'{x:.9g}' for x in row)}\n" for word, row in lines)
    return note


def named_rows(model: Model) -> tuple[pa.StringArray, Vectors, str]:
    """Return the words of the file (n,), their vectors (n, dim), and a line that says what the file does not keep.

    Raises:
        ModelError: the model has no word embeddings.
    """
    words, embeddings = word_embeddings(model)
    words = pa.concat_arrays([pa.array([UNKNOWN_WORD]), words])
    has_space = pc.match_substring_regex(words, r"\s")
    left_out = pc.sum(has_space).as_py()
    entries = f", and {left_out} entries with white space" if left_out else ""
    note = f"the file does not keep how the model composes word vectors{entries}"
    kept = pc.invert(has_space)
    return words.filter(kept), embeddings[kept.to_numpy(zero_copy_only=False)], note


def header(rows: Vectors) -> str:
    """Return the first line."""
    return f"{len(rows)} {rows.shape[1]}\n"


def blocks(words: pa.StringArray, rows: Vectors) -> Iterator[tuple[list[str], Vectors]]:
    """Yield words and their vectors in parts."""
    for start in range(0, len(rows), _ROWS):
        yield words[start : start + _ROWS].to_pylist(), rows[start : start + _ROWS]
