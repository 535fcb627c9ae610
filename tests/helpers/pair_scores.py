"""Score sentences with any scorer."""

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from paraphrastic.scoring.scorer import Rows, Scorer


def score_texts(scorer: Scorer, left: str, right: str) -> float:
    """Return the score of two tokenized sentences."""
    return float(scorer.score(pa.array([left, right]), np.array([0]), np.array([1]))[0])


def all_pairs(sentences: pa.StringArray) -> tuple[Rows, Rows]:
    """Return the rows of all pairs of sentences, (n²,) each."""
    left, right = (rows.ravel() for rows in np.indices((len(sentences), len(sentences))))
    return left, right


def cosines(vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the cosine of all pairs of rows of (n, dim), (n²,); 0 if a row is zero."""
    norms = np.linalg.norm(vectors, axis=1)
    scale = np.outer(norms, norms)
    return np.divide(vectors @ vectors.T, scale, out=np.zeros_like(scale), where=scale > 0).ravel()
