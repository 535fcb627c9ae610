"""Take a part of the training pairs: a share, a number of pairs, or a number of tokens.

Performance against the amount of data needs parts of different sizes (iclr2016 §5.2.1, Figure 1), and a comparison of
corpora needs parts with equal numbers of tokens (acl2017 §4.1.2, Table 1). iclr2016 tunes on 100,000 pairs (§4.2.1).
"""

from fractions import Fraction

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from paraphrastic.errors import DataError
from paraphrastic.tables import PAIRS

Integers = NDArray[np.int64]


def take_pairs(
    sentences: pa.Table,
    pairs: pa.Table,
    share: float = 1.0,
    max_pairs: int | None = None,
    max_tokens: int | None = None,
    seed: int | None = None,
) -> tuple[pa.Table, pa.Table]:
    """Return the sentences and pairs of the largest part of a corpus within all limits.

    Pairs keep their order, and those of one group share one in the result. For the same corpus and seed, a larger part
    contains every smaller one.

    Args:
        sentences: table `SENTENCES`.
        pairs: table `PAIRS`; the pairs of a source are adjacent and in the order of its files, which is by confidence
            in PPDB.
        share: of the pairs, rounded down.
        max_pairs: None for no limit.
        max_tokens: tokens of both sides of all pairs; None for no limit.
        seed: take random pairs; None takes the first pairs of each source, of all sources the same share.

    Raises:
        DataError: not one pair is within the limits.
    """
    order = _first_of_each_source(pairs) if seed is None else np.random.default_rng(seed).permutation(len(pairs))
    limits = [len(pairs), int(Fraction(str(share)) * len(pairs))]  # the decimal number: 0.29 of 100 pairs are 29
    limits += [] if max_pairs is None else [max_pairs]
    if max_tokens is not None:
        tokens = np.cumsum(count_tokens(sentences, pairs)[order])
        limits.append(int(np.searchsorted(tokens, max_tokens, side="right")))
    if not min(limits):
        raise DataError(
            f"params.yaml: tokenize.take_share = {share}, tokenize.max_tokens = {max_tokens}: not one of the "
            f"{len(pairs)} pairs of the corpus is left; raise them"
        )
    return _select(sentences, pairs, np.sort(order[: min(limits)]))


def count_tokens(sentences: pa.Table, pairs: pa.Table) -> Integers:
    """Return the number of tokens of both sides of each pair, (pairs,)."""
    tokens = pc.add(pc.count_substring(sentences["text"], " "), 1).to_numpy()
    counts: Integers = tokens[pairs["left"].to_numpy()].astype(np.int64) + tokens[pairs["right"].to_numpy()]
    return counts


def _first_of_each_source(pairs: pa.Table) -> Integers:
    """Return the rows in such an order that any number of first rows is the same share of each source, rounded.

    Pair i of a source of n pairs is at (i + ½) / n, so that the pairs of one source keep their order.
    """
    source = pairs["source"].combine_chunks().dictionary_encode().indices.to_numpy()
    sizes = np.bincount(source)
    position = np.arange(len(pairs)) - (np.cumsum(sizes) - sizes)[source]
    return np.argsort((position + 0.5) / sizes[source], kind="stable")


def _select(sentences: pa.Table, pairs: pa.Table, rows: Integers) -> tuple[pa.Table, pa.Table]:
    """Return some pairs and their sentences; sentences and groups are numbered anew, without gaps."""
    taken = pairs.take(pa.array(rows))
    used, sides = np.unique([taken["left"].to_numpy(), taken["right"].to_numpy()], return_inverse=True)
    left, right = sides.reshape(2, -1)
    groups = np.unique(taken["group"].to_numpy(), return_inverse=True)[1]
    columns = {"left": left, "right": right, "source": taken["source"], "group": groups}
    return sentences.take(pa.array(used)), pa.table(columns).cast(PAIRS)
