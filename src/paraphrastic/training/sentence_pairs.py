"""Training examples: pairs of sentences, mapped to ids."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import pyarrow as pa
import torch
from numpy.typing import NDArray
from torch import Tensor

from paraphrastic.base.errors import ParameterError
from paraphrastic.base.tables import StoredSentences, TrainingSentences
from paraphrastic.nn.batch import DeviceSentences, SentenceFile, UnreadSentences, to_device
from paraphrastic.text.columns import Ragged
from paraphrastic.training.batches import weighted_rows
from paraphrastic.training.losses import ALL, negative_mask
from paraphrastic.vocabulary.kinds import Vocabulary, WordVocabulary

# bytes of text above which ids are not kept: those of words take two thirds as much as the text, those of characters 4
# times, of n-grams about 18 times
WORDS_AT_ONCE = 1 << 30
READ_AT_ONCE = 1 << 26


@dataclass(frozen=True)
class Unread:
    """Sentences as text, with the vocabulary that finds their ids.

    Attributes:
        texts: tokenized, in a file.
        vocabulary: of the model.
    """

    texts: SentenceFile
    vocabulary: Vocabulary


@dataclass(frozen=True)
class SentencePairs:
    """n pairs of sentences as columns.

    Attributes:
        sentences: ids of all distinct sentences; of a large corpus, the sentences.
        left: (n,), row in `sentences` of the first sentence of each pair.
        right: (n,), row of the second.
        sources: (n,), number of the source of each pair.
    """

    sentences: Ragged | Unread
    left: NDArray[np.integer]
    right: NDArray[np.integer]
    sources: NDArray[np.integer]

    def on_device(self, device: torch.device) -> DeviceSentences | UnreadSentences:
        """Return the sentences, from which mini-batches on `device` are taken."""
        if isinstance(self.sentences, Unread):
            return UnreadSentences(self.sentences.texts, self.sentences.vocabulary, device)
        return DeviceSentences(self.sentences, device)

    def epoch(self, generator: np.random.Generator) -> NDArray[np.int64]:
        """Return the pairs that an epoch has, as row numbers."""
        return np.arange(len(self.left))

    def sides(self, rows: NDArray[np.int64]) -> NDArray[np.integer]:
        """Return the first sentences of the pairs `rows`, then the second ones, (2B,)."""
        return np.concatenate([self.left[rows], self.right[rows]])


@dataclass(frozen=True)
class Paraphrases(SentencePairs):
    """Pairs that are paraphrases.

    Attributes:
        groups: (n,), pairs from the same sentence or image have the same number.
        weights: (number of sources,), how often an epoch has each pair of a source; None for once.
    """

    groups: NDArray[np.integer]
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

        Args:
            pairs: table in schema `tables.PAIRS`.
            sentences: the distinct tokenized sentences that `pairs` numbers.
            vocabulary: of the model.
            weights: how often an epoch has each pair of a source, by its name; once if it is not named.

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
    """Pairs that match or do not.

    Attributes:
        labels: (n,), 1 for a match, 0 otherwise.
    """

    labels: NDArray[np.floating]

    @classmethod
    def of(
        cls, sentences: Ragged, left: NDArray[np.integer], right: NDArray[np.integer], labels: NDArray[np.floating]
    ) -> "LabelledPairs":
        """Return pairs of one source."""
        return cls(sentences, left, right, np.zeros(len(labels), np.int64), labels)
