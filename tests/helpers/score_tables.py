"""Tables of scores, as the stage `evaluate` stores them."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from paraphrastic.base.tables import SCORES

GOLD = np.random.default_rng(0).normal(size=200)


def score_table(
    name: str,
    kind: str,
    gold: np.ndarray,
    score: np.ndarray,
    split: Sequence[str] | None = None,
    question: Sequence[int] | None = None,
) -> pa.Table:
    """Return the scores of the pairs of one set; by default all are test pairs without a question.

    The sentences are numbered in the order of the pairs.
    """
    n = len(gold)
    left, right = np.arange(2 * n).reshape(n, 2).T
    columns = [[name] * n, [kind] * n, split or ["test"] * n, question or [-1] * n, left, right, gold, score]
    return pa.table([pa.array(column) for column in columns], SCORES.names).cast(SCORES)


def noisy_run(
    noise: float, seed: int, names: Sequence[str] = ("sts.2012.MSRpar", "sts.2013.FNWN", "words.simlex")
) -> dict[str, pa.Table]:
    """Return the scores of a model that scores each set by GOLD plus normal noise of standard deviation `noise`."""
    rng = np.random.default_rng(seed)
    return {name: score_table(name, "similarity", GOLD, GOLD + noise * rng.normal(size=200)) for name in names}
