"""A trained model with its table and vocabulary: from tokenized text to scores, and to and from a folder."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Generic, Self, TypeVar

import numpy as np
import pyarrow as pa
import torch
from numpy.typing import NDArray
from pydantic import BaseModel
from torch import Tensor, nn

from paraphrastic.encoding.batch import Batch, Resident, carried
from paraphrastic.encoding.cosine import of_vectors
from paraphrastic.encoding.encoder import Composition, Encoder, PairEncoder
from paraphrastic.encoding.store import read_weights, write_weights
from paraphrastic.errors import ModelError
from paraphrastic.text.bags import Bags

_SENTENCES = 512  # per batch when encoding: large enough for the products, small enough for the caches
_UNITS = 1 << 16  # per batch, whose states are all in memory
_PAIRS, _PAIR_UNITS = 128, 1 << 13  # per batch of a pair model, which holds thousands of numbers for each unit

Part = TypeVar("Part", bound=Composition)


class TrainedModel(Generic[Part]):
    """What was learned, and the vocabulary that reads text for it.

    Attributes:
        encoder: the compositional part.
        table: (rows, dim), a vector for each unit.
        units: the vocabulary, text to rows of the table.
        texts: the units' texts in row order.
    """

    def __init__(self, encoder: Part, table: Tensor, texts: pa.StringArray) -> None:
        self.encoder, self.table, self.texts = encoder, table, texts
        self.units = encoder.reader(texts)

    def to(self, device: torch.device) -> Self:
        """The same model, moved."""
        self.encoder.to(device)
        self.table = self.table.to(device)
        return self

    def unknown(self, sentences: pa.StringArray) -> NDArray[np.float64]:
        """Share of each sentence's words or n-grams that are not in the vocabulary, (n,)."""
        return self.units.unknown(sentences)

    def save(self, folder: Path) -> dict[str, Any]:
        """Write vocabulary and weights; what is returned goes to `config.json`."""
        weights = {"table": self.table} | self.encoder.state_dict()
        return write_weights(folder, self.texts, {name: w.detach().cpu().numpy() for name, w in weights.items()})

    @classmethod
    def load(cls, folder: Path, encoder: type[Part], config: BaseModel) -> Self:
        """The model that `save` wrote to `folder`.

        Raises:
            ModelError: weights and vocabulary are damaged, or not those of this model.
        """
        texts, arrays = read_weights(folder)
        weights = {name: torch.from_numpy(array) for name, array in arrays.items()}
        built = encoder(config, torch.Generator())
        try:
            table = weights.pop("table")
            built.load_state_dict(weights)
        except (KeyError, RuntimeError) as error:
            raise ModelError(f"{folder}/weights.safetensors: not the weights of this model; train it again") from error
        return cls(built, table, texts)


class Trained(TrainedModel[Encoder]):
    """A sentence encoder as a scorer: cosine of sentence vectors."""

    def encode(self, sentences: pa.StringArray) -> NDArray[np.float32]:
        """Vectors of tokenized sentences, (n, out_dim); zero for a sentence without a known unit."""
        return self.encode_bags(self.units.bags(sentences))

    def encode_bags(self, bags: Bags) -> NDArray[np.float32]:
        """Vectors of sentences whose units are already looked up, (n, out_dim)."""
        return encoded(self.encoder, self.table, bags)

    def score(
        self, sentences: pa.StringArray, left: NDArray[np.integer], right: NDArray[np.integer]
    ) -> NDArray[np.float32]:
        """Cosine of each pair, 0 where a vector is zero."""
        return of_vectors(self.encode(sentences), left, right)


class TrainedPairs(TrainedModel[PairEncoder]):
    """A pair model as a scorer: the probability that two sentences match."""

    def score(
        self, sentences: pa.StringArray, left: NDArray[np.integer], right: NDArray[np.integer]
    ) -> NDArray[np.float32]:
        """Probability that each pair matches, (pairs,)."""
        return self.score_bags(self.units.bags(sentences), left, right)

    @torch.no_grad()
    def score_bags(self, bags: Bags, left: NDArray[np.integer], right: NDArray[np.integer]) -> NDArray[np.float32]:
        """Probability that each pair of sentences matches whose units are already looked up, (pairs,)."""
        self.encoder.eval()
        out, resident = np.empty(len(left), np.float32), Resident(bags, self.table.device, self.table.dtype)
        longer = np.maximum(bags.lengths[left], bags.lengths[right])
        for rows in by_length(longer, _PAIRS, _PAIR_UNITS):
            batch, *sides = _beside(resident, left[rows], right[rows])
            out[rows] = self.encoder(self.table, batch, *sides).sigmoid().cpu().numpy()
        return out


def _beside(resident: Resident, left: NDArray[np.integer], right: NDArray[np.integer]) -> tuple[Batch, Tensor, Tensor]:
    """A batch of the distinct sentences of pairs, and both sides of each pair in it, (pairs,) each."""
    sentences, places = np.unique(np.stack([left, right]), return_inverse=True)
    batch = resident.take(sentences)
    return batch, *carried(places.reshape(2, -1), batch.ids.device)


@torch.no_grad()
def encoded(encoder: nn.Module, table: Tensor, bags: Bags) -> NDArray[np.float32]:
    """What `encoder` makes of sentences whose units are rows of `table`, (n, `encoder.out_dim`)."""
    encoder.eval()
    out, resident = np.empty((len(bags), encoder.out_dim), np.float32), Resident(bags, table.device, table.dtype)
    for rows in by_length(bags.lengths):
        out[rows] = encoder(table, resident.take(rows)).cpu().numpy()
    return out


def as_scorer(encoder: type[Composition]) -> type[TrainedModel[Any]]:
    """What makes a scorer of a model of this class."""
    return TrainedPairs if issubclass(encoder, PairEncoder) else Trained


def by_length(
    lengths: NDArray[np.integer], most: int = _SENTENCES, units: int = _UNITS
) -> Iterator[NDArray[np.integer]]:
    """Batches of like sentences, as rows: a batch takes as many steps as its longest sentence.

    Args:
        lengths: (n,) units of each.
        most: in a batch.
        units: in a batch whose sentences are all as long as the longest one, unless a single one has more.
    """
    rows = np.argsort(lengths, kind="stable")
    while len(rows):
        longest = lengths[rows[:most][-1]]
        size = max(1, min(most, units // max(longest, 1)))
        yield rows[:size]
        rows = rows[size:]
