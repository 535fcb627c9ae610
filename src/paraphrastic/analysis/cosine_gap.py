"""Difference between the cosines of training pairs and those with their negatives: iclr2016 §5, note 21."""

from collections.abc import Iterator

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray

from paraphrastic.analysis.artifacts import Artifacts
from paraphrastic.base.errors import DataError
from paraphrastic.base.tables import PAIRS, StoredSentences
from paraphrastic.nn.batch import SentenceFile
from paraphrastic.nn.negatives import negative_mask, positive_and_negative_cosines
from paraphrastic.training.batches import epoch_batches

PAIRS_PER_BATCH = 100
_BATCHES = 100  # encoded together: encoding fewer sentences at once is slower, encoding all takes too much memory


def cosine_gap(artifacts: Artifacts) -> pd.DataFrame:
    """Return the mean over the training pairs of `2 cos(g1, g2) − cos(n1, g1) − cos(n2, g2)`.

    The negatives n1 of g1 and n2 of g2 are the most similar sentences of a mini-batch of 100 pairs from one source, see
    acl2017 §3.2.1. The mini-batches are the same for all models. A pair is left out if one of its sentences has no
    allowed negative in the mini-batch.

    Returns:
        One row: `n` (pairs), `positive` (mean of cos(g1, g2)), `negative` (mean of the other cosines), `gap`, and
        `gap_error`: its standard error over pairs, as if they were independent; null for one pair.

    Raises:
        ModelError: the model has no sentence vectors.
        DataError: no pair has negatives.
    """
    cosines = np.concatenate([np.empty((0, 3)), *_cosines(artifacts)])  # (n, 3)
    if not len(cosines):
        raise DataError(f"{artifacts.folder}/corpus: no training pair has negatives; choose another corpus")
    positive, negative = cosines[:, 0], cosines[:, 1:].mean(axis=1)
    gaps = 2 * (positive - negative)  # (n,)
    means = np.round([positive.mean(), negative.mean(), gaps.mean()], 4)
    error = np.sqrt(gaps.var() / (len(gaps) - 1)) if len(gaps) > 1 else np.nan
    row = [len(gaps), *means, np.round(error, 6)]
    return pd.DataFrame([row], columns=["n", "positive", "negative", "gap", "gap_error"])


def _cosines(artifacts: Artifacts) -> Iterator[NDArray[np.float64]]:
    """Yield cos(g1, g2), cos(n1, g1) and cos(n2, g2) of the pairs with negatives of each mini-batch, (≤ B, 3)."""
    pairs, generator = artifacts.read("corpus/pairs.parquet", PAIRS).to_pandas(), np.random.default_rng(0)
    sentences = SentenceFile(StoredSentences(artifacts.folder / "corpus/sentences.parquet"))
    sides, groups = pairs[["left", "right"]].to_numpy().astype(np.int64), torch.tensor(pairs["group"].to_numpy())
    batches = epoch_batches(pd.factorize(pairs["source"])[0], PAIRS_PER_BATCH, "source", generator)
    for start in range(0, len(batches), _BATCHES):
        together = batches[start : start + _BATCHES]
        texts = np.unique(sides[np.concatenate(together)])
        vectors = torch.from_numpy(artifacts.encoder.encode(sentences.take(texts)))  # (texts, dim)
        for rows in together:
            ids = sides[rows].T.ravel()  # (2B,), the first sentences, then the second ones
            mask = negative_mask(torch.from_numpy(ids), groups[rows])
            of_batch = vectors[np.searchsorted(texts, ids)]
            positive, negative = positive_and_negative_cosines(of_batch, mask, "max", generator)
            cosines = torch.stack([positive.chunk(2)[0], *negative.chunk(2)], dim=1)  # (B, 3)
            has_negatives = ~mask.all(1).view(2, -1).any(0)  # (B,)
            yield cosines[has_negatives].double().numpy()
