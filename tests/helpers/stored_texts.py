"""Texts in scratch files, as the stage `tokenize` keeps them."""

from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa

from paraphrastic.corpus.tokenized_pairs import StoredTexts, TextColumn

_FOLDER, _NUMBERS = TemporaryDirectory(), count()  # removed when Python ends


def stored(*parts):
    """Return texts that were written in some parts."""
    column = TextColumn(Path(_FOLDER.name) / f"{next(_NUMBERS)}.arrow")
    for part in parts:
        column.append(pa.array(part, pa.string()))
    column.close()
    return StoredTexts([column], np.arange(len(column)))


def listed(texts):
    """Return stored texts as a list."""
    return [text for part in texts for text in part.to_pylist()]
