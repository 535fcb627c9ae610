"""Count the words and character n-grams of a corpus.

Its sentences are distinct. Each counts once, or, with weights, as often as training pairs contain it, which are the
occurrences in the training data that charagram2016 counts (§4.1.2, §4.4).
"""

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numba import njit
from numpy.typing import NDArray

from paraphrastic.tables import NGRAM_COUNTS, WORD_COUNTS
from paraphrastic.text.columns import Texts, chunks, offsets_from_lengths, split_words
from paraphrastic.vocabulary.ngrams import CHUNK, NgramNumbering, code_points
from paraphrastic.vocabulary.words import CHUNK as WORDS_CHUNK

OnProgress = Callable[[int], object]  # called with the number of sentences counted since the last call
Weights = NDArray[np.int64]


def count_words(
    sentences: Texts,
    min_count: int = 1,
    on_progress: OnProgress = lambda _: None,
    weights: Weights | None = None,
) -> pa.Table:
    """Return the words that occur at least `min_count` times, most frequent first, then by text.

    Args:
        sentences: n tokenized sentences.
        min_count: occurrences that a word needs.
        on_progress: called after each chunk.
        weights: (n,), how often each sentence counts in the column `count`; None stands for once.

    Returns:
        Table in schema `WORD_COUNTS`.
    """
    total = WORD_COUNTS.empty_table()
    for chunk, chunk_weights in _weighted_chunks(sentences, weights, WORDS_CHUNK):
        both = pa.concat_tables([total, _count_words(chunk, chunk_weights)]).group_by("text", use_threads=False)
        total = both.aggregate([("count", "sum"), ("sentences", "sum")]).rename_columns(WORD_COUNTS.names)
        on_progress(len(chunk))
    total = total.filter(pc.field("count") >= min_count)
    return total.sort_by([("count", "descending"), ("text", "ascending")]).cast(WORD_COUNTS)


def count_ngrams(
    sentences: Texts,
    orders: Sequence[int],
    min_count: int = 1,
    max_per_order: int | None = None,
    on_progress: OnProgress = lambda _: None,
    padding: str = " ",
    weights: Weights | None = None,
) -> pa.Table:
    """Return the character n-grams of the given orders, most frequent first, then by order, then by text.

    Args:
        sentences: n tokenized sentences. An n-gram never spans two of them.
        orders: lengths in characters.
        min_count: occurrences that an n-gram needs.
        max_per_order: how many of the most frequent n-grams of each order are kept; None keeps all.
        on_progress: called after each chunk.
        padding: text that is added at both ends of each sentence.
        weights: (n,), how often each sentence counts in the column `count`; None stands for once.

    Returns:
        Table in schema `NGRAM_COUNTS`.
    """
    levels = [NgramNumbering() for _ in range(max(orders))]
    counters = {n: OccurrenceCounter() for n in sorted(orders)}
    for chunk, chunk_weights in _weighted_chunks(sentences, weights, CHUNK):
        points, offsets = code_points(chunk, padding)  # (characters,), (sentences + 1,)
        numbers = np.ones(len(points), np.int32)
        for n, level in enumerate(levels, 1):
            level.add(numbers, points[n - 1 :])
            if n in counters:
                counters[n].add(numbers, offsets, chunk_weights, level.size)
        on_progress(len(chunk))
    table = pa.concat_tables(_ngram_table(levels[:n], counter, min_count) for n, counter in counters.items())
    rows = pc.sort_indices(table, [("count", "descending"), ("order", "ascending"), ("text", "ascending")]).to_numpy()
    order = table["order"].to_numpy()[rows]
    kept = [np.flatnonzero(order == n)[:max_per_order] for n in counters]
    return table.take(rows[np.sort(np.concatenate(kept))])


class OccurrenceCounter:
    """Counts occurrences of numbered words or n-grams, and the sentences that contain them.

    Numbers start at 1; 0 means none and is not counted.
    """

    def __init__(self) -> None:
        self._rows = np.zeros((1, 3), np.int64)  # occurrences, sentences, last sentence (from 1) that contains it
        self._sentences = 0

    def add(self, numbers: NDArray[np.int32], offsets: NDArray[np.int64], weights: Weights, size: int) -> None:
        """Count further sentences.

        Args:
            numbers: sentence i has `numbers[offsets[i]:offsets[i + 1]]`, all at most `size`.
            offsets: (sentences + 1,).
            weights: (sentences,), occurrences that an occurrence in the sentence counts as.
            size: largest number so far.
        """
        if size >= len(self._rows):
            self._rows = np.concatenate([self._rows, np.zeros((size, 3), np.int64)])
        _count(numbers, offsets, weights, self._sentences, self._rows)
        self._sentences += len(offsets) - 1

    def at_least(self, min_count: int) -> tuple[NDArray[np.int64], dict[str, NDArray[np.int64]]]:
        """Return the numbers that occur at least `min_count` times, and their columns `count` and `sentences`."""
        numbers = 1 + np.flatnonzero(self._rows[1:, 0] >= max(min_count, 1))
        return numbers, {"count": self._rows[numbers, 0], "sentences": self._rows[numbers, 1]}


def _weighted_chunks(sentences: Texts, weights: Weights | None, size: int) -> Iterator[tuple[pa.StringArray, Weights]]:
    start = 0
    for chunk in chunks(sentences, size):
        yield chunk, np.ones(len(chunk), np.int64) if weights is None else weights[start : start + len(chunk)]
        start += len(chunk)


def _count_words(sentences: pa.StringArray, weights: Weights) -> pa.Table:
    words, offsets = split_words(sentences)
    encoded = words.dictionary_encode()
    counter = OccurrenceCounter()
    counter.add(encoded.indices.to_numpy() + np.int32(1), offsets, weights, len(encoded.dictionary))
    _, columns = counter.at_least(1)
    return pa.table({"text": encoded.dictionary, **columns}).cast(WORD_COUNTS)


def _ngram_table(levels: list[NgramNumbering], counter: OccurrenceCounter, min_count: int) -> pa.Table:
    """Return the n-grams of the highest of `levels`, unsorted; their texts are read off the chain of prefixes."""
    numbers, columns = counter.at_least(min_count)
    points = np.empty((len(numbers), len(levels)), "<u4")  # (n-grams, n)
    for n in reversed(range(len(levels))):
        numbers, points[:, n] = levels[n].split(numbers)
    order = np.full(len(points), len(levels))
    return pa.table({"text": _strings(points), "order": order, **columns}).cast(NGRAM_COUNTS)


def _strings(points: NDArray[np.uint32]) -> pa.LargeStringArray:
    """Return texts of equal length from their code points, (texts, length)."""
    data = points.tobytes().decode("utf-32-le").encode()
    widths = sum((points >= first).astype(np.int64) for first in (0, 0x80, 0x800, 0x10000))  # bytes in UTF-8
    offsets = offsets_from_lengths(np.asarray(widths).sum(axis=1))
    return pa.LargeStringArray.from_buffers(len(points), pa.py_buffer(offsets), pa.py_buffer(data))


@njit(cache=True)
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
