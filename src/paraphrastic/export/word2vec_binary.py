"""Word embeddings as word2vec writes them in binary, which `KeyedVectors` of gensim reads.

gensim's own format is a pickle, which can run code when it is read; this package writes none.
"""

from pathlib import Path

from paraphrastic.export.word2vec import blocks, header, named_rows
from paraphrastic.inference.model import Model

FILES = ()


def write(model: Model, path: Path) -> str:
    """Write the words of `word2vec.write` with float32 numbers: `COUNT DIM`, then a word, a space and its numbers.

    Raises:
        ModelError: the model has no word embeddings.
    """
    words, rows, note = named_rows(model)
    with path.open("wb") as file:
        file.write(header(rows).encode())
        for block, vectors in blocks(words, rows.astype("<f4")):
            for word, row in zip(block, vectors, strict=True):
                file.write(word.encode() + b" " + row.tobytes() + b"\n")
    return note
