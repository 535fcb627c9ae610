"""Word embeddings as word2vec text, and as word2vec writes them in binary, which `KeyedVectors` of gensim reads.

gensim's own format is a pickle, which can run code when it is read; this package writes none.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from paraphrastic.export.model_parts import word_embeddings
from paraphrastic.inference.model import Model
from paraphrastic.scoring.scorer import Vectors
from paraphrastic.vocabulary.pretrained import UNKNOWN_WORD

_ROWS = 10_000  # converted together, which bounds memory


def write_words(model: Model, path: Path, numbers: Callable[[Vectors], bytes]) -> str:
    """Write `COUNT DIM`, then for each word a line of the word, a space and what `numbers` returns for its vector.

    The first word is `UUUNKKK`, the vector of unknown words, which the code of the papers needs in such a file.
    Entries with white space, as in GloVe 840B, are left out, because a reader would take their last words for numbers.

    Raises:
        ModelError: the model has no word embeddings.
    """
    words, embeddings = word_embeddings(model)
    words = pa.concat_arrays([pa.array([UNKNOWN_WORD]), words])
    has_space = pc.match_substring_regex(words, r"\s").to_numpy(zero_copy_only=False)
    words, rows = words.filter(~has_space), embeddings[~has_space]
    with path.open("wb") as file:
        file.write(f"{len(rows)} {rows.shape[1]}\n".encode())
        for start in range(0, len(rows), _ROWS):
            for word, row in zip(words[start : start + _ROWS].to_pylist(), rows[start : start + _ROWS], strict=True):
                file.write(b"%b %b\n" % (word.encode(), numbers(row)))
    entries = f", and {has_space.sum()} entries with white space" if has_space.any() else ""
    return f"the file does not keep how the model composes word vectors{entries}"


def _as_text(row: Vectors) -> bytes:
    return " ".join(f"{x:.9g}" for x in row.tolist()).encode()


FORMATS = {
    "word2vec": ((), partial(write_words, numbers=_as_text)),
    "word2vec-binary": ((), partial(write_words, numbers=lambda row: row.astype("<f4").tobytes())),
}
