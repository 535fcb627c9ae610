"""Filter the raw pairs of a source.

Texts are compared in the form that `normalize` gives their tokens. A pair is dropped for the first of these reasons
that applies:

* `empty`: one side has no token.
* `identical`: both sides are the same.
* `repeated`: an earlier pair of the same source has the same sides, in either order. Other sources are not compared, so
  that the pairs of a source do not depend on which others are selected.
* `overlap`: one side is a sentence of an evaluation set of pairs, or the pair is an evaluated pair of words or phrases.
  With a sentence, all pairs of the same group are dropped, such as the other captions of the image. Single words and
  phrases drop no pair, because then no lexicon could be used for training.
* `near`: one side is a near copy of a sentence of an evaluation set of pairs, in sources that ask for this check; the
  group is dropped too.
* `capped`: the group has more pairs than are kept of one. Pairs whose sentences occur in the fewest earlier pairs of
  the group are kept first, so that those that are kept have many different sentences.

Evaluation sets of pairs are those of similarity, of ranking and of labelled pairs. Sets of labelled sentences and of
tagged tokens are not compared: their text is single sentences, or tokens with tags, of other tasks than the comparison
of two texts.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from paraphrastic.base.tables import PHRASE_SETS
from paraphrastic.corpus.copies import NearCopies, exact_copies
from paraphrastic.corpus.text_store import StoredTexts
from paraphrastic.corpus.tokenized_pairs import BoolArray, Check, TokenizedPairs, renumber
from paraphrastic.text.columns import Hashes, Numbers, hash_texts
from paraphrastic.text.tokenizer import normalize

REASONS = ("empty", "identical", "repeated", "overlap", "near", "capped")

_PAIR_KINDS = ("similarity", "ranking", "labelled_pairs")  # kinds of evaluation tables with pairs


@dataclass(frozen=True)
class EvaluationText:
    """Normalized text that training must not contain.

    Attributes:
        sentences: sentences of the evaluation sets of pairs.
        left: first side of each pair of the sets of words and phrases.
        right: second side.
    """

    sentences: pa.StringArray
    left: pa.StringArray
    right: pa.StringArray

    @classmethod
    def of(cls, sentences: pa.StringArray, tables: Mapping[str, pa.Table]) -> "EvaluationText":
        """Collect the text of all splits of all evaluation sets of pairs; other sets are ignored.

        Args:
            sentences: (n,), tokenized.
            tables: by kind, with row numbers of `sentences`.
        """
        sets = pa.concat_tables(tables[kind].select(["set", "left", "right"]) for kind in _PAIR_KINDS)
        is_phrase = pc.match_substring_regex(sets["set"], PHRASE_SETS)
        of_sentences = sets.filter(pc.invert(is_phrase))
        sides = [*of_sentences["left"].chunks, *of_sentences["right"].chunks]
        rows = pc.unique(pa.chunked_array(sides, pa.int32()))
        left, right = (sets[side].filter(is_phrase).combine_chunks() for side in ("left", "right"))
        return cls(*(normalize(sentences.take(chosen)) for chosen in (rows, left, right)))


@dataclass(frozen=True)
class FilteredSource:
    """The n pairs of one source that are kept.

    Attributes:
        source: its name.
        texts: the distinct tokenized sentences of its pairs.
        hashes: (texts,), their hashes.
        tokens: (texts,), how many tokens they have.
        left: (n,), rows of `texts`.
        right: (n,), rows of `texts`.
        groups: (n,), numbers from 0 without gaps.
        counts: dropped pairs by reason, in the order of `REASONS`.
    """

    source: str
    texts: StoredTexts
    hashes: Hashes
    tokens: Numbers
    left: Numbers
    right: Numbers
    groups: NDArray[np.int64]
    counts: Mapping[str, int]


def filter_pairs(
    source: str,
    tables: Iterable[pa.Table],
    evaluation: EvaluationText | None,
    scratch: Path,
    *,
    near: bool,
    words: bool,
    max_group_pairs: int | None = None,
) -> FilteredSource:
    """Tokenize the pairs of one source and drop those that are unfit for training.

    Args:
        source: its name.
        tables: raw tables of pairs; a large source comes in several.
        evaluation: text to keep out; None keeps out nothing.
        scratch: an existing folder, where the result has its texts; memory holds about 100 bytes per pair.
        near: drop near copies of evaluation sentences too.
        words: the texts are words, which are not compared with evaluation sentences.
        max_group_pairs: how many pairs of a group are kept; None keeps all.
    """
    checks: dict[str, Check] = {}  # they drop the group of a pair if they find one of its texts
    if evaluation is not None and not words:
        checks["overlap"] = partial(exact_copies, evaluation=evaluation.sentences)
    if evaluation is not None and near:
        checks["near"] = NearCopies(evaluation.sentences).find
    pairs = TokenizedPairs.of(tables, checks, scratch)
    a, b = pairs.forms[pairs.left], pairs.forms[pairs.right]
    blank = pairs.tokens == 0
    key = _unordered_key(a, b)
    drop = {"empty": blank[pairs.left] | blank[pairs.right], "identical": a == b, "repeated": np.ones(len(a), bool)}
    drop["repeated"][np.unique(key, return_index=True)[1]] = False
    for reason, copies in pairs.found.items():
        drop[reason] = np.isin(pairs.groups, pairs.groups[copies[pairs.left] | copies[pairs.right]])
    if evaluation is not None:
        c, d = (pairs.form_numbering.find(hash_texts(side)) for side in (evaluation.left, evaluation.right))
        known = (c >= 0) & (d >= 0)
        drop["overlap"] = np.isin(key, _unordered_key(c[known], d[known])) | drop.get("overlap", False)
    if max_group_pairs is not None:
        others = ~np.logical_or.reduce(list(drop.values()))
        drop["capped"] = np.zeros(len(a), bool)
        drop["capped"][others] = _beyond(max_group_pairs, a[others], b[others], pairs.groups[others])
    kept, counts = _apply(drop, len(pairs.left))
    used, left, right = renumber(pairs.left[kept], pairs.right[kept], len(pairs.texts))
    groups = np.unique(pairs.groups[kept], return_inverse=True)[1]
    texts, hashes, tokens = pairs.texts.select(used), pairs.hashes[used], pairs.tokens[used]
    return FilteredSource(source, texts, hashes, tokens, left, right, groups, counts)


def _unordered_key(a: Numbers, b: Numbers) -> NDArray[np.int64]:
    """Return one number for each pair of numbers, the same in either order."""
    key: NDArray[np.int64] = (np.minimum(a, b).astype(np.int64) << 32) + np.maximum(a, b)
    return key


def _beyond(limit: int, a: Numbers, b: Numbers, groups: NDArray[np.int64]) -> BoolArray:
    """Return which pairs are beyond the first `limit` of their group, (n,).

    Args:
        limit: pairs per group.
        a: (n,) numbers of the normal forms of first sides.
        b: (n,) of second sides.
        groups: (n,).
    """
    ends = pd.DataFrame({"group": np.repeat(groups, 2), "form": np.stack([a, b], axis=1).ravel()})
    earlier = ends.groupby(["group", "form"]).cumcount().to_numpy().reshape(-1, 2).sum(axis=1)  # (n,)
    order = np.lexsort((earlier, groups))  # stable
    beyond = np.empty(len(groups), bool)
    beyond[order] = pd.Series(groups[order]).groupby(groups[order]).cumcount() >= limit
    return beyond


def _apply(drop: Mapping[str, BoolArray], pairs: int) -> tuple[BoolArray, dict[str, int]]:
    """Return which pairs are kept, and how many are dropped for each reason; the first reason counts."""
    kept, counts = np.ones(pairs, bool), {}
    for reason in REASONS:
        dropped = kept & drop.get(reason, False)
        kept, counts[reason] = kept & ~dropped, int(dropped.sum())
    return kept, counts
