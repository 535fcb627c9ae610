"""Shuffle the words of sentences in training (acl2017 §4.2)."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from paraphrastic.nn.batch import Batch, to_device
from paraphrastic.nn.options import ArchitectureConfig, RecurrentConfig
from paraphrastic.vocabulary.kinds import boundary_widths


@dataclass(frozen=True)
class Scrambling:
    """Shuffles the words of all sentences of a row with some probability.

    A row is a pair of sentences or a single sentence.

    Attributes:
        probability: of a row to be shuffled.
        boundary_widths: how many words at the start and at the end of each sentence keep their position.
    """

    probability: float = 0.0
    boundary_widths: tuple[int, int] = (0, 0)

    @classmethod
    def of(cls, config: ArchitectureConfig) -> Self:
        """Return the scrambling that the options of a model ask for; none if the model has no option `scramble`."""
        if not isinstance(config, RecurrentConfig):
            return cls()
        return cls(config.scramble, boundary_widths(config.boundary_tokens))

    def apply(self, batch: Batch, rows: int, generator: np.random.Generator) -> Batch:
        """Return the sentences of a mini-batch with the words of the chosen rows shuffled.

        Args:
            batch: the sentences of the rows: the first sentences, then the second ones if rows are pairs.
            rows: number of rows.
            generator: source of random numbers; none are drawn if the probability is 0.
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
    """Return an order of words that shuffles the chosen sentences (acl2017 §4.2).

    Args:
        offsets: (n + 1,), where each of n sentences starts in N words.
        scramble: (n,), which sentences to shuffle.
        boundary_widths: how many words at the start and at the end of each sentence keep their position.
        generator: source of random numbers.

    Returns:
        (N,), which word moves to each position; it belongs to the same sentence.
    """
    lengths = np.diff(offsets)
    sentence = np.repeat(np.arange(len(lengths)), lengths)
    position = np.arange(len(sentence)) - offsets[sentence]
    start, end = boundary_widths
    inside = (position >= start) & (position < lengths[sentence] - end)
    # keys of shuffled words are at least `start` and below `start + 1`, the lowest position at the end
    key = np.where(scramble[sentence] & inside, start + generator.random(len(position)), position)
    return np.lexsort((key, sentence))
