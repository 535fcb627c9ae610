"""The training corpus: the filtered sources one after the other, or a part of their pairs.

Performance against the amount of data needs parts of different sizes (iclr2016 §5.2.1, Figure 1), and a comparison of
corpora needs parts with equal numbers of tokens (acl2017 §4.1.2, Table 1). iclr2016 tunes on 100,000 pairs (§4.2.1).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from paraphrastic.base.errors import DataError
from paraphrastic.base.tables import PAIRS
from paraphrastic.corpus.tokenized_pairs import Pairs, StoredTexts, renumber
from paraphrastic.text.columns import Numbers, TextNumbering


@dataclass(frozen=True)
class TrainingCorpus:
    """Training pairs and their sentences."""

    sentences: StoredTexts  # the distinct tokenized sentences
    token_counts: Numbers  # (sentences,), how many tokens they have
    pairs: pa.Table  # table in schema `tables.PAIRS`; pairs of a source are adjacent and in the order of its files

    @property
    def tokens_of_pairs(self) -> NDArray[np.int64]:
        """The number of tokens of both sides of each pair, (pairs,)."""
        left, right = (self.token_counts[self.pairs[side].to_numpy()] for side in ("left", "right"))
        sums: NDArray[np.int64] = left.astype(np.int64) + right
        return sums


def merge_sources(sources: Mapping[str, Pairs]) -> TrainingCorpus:
    """Return the corpus of all sources by name; sources and pairs keep their order, groups stay distinct.

    Raises:
        DataError: no pair is left, or there is no source.
    """
    if not sources:
        raise DataError("the corpus has no usable pair: no source has its files; provide them or choose another corpus")
    if not any(len(source.left) for source in sources.values()):
        raise DataError(f"the corpus has no usable pair: none is left of {', '.join(sources)}; choose another corpus")
    numbering, texts, token_counts, pairs, start = TextNumbering(), [], [], [], 0
    for name, source in sources.items():
        known = len(numbering)
        rows = numbering.add(source.hashes)  # (texts,), in the corpus
        new = rows >= known  # (texts,), which earlier sources lack
        texts.append(source.texts.select(new))
        token_counts.append(source.token_counts[new])
        columns = {"left": rows[source.left], "right": rows[source.right], "group": source.groups + start}
        columns["source"] = pa.repeat(name, len(source.left))
        pairs.append(pa.table(columns).select(PAIRS.names).cast(PAIRS))
        start += source.groups.max(initial=-1) + 1
    return TrainingCorpus(
        StoredTexts.concat(texts), np.concatenate(token_counts), pa.concat_tables(pairs).combine_chunks()
    )


def take_pairs(
    corpus: TrainingCorpus,
    share: float = 1.0,
    max_pairs: int | None = None,
    max_tokens: int | None = None,
    seed: int | None = None,
) -> TrainingCorpus:
    """Return the largest part of a corpus within all limits.

    Pairs keep their order, and those of one group share one in the result. For the same corpus and seed, a larger part
    contains every smaller one.

    Args:
        corpus: the pairs of a source are in the order of its files, which is by confidence in PPDB.
        share: of the pairs, rounded down.
        max_pairs: None for no limit.
        max_tokens: tokens of both sides of all pairs; None for no limit.
        seed: take random pairs; None takes the first pairs of each source, of all sources the same share.

    Raises:
        DataError: not one pair is within the limits.
    """
    if share == 1 and max_pairs is None and max_tokens is None:
        return corpus
    pairs = corpus.pairs
    order = _first_of_each_source(pairs) if seed is None else np.random.default_rng(seed).permutation(len(pairs))
    limits = [len(pairs), int(Fraction(str(share)) * len(pairs))]  # the decimal number: 0.29 of 100 pairs are 29
    limits += [] if max_pairs is None else [max_pairs]
    if max_tokens is not None:
        tokens = np.cumsum(corpus.tokens_of_pairs[order])
        limits.append(int(np.searchsorted(tokens, max_tokens, side="right")))
    if not min(limits):
        raise DataError(
            f"params.yaml: tokenize.take_share = {share}, tokenize.max_tokens = {max_tokens}: not one of the "
            f"{len(pairs)} pairs of the corpus is left; raise them"
        )
    return _select(corpus, np.sort(order[: min(limits)]))


def _first_of_each_source(pairs: pa.Table) -> NDArray[np.int64]:
    """Return the rows in such an order that any number of first rows is the same share of each source, rounded.

    Pair i of a source of n pairs is at (i + ½) / n, so that the pairs of one source keep their order.
    """
    source = pairs["source"].combine_chunks().dictionary_encode().indices.to_numpy()
    sizes = np.bincount(source)
    position = np.arange(len(pairs)) - (np.cumsum(sizes) - sizes)[source]
    return np.argsort((position + 0.5) / sizes[source], kind="stable")


def _select(corpus: TrainingCorpus, rows: NDArray[np.int64]) -> TrainingCorpus:
    """Return some pairs and their sentences; sentences and groups are numbered anew, without gaps."""
    taken = corpus.pairs.take(rows)
    used, left, right = renumber(taken["left"].to_numpy(), taken["right"].to_numpy(), len(corpus.sentences))
    groups = np.unique(taken["group"].to_numpy(), return_inverse=True)[1]
    columns = {"left": left, "right": right, "source": taken["source"], "group": groups}
    return TrainingCorpus(corpus.sentences.select(used), corpus.token_counts[used], pa.table(columns).cast(PAIRS))
