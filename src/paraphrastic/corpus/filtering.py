"""Filter the raw pairs of a source.

Texts are compared in the form that `normalize` gives their tokens. A pair is dropped for the first of these reasons
that applies:

* `empty`: one side has no token.
* `identical`: both sides are the same; a single sentence without a neighbour is kept.
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

Near copies are texts whose sets of words have a Jaccard similarity of at least `NEAR`. Two such sets share at least one
of the few rarest words of each (the prefix filter of Chaudhuri et al. 2006), so that few pairs have to be compared and
none is missed.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from paraphrastic.base.tables import PAIR_KINDS, PHRASE_SETS
from paraphrastic.corpus.tokenized_pairs import BoolArray, Check, Pairs, TokenizedPairs
from paraphrastic.readers.paraphrase_groups import word_sets
from paraphrastic.text.columns import Numbers, hash_texts, split_words
from paraphrastic.text.tokenizer import normalize

NEAR = 0.8  # lowest Jaccard similarity of near copies
MIN_WORDS = 4  # an evaluation text with fewer words has no near copies

_ROWS = 1 << 14  # texts that are compared together
_ROUNDING = 1e-9
REASONS = ("empty", "identical", "repeated", "overlap", "near", "capped")

if TYPE_CHECKING:
    from scipy.sparse import csr_array


def exact_copies(texts: pa.StringArray, evaluation: pa.StringArray) -> NDArray[np.bool_]:
    """Return which of the normalized `texts` (n,) occur in `evaluation`; an empty text does not count."""
    copies = pc.and_(pc.is_in(texts, value_set=evaluation), pc.not_equal(texts, ""))
    mask: NDArray[np.bool_] = copies.to_numpy(zero_copy_only=False)
    return mask


class NearCopies:
    """Finds near copies of evaluation texts.

    Args:
        evaluation: normalized; texts of fewer than `MIN_WORDS` words have no near copies.
    """

    def __init__(self, evaluation: pa.StringArray) -> None:
        evaluation = evaluation.filter(pc.greater_equal(pc.count_substring(evaluation, " "), MIN_WORDS - 1))
        counts = split_words(evaluation)[0].value_counts()
        order = pc.sort_indices(counts.field("counts"))
        self._words = counts.field("values").take(order)  # rarest first
        sets = word_sets(evaluation, self._words)
        self._sizes, self._sets = np.diff(sets.indptr), self._known(sets)
        self._prefixes = self._known(_prefixes(sets)).T.tocsr()

    def find(self, texts: pa.StringArray) -> NDArray[np.bool_]:
        """Return which of the normalized `texts` (n,) are near copies."""
        near = [np.zeros(0, bool)]
        for start in range(0, len(texts), _ROWS):
            sets = word_sets(texts.slice(start, _ROWS), self._words)
            candidates = (self._known(_prefixes(sets)) @ self._prefixes).nonzero()  # two arrays (candidates,)
            near.append(_similar(self._known(sets), np.diff(sets.indptr), self._sets, self._sizes, *candidates))
        return np.concatenate(near)

    def _known(self, sets: "csr_array") -> "csr_array":
        """Return the columns of words of the evaluation texts; before them are the others, which are the rarest."""
        return sets[:, sets.shape[1] - len(self._words) :]


def _prefixes(sets: "csr_array") -> "csr_array":
    """Keep of each set its rarest words, as many as are needed for every similar set to contain one of them.

    A set of n words shares at least ⌈NEAR · n⌉ of them with a similar set, so that at most n − ⌈NEAR · n⌉ are missing
    there: of any n − ⌈NEAR · n⌉ + 1 words at least one is shared.
    """
    from scipy.sparse import csr_array  # takes 0.1 s, and few sources have near copies

    sizes = np.diff(sets.indptr)
    lengths = sizes - np.ceil(NEAR * sizes - _ROUNDING).astype(np.int64) + 1
    position = np.arange(sets.nnz) - np.repeat(sets.indptr[:-1], sizes)
    kept = position < np.repeat(lengths, sizes)
    return csr_array((sets.data[kept], sets.indices[kept], np.append(0, np.cumsum(kept))[sets.indptr]), sets.shape)


def _similar(
    sets: "csr_array",
    sizes: NDArray[np.integer],
    others: "csr_array",
    other_sizes: NDArray[np.integer],
    left: NDArray[np.integer],
    right: NDArray[np.integer],
) -> NDArray[np.bool_]:
    """Return which of `sets` (rows,) are similar to one of `others`, among pairs; sizes count words of neither too."""
    a, b = sizes[left], other_sizes[right]
    possible = np.minimum(a, b) >= NEAR * np.maximum(a, b) - _ROUNDING
    left, right, total = left[possible], right[possible], (a + b)[possible]
    common = sets[left].multiply(others[right]).sum(axis=1)  # (candidates,), shared words
    near = np.zeros(sets.shape[0], bool)
    near[left[common >= NEAR * (total - common) - _ROUNDING]] = True
    return near


@dataclass(frozen=True)
class EvaluationText:
    """Normalized text that training must not contain."""

    sentences: pa.StringArray  # sentences of the evaluation sets of pairs
    left: pa.StringArray  # first side of each pair of the sets of words and phrases
    right: pa.StringArray  # second side

    @classmethod
    def of(cls, sentences: pa.StringArray, tables: Mapping[str, pa.Table]) -> "EvaluationText":
        """Collect the text of all splits of all evaluation sets of pairs; other sets are ignored.

        Args:
            sentences: (n,), tokenized.
            tables: by kind, with row numbers of `sentences`.
        """
        sets = pa.concat_tables(tables[kind].select(["set", "left", "right"]) for kind in PAIR_KINDS)
        is_phrase = pc.match_substring_regex(sets["set"], PHRASE_SETS)
        of_sentences = sets.filter(pc.invert(is_phrase))
        sides = [*of_sentences["left"].chunks, *of_sentences["right"].chunks]
        rows = pc.unique(pa.chunked_array(sides, pa.int32()))
        left, right = (sets[side].filter(is_phrase).combine_chunks() for side in ("left", "right"))
        return cls(*(normalize(sentences.take(chosen)) for chosen in (rows, left, right)))


def filter_pairs(
    tables: Iterable[pa.Table],
    evaluation: EvaluationText | None,
    scratch: Path,
    *,
    near: bool,
    words: bool,
    single: bool = False,
    max_group_pairs: int | None = None,
) -> tuple[Pairs, dict[str, int]]:
    """Tokenize the pairs of one source and drop those that are unfit for training.

    Args:
        tables: raw tables of pairs; a large source comes in several.
        evaluation: text to keep out; None keeps out nothing.
        scratch: an existing folder, where the result has its texts; memory holds about 100 bytes per pair.
        near: drop near copies of evaluation sentences too.
        words: the texts are words, which are not compared with evaluation sentences.
        single: the rows are two sentences that do not say the same; one without a neighbour stands beside itself.
        max_group_pairs: how many pairs of a group are kept; None keeps all.

    Returns:
        The pairs that are kept, and how many are dropped for each reason, in the order of `REASONS`.
    """
    checks: dict[str, Check] = {}  # they drop the group of a pair if they find one of its texts
    if evaluation is not None and not words:
        checks["overlap"] = partial(exact_copies, evaluation=evaluation.sentences)
    if evaluation is not None and near:
        checks["near"] = NearCopies(evaluation.sentences).find
    pairs = TokenizedPairs.of(tables, checks, scratch)
    drop = _reasons(pairs, evaluation, max_group_pairs)
    if single:
        del drop["identical"]
    kept, counts = np.ones(len(pairs.left), bool), {}
    for reason in REASONS:  # the first one counts
        dropped = kept & drop.get(reason, False)
        kept, counts[reason] = kept & ~dropped, int(dropped.sum())
    return pairs.select(kept), counts


def _reasons(pairs: TokenizedPairs, evaluation: EvaluationText | None, limit: int | None) -> dict[str, BoolArray]:
    """Return the pairs, (n,), to which each reason applies; the last one, `capped`, applies beside no other."""
    a, b = pairs.forms[pairs.left], pairs.forms[pairs.right]
    blank, key = pairs.token_counts == 0, _unordered_key(a, b)
    drop = {"empty": blank[pairs.left] | blank[pairs.right], "identical": a == b, "repeated": np.ones(len(a), bool)}
    drop["repeated"][np.unique(key, return_index=True)[1]] = False
    for reason, copies in pairs.found.items():
        drop[reason] = np.isin(pairs.groups, pairs.groups[copies[pairs.left] | copies[pairs.right]])
    if evaluation is not None:
        c, d = (pairs.form_numbering.find(hash_texts(side)) for side in (evaluation.left, evaluation.right))
        known = (c >= 0) & (d >= 0)
        drop["overlap"] = np.isin(key, _unordered_key(c[known], d[known])) | drop.get("overlap", False)
    if limit is not None:
        others = ~np.logical_or.reduce(list(drop.values()))
        drop["capped"] = np.zeros(len(a), bool)
        drop["capped"][others] = _beyond(limit, a[others], b[others], pairs.groups[others])
    return drop


def _unordered_key(a: Numbers, b: Numbers) -> NDArray[np.int64]:
    """Return one number for each pair of numbers, the same in either order."""
    key: NDArray[np.int64] = (np.minimum(a, b).astype(np.int64) << 32) + np.maximum(a, b)
    return key


def _beyond(limit: int, a: Numbers, b: Numbers, groups: NDArray[np.int64]) -> BoolArray:
    """Return which pairs (n,) of normal forms `a` and `b` are beyond the first `limit` of their group."""
    import pandas as pd  # takes 0.3 s, and few sources have a limit

    ends = pd.DataFrame({"group": np.repeat(groups, 2), "form": np.stack([a, b], axis=1).ravel()})
    earlier = ends.groupby(["group", "form"]).cumcount().to_numpy().reshape(-1, 2).sum(axis=1)  # (n,)
    order = np.lexsort((earlier, groups))  # stable
    beyond = np.empty(len(groups), bool)
    beyond[order] = pd.Series(groups[order]).groupby(groups[order]).cumcount() >= limit
    return beyond
