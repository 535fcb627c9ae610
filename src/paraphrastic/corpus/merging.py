"""Merge the filtered sources into one corpus."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from paraphrastic.base.errors import DataError
from paraphrastic.base.tables import PAIRS
from paraphrastic.corpus.filtering import FilteredSource
from paraphrastic.corpus.text_store import StoredTexts
from paraphrastic.corpus.tokenized_pairs import Mask, Rows
from paraphrastic.text.columns import TextNumbering


@dataclass(frozen=True)
class Corpus:
    """Training pairs and their sentences.

    Attributes:
        sentences: the distinct tokenized sentences.
        tokens: (sentences,), how many tokens they have.
        pairs: table in schema `tables.PAIRS`.
    """

    sentences: StoredTexts
    tokens: Rows
    pairs: pa.Table

    @property
    def tokens_of_pairs(self) -> NDArray[np.int64]:
        """The number of tokens of both sides of each pair, (pairs,)."""
        left, right = (self.tokens[self.pairs[side].to_numpy()] for side in ("left", "right"))
        sums: NDArray[np.int64] = left.astype(np.int64) + right
        return sums


def merge_sources(sources: Sequence[FilteredSource]) -> Corpus:
    """Return the corpus of all sources; sources and pairs keep their order, groups stay distinct.

    Raises:
        DataError: no pair is left, or there is no source.
    """
    if not sources:
        raise DataError("the corpus has no usable pair: no source has its files; provide them or choose another corpus")
    if not any(len(source.left) for source in sources):
        names = ", ".join(source.source for source in sources)
        raise DataError(f"the corpus has no usable pair: none is left of {names}; choose another corpus")
    new, rows = _number(sources)
    texts = StoredTexts.concat([source.texts.select(mask) for source, mask in zip(sources, new, strict=True)])
    tokens = np.concatenate([source.tokens[mask] for source, mask in zip(sources, new, strict=True)])
    starts = np.cumsum([0, *(source.groups.max(initial=-1) + 1 for source in sources)])[:-1]
    columns = {
        "left": np.concatenate([row[source.left] for source, row in zip(sources, rows, strict=True)]),
        "right": np.concatenate([row[source.right] for source, row in zip(sources, rows, strict=True)]),
        "source": pa.chunked_array([pa.repeat(source.source, len(source.left)) for source in sources]),
        "group": np.concatenate([source.groups + start for source, start in zip(sources, starts, strict=True)]),
    }
    return Corpus(texts, tokens, pa.table(columns, schema=PAIRS))


def _number(sources: Sequence[FilteredSource]) -> tuple[list[Mask], list[Rows]]:
    """Return which texts of each source earlier sources lack, and the row of each of its texts in the corpus."""
    numbering, new, rows = TextNumbering(), [], []
    for source in sources:
        known = len(numbering)
        rows.append(numbering.add(source.hashes))
        new.append(rows[-1] >= known)
    return new, rows
