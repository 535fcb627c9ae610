"""Count the distinct pairs of a corpus, as the papers count "unique" phrase pairs of PPDB (iclr2016 §4.2).

Two pairs are equal if both texts are, as strings without surrounding spaces, in either order. This differs from what
training leaves out, because `corpus.filtering` compares tokens in lower case without punctuation.
"""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from paraphrastic.text.columns import Hashes, hash_texts


class DistinctPairs:
    """Counts distinct unordered pairs of tables that come one after the other; 8 bytes per pair are kept."""

    def __init__(self) -> None:
        self._keys: list[Hashes] = []

    def add(self, pairs: pa.Table) -> None:
        """Add the pairs of a table with the columns `text1` and `text2`."""
        left, right = (_hashes(pairs[side]) for side in ("text1", "text2"))
        low, high = np.minimum(left, right), np.maximum(left, right)
        self._keys.append(low * np.uint64(0x9E3779B97F4A7C15) ^ high)  # unsigned arithmetic wraps around

    def count(self) -> int:
        """Return the number of distinct pairs; two of 10 million distinct ones are taken for equal with p < 10⁻⁵."""
        return len(pd.unique(np.concatenate(self._keys))) if self._keys else 0


def _hashes(texts: pa.ChunkedArray) -> Hashes:
    return hash_texts(pc.utf8_trim_whitespace(texts).combine_chunks())
