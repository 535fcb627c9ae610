"""Count the words, pairs of adjacent words and character n-grams of a corpus.

Its sentences are distinct. Each counts once, or, with weights, as often as training pairs contain it, which are the
occurrences in the training data that charagram2016 counts (§4.1.2, §4.4).
"""

from collections.abc import Callable, Iterator, Sequence
from operator import methodcaller
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from paraphrastic.base.parallel import in_order, njit
from paraphrastic.base.tables import NGRAM_COUNTS, WORD_COUNTS
from paraphrastic.text.columns import Ragged, TextColumns, chunks, offsets_from_lengths, split_words
from paraphrastic.vocabulary.kinds import VocabularyKind, WordVocabulary, entry_kinds
from paraphrastic.vocabulary.ngrams import ALPHABET, CHUNK, NgramNumbering, code_points

OnProgress = Callable[[int], object]  # called with the number of sentences counted since the last call
Weights = NDArray[np.int64]

WORDS_CHUNK = 1 << 20  # bytes of text that words are counted in
_MOST_PARTS = 8  # of all n-grams; a sixth of them start with a space, and are in one part
_FREQUENT = 256  # characters whose frequencies decide the division

_BIGRAMS_CHUNK = 1 << 25  # bytes of text; each addition passes over all pairs so far
_WORD_BITS = 32  # a pair of words is the id of the first one, shifted by so many bits, and that of the second one
_LAST_WORD = (1 << _WORD_BITS) - 1
_PAIR_COUNTS = pa.schema([("pair", pa.int64()), ("count", pa.int64()), ("sentences", pa.int64())])


def count_words(
    sentences: TextColumns, min_count: int = 1, on_progress: OnProgress = lambda _: None, weights: Weights | None = None
) -> pa.Table:
    """Return the words that occur at least `min_count` times, most frequent first, then by text.

    `weights` (n,) is how often each sentence counts in the column `count`; None stands for once. The table has the
    schema `WORD_COUNTS`.
    """
    tables, rows = [WORD_COUNTS.empty_table()], 0  # the sum of some chunks, then tables of one chunk, and their rows
    for table, counted in in_order(_count_words, _weighted_chunks(sentences, weights, WORDS_CHUNK)):
        tables, rows = [*tables, table], rows + len(table)
        if rows > len(tables[0]):  # each addition passes over the whole sum
            tables, rows = [_sum(tables)], 0
        on_progress(counted)
    total = _sum(tables).filter(pc.field("count") >= min_count)
    return total.sort_by([("count", "descending"), ("text", "ascending")]).cast(WORD_COUNTS)


def count_ngrams(
    sentences: TextColumns,
    orders: Sequence[int],
    min_count: int = 1,
    max_per_order: int | None = None,
    on_progress: OnProgress = lambda _: None,
    padding: str = " ",
    weights: Weights | None = None,
) -> pa.Table:
    """Return the character n-grams of the given orders, most frequent first, then by order, then by text.

    An n-gram never spans two sentences. The table has the schema `NGRAM_COUNTS`.

    Args:
        sentences: n tokenized sentences.
        orders: lengths in characters.
        min_count: occurrences that an n-gram needs.
        max_per_order: how many of the most frequent n-grams of each order are kept; None keeps all.
        on_progress: called after each chunk.
        padding: text that is added at both ends of each sentence.
        weights: as for `count_words`.
    """
    parts = list[_NgramCounter]()
    parted = _weighted_chunks(sentences, weights, CHUNK)
    for characters in in_order(lambda chunk: _Characters(*code_points(chunk[0], padding), chunk[1]), parted):
        parts = parts or [_NgramCounter(orders, starts) for starts in _division(characters.points)]
        list(in_order(methodcaller("add", characters), parts))
        on_progress(len(characters.weights))
    table = pa.concat_tables(table for part in parts for table in part.tables(min_count))
    rows = pc.sort_indices(table, [("count", "descending"), ("order", "ascending"), ("text", "ascending")]).to_numpy()
    order = table["order"].to_numpy()[rows]
    kept = [np.flatnonzero(order == n)[:max_per_order] for n in sorted(orders)]
    return table.take(rows[np.sort(np.concatenate(kept))])


def count_bigrams(sentences: TextColumns, words: pa.StringArray | pa.ChunkedArray, min_count: int) -> pa.Table:
    """Return the pairs of adjacent words that occur at least `min_count` times, most frequent first, then by text.

    Each sentence counts once, and pairs are made of `words`, each of which stands there once. The table has the schema
    `WORD_COUNTS`; a text is the pair with a space between its words and at each end.
    """
    vocabulary = WordVocabulary(words)
    tables = [_PAIR_COUNTS.empty_table()]
    for chunk in chunks(sentences, _BIGRAMS_CHUNK):
        tables = [_sum([*tables, _count_pairs(vocabulary.lookup(chunk))], "pair")]
    total = tables[0].filter(pc.field("count") >= min_count)
    pairs = total["pair"].to_numpy()
    first, second = (words.take(ids - 1) for ids in (pairs >> _WORD_BITS, pairs & _LAST_WORD))
    texts = pc.binary_join_element_wise("", first, second, "", " ")
    table = pa.table({"text": texts, "count": total["count"], "sentences": total["sentences"]})
    return table.sort_by([("count", "descending"), ("text", "ascending")]).cast(WORD_COUNTS)


def count_entries(
    kind: VocabularyKind,
    sentences: pa.StringArray,
    orders: Sequence[int] = (),
    min_count: int = 1,
    ngrams_per_order: int | None = None,
    bigram_min_count: int | None = None,
) -> pa.Table:
    """Return a table of the entries that a vocabulary of `sentences` can have.

    Its columns are `text`, `count` and `sentences`, and `order` if there are n-grams or characters only. Limits are
    those of `count_ngrams`; without `bigram_min_count` there are no pairs of adjacent words.
    """
    if kind == "words":
        return count_words(sentences, min_count)
    ngrams = count_ngrams(sentences, [1] if kind == "characters" else orders, min_count, ngrams_per_order)
    if kind != "words+ngrams":
        return ngrams
    words = count_words(sentences, min_count)
    bigrams = count_bigrams(sentences, words["text"], bigram_min_count) if bigram_min_count else None
    return merge_counts(ngrams, words, bigrams)


def merge_counts(ngrams: pa.Table, words: pa.Table, bigrams: pa.Table | None = None) -> pa.Table:
    """Merge tables of n-grams, of words and of pairs of adjacent words, see `count_bigrams`, into one vocabulary.

    Its rows are n-grams of neither form, then the words, then n-grams that have the form of a word but are missing from
    `words`, then the pairs, then n-grams of their form that are missing there.
    """
    columns = ["text", "count", "sentences"]
    spaced = pc.binary_join_element_wise("", words["text"], "", " ")
    words = words.set_column(words.schema.get_field_index("text"), "text", spaced)
    bigrams = words.slice(0, 0) if bigrams is None else bigrams
    others, like_words, like_bigrams = (ngrams.filter(kind) for kind in entry_kinds(ngrams["text"]))
    parts = others, words, _without(like_words, words), bigrams, _without(like_bigrams, bigrams)
    return pa.concat_tables(table.select(columns) for table in parts)


def _without(table: pa.Table, other: pa.Table) -> pa.Table:
    """Return the rows whose text `other` lacks."""
    return table.filter(pc.invert(pc.is_in(table["text"], other["text"])))


class OccurrenceCounter:
    """Counts occurrences of numbered words or n-grams, and the sentences that contain them.

    Numbers start at 1; 0 means none and is not counted.
    """

    def __init__(self) -> None:
        self._rows = np.zeros((1, 3), np.int64)  # occurrences, sentences, last sentence (from 1) that contains it
        self._sentences = 0

    def add(self, numbers: NDArray[np.int32], offsets: NDArray[np.int64], weights: Weights, size: int) -> None:
        """Count further sentences: sentence i has `numbers[offsets[i]:offsets[i + 1]]`, all at most `size`.

        An occurrence in it counts as `weights[i]` occurrences.
        """
        if size >= len(self._rows):
            self._rows = np.concatenate([self._rows, np.zeros((size, 3), np.int64)])
        _count(numbers, offsets, weights, self._sentences, self._rows)
        self._sentences += len(offsets) - 1

    def at_least(self, min_count: int) -> tuple[NDArray[np.int64], dict[str, NDArray[np.int64]]]:
        """Return the numbers that occur at least `min_count` times, and their columns `count` and `sentences`."""
        numbers = 1 + np.flatnonzero(self._rows[1:, 0] >= max(min_count, 1))
        return numbers, {"count": self._rows[numbers, 0], "sentences": self._rows[numbers, 1]}


class _Characters(NamedTuple):
    """The characters of n sentences."""

    points: NDArray[np.int32]  # code points + 1, with a 0 after each sentence
    offsets: NDArray[np.int64]  # (n + 1,), of the sentences in `points`
    weights: Weights  # (n,), occurrences that an occurrence in the sentence counts as


class _NgramCounter:
    """Counts the n-grams that start with some of all characters, so that several threads count disjoint n-grams.

    `starts` (ALPHABET,) says of each code point + 1 whether n-grams that start with it are counted.
    """

    def __init__(self, orders: Sequence[int], starts: NDArray[np.bool_]) -> None:
        self._starts = starts
        self._levels = [NgramNumbering() for _ in range(max(orders))]
        self._counters = {n: OccurrenceCounter() for n in sorted(orders)}

    def add(self, characters: _Characters) -> None:
        """Count n-grams of further sentences."""
        positions = np.flatnonzero(self._starts[characters.points])
        offsets = np.searchsorted(positions, characters.offsets)
        numbers = np.ones(len(positions), np.int32)
        for n, level in enumerate(self._levels, 1):
            level.add(numbers, characters.points.take(positions, mode="clip"))  # the last one is a 0
            if n in self._counters:
                self._counters[n].add(numbers, offsets, characters.weights, level.size)
            positions += 1

    def tables(self, min_count: int) -> Iterator[pa.Table]:
        """Yield, for each order, the n-grams that occur at least `min_count` times, unsorted.

        Their texts are read off the chain of prefixes.
        """
        for n, counter in self._counters.items():
            numbers, columns = counter.at_least(min_count)
            points = np.empty((len(numbers), n), "<u4")
            for i in reversed(range(n)):
                numbers, points[:, i] = self._levels[i].split(numbers)
            data = points.tobytes().decode("utf-32-le").encode()
            widths = sum((points >= first).astype(np.int64) for first in (0, 0x80, 0x800, 0x10000))  # bytes in UTF-8
            offsets = offsets_from_lengths(np.asarray(widths).sum(axis=1))
            texts = pa.LargeStringArray.from_buffers(len(points), pa.py_buffer(offsets), pa.py_buffer(data))
            yield pa.table({"text": texts, "order": np.full(len(points), n), **columns}).cast(NGRAM_COUNTS)


def _division(points: NDArray[np.int32]) -> list[NDArray[np.bool_]]:
    """Divide all code points + 1 but 0 into parts, (ALPHABET,) each, that have about equally many of `points`."""
    parts = min(pa.cpu_count(), _MOST_PARTS)
    part_of = np.arange(ALPHABET) % parts
    frequency, sizes = np.bincount(points, minlength=1), np.zeros(parts, np.int64)
    frequency[0] = 0  # no code point
    for point in np.argsort(-frequency)[:_FREQUENT]:
        part_of[point] = sizes.argmin()
        sizes[part_of[point]] += frequency[point]
    part_of[0] = -1
    return [part_of == part for part in range(parts)]


def _weighted_chunks(
    sentences: TextColumns, weights: Weights | None, size: int
) -> Iterator[tuple[pa.StringArray, Weights]]:
    start = 0
    for chunk in chunks(sentences, size):
        yield chunk, np.ones(len(chunk), np.int64) if weights is None else weights[start : start + len(chunk)]
        start += len(chunk)


def _sum(tables: Sequence[pa.Table], key: str = "text") -> pa.Table:
    """Return the sum of tables of counts by their first column, `key`, in any order."""
    groups = pa.concat_tables(tables).group_by(key, use_threads=False)
    return groups.aggregate([("count", "sum"), ("sentences", "sum")]).rename_columns([key, "count", "sentences"])


def _count_pairs(words: Ragged) -> pa.Table:
    """Return the pairs of adjacent words of some sentences, unsorted, in schema `_PAIR_COUNTS`; id 0 is no word."""
    ids, sentence = words.ids.astype(np.int64), np.repeat(np.arange(len(words)), words.lengths)
    both = (ids[:-1] > 0) & (ids[1:] > 0) & (sentence[:-1] == sentence[1:])
    table = pa.table({"pair": (ids[:-1] << _WORD_BITS | ids[1:])[both], "sentence": sentence[:-1][both]})
    by_sentence = table.group_by(["pair", "sentence"], use_threads=False).aggregate([([], "count_all")])
    counts = by_sentence.group_by("pair", use_threads=False).aggregate([("count_all", "sum"), ("sentence", "count")])
    return counts.rename_columns(_PAIR_COUNTS.names)


def _count_words(chunk: tuple[pa.StringArray, Weights]) -> tuple[pa.Table, int]:
    """Return the words of a chunk, and the number of its sentences."""
    sentences, weights = chunk
    words, offsets = split_words(sentences)
    encoded = words.dictionary_encode()
    counter = OccurrenceCounter()
    counter.add(encoded.indices.to_numpy() + np.int32(1), offsets, weights, len(encoded.dictionary))
    _, columns = counter.at_least(1)
    return pa.table({"text": encoded.dictionary, **columns}).cast(WORD_COUNTS), len(sentences)


@njit(nogil=True)
def _count(
    numbers: NDArray[np.int32],
    offsets: NDArray[np.int64],
    weights: NDArray[np.int64],
    sentence: int,
    rows: NDArray[np.int64],
) -> None:
    for s in range(len(offsets) - 1):
        sentence += 1
        for i in range(offsets[s], offsets[s + 1]):
            number = numbers[i]
            rows[number, 0] += weights[s]
            if rows[number, 2] != sentence:
                rows[number, 1] += 1
                rows[number, 2] = sentence
