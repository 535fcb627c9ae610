"""Overlap of two sentences' words: a baseline without any state."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from paraphrastic.scoring.cosine import cosine_of_sparse_rows
from paraphrastic.scoring.scorer import Rows, Scores
from paraphrastic.text.columns import Ragged, split_words


class OverlapScorer:
    """Cosine of binary bags of words: |A ∩ B| / √(|A| |B|) for the sets of words A and B."""

    def __init__(self) -> None:
        self.texts = pa.array([], pa.string())

    def score(self, sentences: pa.StringArray, left: Rows, right: Rows) -> Scores:
        """Return the overlap of each pair, (pairs,); 0 if a sentence is empty."""
        words, offsets = split_words(sentences)
        codes = words.dictionary_encode().indices.to_numpy() + np.int32(1)  # 0 would be dropped as unknown
        sets = Ragged(codes, offsets).merge_repeats()
        return cosine_of_sparse_rows(sets, np.ones(len(sets.ids)), left, right)

    def oov_share(self, sentences: pa.StringArray) -> NDArray[np.float64]:
        """Return zeros, (n,): there is no vocabulary."""
        return np.zeros(len(sentences))

    def save(self, folder: Path) -> dict[str, Any]:
        """Write nothing; the result goes to `config.json`."""
        return {"scorer": {"kind": "overlap"}}
