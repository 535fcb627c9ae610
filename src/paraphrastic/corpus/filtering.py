"""Filter the raw pairs of each source and merge the sources into one corpus.

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

Evaluation sets of pairs are those of similarity, of ranking and of labelled pairs. Sets of labelled sentences and of
tagged tokens are not compared: their text is single sentences, or tokens with tags, of other tasks than the comparison
of two texts.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from paraphrastic.corpus.copies import exact_copies, near_copies
from paraphrastic.errors import DataError
from paraphrastic.tables import PAIRS, PHRASE_SETS, SENTENCES
from paraphrastic.text.deduplicate import deduplicate
from paraphrastic.text.normalize import normalize
from paraphrastic.text.tokenizer import tokenize

REASONS = ("empty", "identical", "repeated", "overlap", "near")

_PAIR_KINDS = ("similarity", "ranking", "labelled_pairs")  # kinds of evaluation tables with pairs

Mask = NDArray[np.bool_]
Rows = NDArray[np.int32]


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
    """The pairs of one source that are kept.

    Attributes:
        source: its name.
        texts: the distinct tokenized sentences of its pairs.
        left: (kept,), rows of `texts`.
        right: (kept,), rows of `texts`.
        groups: (kept,), numbers from 0 without gaps.
        counts: dropped pairs by reason, in the order of `REASONS`.
    """

    source: str
    texts: pa.StringArray
    left: Rows
    right: Rows
    groups: NDArray[np.int64]
    counts: Mapping[str, int]


def filter_pairs(
    source: str, tables: Iterable[pa.Table], evaluation: EvaluationText | None, *, near: bool, words: bool
) -> FilteredSource:
    """Tokenize the pairs of one source and drop those that are unfit for training.

    Args:
        source: its name.
        tables: raw tables of pairs; a large source comes in several, of which only the tokens are kept in memory.
        evaluation: text to keep out; None keeps out nothing.
        near: drop near copies of evaluation sentences too.
        words: the texts are words, which are not compared with evaluation sentences.
    """
    texts, (left, right), groups = _tokenize(tables)
    forms, (form,) = deduplicate([normalize(texts)])
    a, b = form[left], form[right]
    blank = pc.equal(texts, "").to_numpy(zero_copy_only=False)
    drop = {"empty": blank[left] | blank[right], "identical": a == b, "repeated": _repeated(a, b)}
    if evaluation is not None:
        drop["overlap"] = _is_evaluated_pair(a, b, forms, evaluation)
        if not words:
            drop["overlap"] |= _whole_groups(groups, exact_copies(forms, evaluation.sentences), a, b)
        if near:
            drop["near"] = _whole_groups(groups, near_copies(forms, evaluation.sentences), a, b)
    kept, counts = _apply(drop, len(left))
    used, rows = np.unique([left[kept], right[kept]], return_inverse=True)
    groups = np.unique(groups[kept], return_inverse=True)[1]
    left, right = rows.reshape(2, -1).astype(np.int32)
    return FilteredSource(source, texts.take(pa.array(used)), left, right, groups, counts)


def merge_sources(sources: Sequence[FilteredSource]) -> tuple[pa.Table, pa.Table]:
    """Return the corpus as tables `SENTENCES` and `PAIRS`; sources and pairs keep their order, groups stay distinct.

    Raises:
        DataError: no pair is left, or there is no source.
    """
    if not sources:
        raise DataError("the corpus has no usable pair: no source has its files; provide them or choose another corpus")
    if not any(len(source.left) for source in sources):
        names = ", ".join(source.source for source in sources)
        raise DataError(f"the corpus has no usable pair: none is left of {names}; choose another corpus")
    texts, rows = deduplicate([source.texts for source in sources])
    starts = np.cumsum([0, *(source.groups.max(initial=-1) + 1 for source in sources)])[:-1]
    columns = {
        "left": np.concatenate([row[source.left] for source, row in zip(sources, rows, strict=True)]),
        "right": np.concatenate([row[source.right] for source, row in zip(sources, rows, strict=True)]),
        "source": pa.chunked_array([pa.repeat(source.source, len(source.left)) for source in sources]),
        "group": np.concatenate([source.groups + start for source, start in zip(sources, starts, strict=True)]),
    }
    return pa.table([texts], schema=SENTENCES), pa.table(columns, schema=PAIRS)


def _tokenize(tables: Iterable[pa.Table]) -> tuple[pa.StringArray, list[Rows], NDArray[np.int64]]:
    """Return the distinct tokenized texts, both sides of all pairs as rows of them, and the groups."""
    left, right, groups = [], [], [np.empty(0, np.int64)]
    for table in tables:
        left.append(tokenize(table["text1"]))
        right.append(tokenize(table["text2"]))
        groups.append(table["group"].to_numpy())
    texts, sides = deduplicate([pa.chunked_array(side, pa.string()) for side in (left, right)])
    return texts, sides, np.concatenate(groups)


def _repeated(a: Rows, b: Rows) -> Mask:
    repeated = np.ones(len(a), bool)
    repeated[np.unique(_unordered_key(a, b), return_index=True)[1]] = False
    return repeated


def _unordered_key(a: Rows, b: Rows) -> NDArray[np.int64]:
    """Return one number for each pair of numbers, the same in either order."""
    key: NDArray[np.int64] = (np.minimum(a, b).astype(np.int64) << 32) + np.maximum(a, b)
    return key


def _is_evaluated_pair(a: Rows, b: Rows, forms: pa.StringArray, evaluation: EvaluationText) -> Mask:
    """Return which pairs of rows of `forms` are evaluated pairs of words or phrases."""
    sides = (evaluation.left, evaluation.right)
    c, d = (pc.fill_null(pc.index_in(side, value_set=forms), -1).to_numpy() for side in sides)
    known = (c >= 0) & (d >= 0)
    return np.isin(_unordered_key(a, b), _unordered_key(c[known], d[known]))


def _whole_groups(groups: NDArray[np.int64], copies: Mask, a: Rows, b: Rows) -> Mask:
    """Return the pairs of all groups in which a pair has a side among `copies`."""
    return np.isin(groups, groups[copies[a] | copies[b]])


def _apply(drop: Mapping[str, Mask], pairs: int) -> tuple[Mask, dict[str, int]]:
    """Return which pairs are kept, and how many are dropped for each reason; the first reason counts."""
    kept, counts = np.ones(pairs, bool), {}
    for reason in REASONS:
        dropped = kept & drop.get(reason, False)
        kept, counts[reason] = kept & ~dropped, int(dropped.sum())
    return kept, counts
