"""Training examples, pairs of sentences mapped to ids, and how they are divided into mini-batches and scrambled."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, NamedTuple, Self

import numpy as np
import pyarrow as pa
import torch
from numpy.typing import NDArray
from torch import Tensor

from paraphrastic.base.errors import ParameterError
from paraphrastic.base.tables import StoredSentences, TrainingSentences
from paraphrastic.nn.batch import Batch, DeviceSentences, SentenceFile, to_device
from paraphrastic.nn.negatives import ALL, negative_mask
from paraphrastic.nn.options import ArchitectureConfig, RecurrentConfig
from paraphrastic.text.columns import Ragged
from paraphrastic.vocabulary.kinds import Vocabulary, WordVocabulary, boundary_widths

_BLOCK = 1 << 16  # adjacent pairs
_TOGETHER = 16  # blocks whose pairs are shuffled together
# bytes of text above which ids are not kept: those of words take two thirds as much as the text, those of characters 4
# times, of n-grams about 18 times
WORDS_AT_ONCE = 1 << 30
READ_AT_ONCE = 1 << 26


def epoch_batches(
    sources: NDArray[np.integer],
    size: int,
    sampling: Literal["mixed", "source", "blocks"],
    generator: np.random.Generator,
    in_order: bool = False,
) -> list[NDArray[np.int64]]:
    """Divide all pairs into mini-batches in random order; return the row numbers of each.

    Args:
        sources: (pairs,), the source of each pair.
        size: pairs per mini-batch; the last one (of each source) may be smaller.
        sampling: `source` draws each mini-batch from one source and shuffles the mini-batches of all sources;
            `mixed` ignores sources; `blocks` too, and takes adjacent mini-batches from a part of the corpus, so that
            only that part of a file of sentences is read at a time.
        generator: source of random numbers.
        in_order: keep the order of the pairs, source after source (charagram2016 §4.1.4).
    """
    shuffle = _shuffled_blocks if sampling == "blocks" else np.random.Generator.permutation
    order = np.arange(len(sources)) if in_order else shuffle(generator, len(sources))
    if sampling != "source":
        return _split(order, size)
    by_source = order[np.argsort(sources[order], kind="stable")]
    boundaries = np.flatnonzero(np.diff(sources[by_source])) + 1
    batches = [batch for part in np.split(by_source, boundaries) for batch in _split(part, size)]
    return batches if in_order else [batches[i] for i in generator.permutation(len(batches))]


def weighted_rows(
    sources: NDArray[np.integer], weights: NDArray[np.float64], generator: np.random.Generator
) -> NDArray[np.int64]:
    """Return row numbers of pairs, of which those of source s occur `weights[s]` times, from sources (pairs,).

    A weight of 2.3 takes every pair twice, and 0.3 of them, drawn at random, once more. All rows that occur come first,
    in ascending order, then those that occur again, and so on.
    """
    passes = [np.zeros(0, np.int64)]
    for number in range(math.ceil(max(weights, default=0))):
        shares = (weights - number).clip(0, 1)
        parts = []
        for source, share in enumerate(shares):
            rows = np.flatnonzero(sources == source)
            parts.append(rows if share == 1 else generator.permutation(rows)[: round(share * len(rows))])
        passes.append(np.sort(np.concatenate(parts)))
    return np.concatenate(passes)


def shuffled_batches(count: int, size: int, generator: np.random.Generator) -> list[NDArray[np.int64]]:
    """Divide `count` row numbers into mini-batches of `size` in random order; the last one may be smaller."""
    return _split(generator.permutation(count), size)


def _shuffled_blocks(generator: np.random.Generator, count: int) -> NDArray[np.int64]:
    """Return `count` row numbers in random order: blocks are shuffled, then the rows of every few blocks."""
    rows, shuffled = np.arange(count), np.empty(count, np.int64)
    starts = _BLOCK * generator.permutation(-(-count // _BLOCK))
    end = 0
    for few in _split(starts, _TOGETHER):
        part = np.concatenate([rows[start : start + _BLOCK] for start in few])
        shuffled[end : end + len(part)] = generator.permutation(part)
        end += len(part)
    return shuffled


def _split(rows: NDArray[np.int64], size: int) -> list[NDArray[np.int64]]:
    return [rows[start : start + size] for start in range(0, len(rows), size)]


@dataclass(frozen=True)
class Scrambling:
    """Shuffles the words of all sentences of a row, a pair of sentences or a single one, with some probability."""

    probability: float = 0.0
    boundary_widths: tuple[int, int] = (0, 0)  # words at the start and at the end that keep their position

    @classmethod
    def of(cls, config: ArchitectureConfig) -> Self:
        """Return the scrambling that the options of a model ask for; none if the model has no option `scramble`."""
        if not isinstance(config, RecurrentConfig):
            return cls()
        return cls(config.scramble, boundary_widths(config.boundary_tokens))

    def apply(self, batch: Batch, rows: int, generator: np.random.Generator) -> Batch:
        """Return the sentences of `rows` rows, first sentences first, with the words of the chosen rows shuffled.

        No random numbers are drawn if the probability is 0.
        """
        if not self.probability:
            return batch
        sentences_per_row = (len(batch.host_offsets) - 1) // rows
        chosen = np.tile(generator.random(rows) < self.probability, sentences_per_row)
        order = scrambled_order(batch.host_offsets, chosen, self.boundary_widths, generator)
        return batch.with_ids(batch.ids.index_select(0, to_device(order, batch.ids.device)))


def scrambled_order(
    offsets: NDArray[np.int64],
    scramble: NDArray[np.bool_],
    boundary_widths: tuple[int, int],
    generator: np.random.Generator,
) -> NDArray[np.int64]:
    """Return which of N words moves to each position, (N,), so that the chosen sentences are shuffled (acl2017 §4.2).

    Args:
        offsets: (n + 1,), where each of n sentences starts in the words.
        scramble: (n,), which sentences to shuffle.
        boundary_widths: those of `Scrambling`.
        generator: source of random numbers.
    """
    lengths = np.diff(offsets)
    sentence = np.repeat(np.arange(len(lengths)), lengths)
    position = np.arange(len(sentence)) - offsets[sentence]
    start, end = boundary_widths
    inside = (position >= start) & (position < lengths[sentence] - end)
    # keys of shuffled words are at least `start` and below `start + 1`, the lowest position at the end
    key = np.where(scramble[sentence] & inside, start + generator.random(len(position)), position)
    return np.lexsort((key, sentence))


class Unread(NamedTuple):
    """Sentences as text, whose ids a vocabulary finds for each mini-batch: those of a large corpus need much memory."""

    texts: SentenceFile
    vocabulary: Vocabulary


@dataclass(frozen=True)
class SentencePairs:
    """n pairs of sentences as columns."""

    sentences: Ragged | Unread  # ids of all distinct sentences; of a large corpus, the sentences
    left: NDArray[np.integer]  # (n,), row in `sentences` of the first sentence of each pair
    right: NDArray[np.integer]  # (n,), row of the second
    sources: NDArray[np.integer]  # (n,), number of the source of each pair

    def on_device(self, device: torch.device) -> Callable[[NDArray[np.integer]], Batch]:
        """Return a function that takes rows of the sentences as a mini-batch on `device`."""
        if isinstance(self.sentences, Unread):
            texts, vocabulary = self.sentences
            return lambda rows: Batch.of(vocabulary.lookup(texts.take(rows)), device)
        return DeviceSentences(self.sentences, device).take

    def epoch(self, generator: np.random.Generator) -> NDArray[np.int64]:
        """Return the pairs that an epoch has, as row numbers."""
        return np.arange(len(self.left))

    def sides(self, rows: NDArray[np.int64]) -> NDArray[np.integer]:
        """Return the first sentences of the pairs `rows`, then the second ones, (2B,)."""
        return np.concatenate([self.left[rows], self.right[rows]])


@dataclass(frozen=True)
class Paraphrases(SentencePairs):
    """Pairs that are paraphrases."""

    groups: NDArray[np.integer]  # (n,), pairs from the same sentence or image have the same number
    # (sources,), how often an epoch has each pair of a source; None for once
    weights: NDArray[np.float64] | None = None

    @classmethod
    def of(
        cls,
        pairs: pa.Table,
        sentences: TrainingSentences,
        vocabulary: Vocabulary,
        weights: Mapping[str, float] = MappingProxyType({}),
    ) -> "Paraphrases":
        """Map a corpus to ids, or leave that to each mini-batch if the ids would take much memory.

        `weights` is how often an epoch has each pair of a source, by its name; once if it is not named.

        Raises:
            ParameterError: no pair is left.
        """
        encoded = pairs["source"].cast(pa.dictionary(pa.int32(), pa.string())).combine_chunks()
        sources = encoded.indices.to_numpy()
        left, right, groups = (pairs[name].to_numpy() for name in ("left", "right", "group"))
        is_large = sentences.nbytes > (WORDS_AT_ONCE if isinstance(vocabulary, WordVocabulary) else READ_AT_ONCE)
        folder = sentences.path.parent if isinstance(sentences, StoredSentences) else None
        read = Unread(SentenceFile(sentences, folder), vocabulary) if is_large else vocabulary.lookup(sentences)
        return cls(read, left, right, sources, groups, _weights(encoded, weights))

    def epoch(self, generator: np.random.Generator) -> NDArray[np.int64]:
        """Return the pairs that an epoch has, as row numbers; with weights a pair can occur several times."""
        if self.weights is None:
            return super().epoch(generator)
        return weighted_rows(self.sources, self.weights, generator)

    def negative_mask(self, rows: NDArray[np.int64], device: torch.device, own: slice = ALL) -> Tensor:
        """Return which of the 2B sentences of the pairs `rows` must not be negatives of those of `own`, (n, 2B)."""
        left, right, groups = to_device(np.stack([self.left[rows], self.right[rows], self.groups[rows]]), device)
        return negative_mask(torch.cat([left, right]), groups, own)


def _weights(sources: pa.DictionaryArray, weights: Mapping[str, float]) -> NDArray[np.float64] | None:
    """Return the weight of each source of the pairs; None if all are 1."""
    values = np.array([weights.get(name, 1.0) for name in sources.dictionary.to_pylist()])
    if (values == 1).all():
        return None
    if not len(weighted_rows(sources.indices.to_numpy(), values, np.random.default_rng(0))):
        raise ParameterError("params.yaml: train.source_weights: no pair is left; give a source a larger weight")
    return values


@dataclass(frozen=True)
class LabelledPairs(SentencePairs):
    """Pairs that match or do not."""

    labels: NDArray[np.floating]  # (n,), 1 for a match, 0 otherwise
