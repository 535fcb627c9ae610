"""Training pair models by likelihood (ldc2016 §3.5), on pairs with labels or on paraphrases with mismatched ones."""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits, normalize

from paraphrastic.encoding.bag_sum import bag_sum
from paraphrastic.encoding.batch import Batch, carried
from paraphrastic.encoding.encoder import TrainingConfig
from paraphrastic.text.bags import Bags
from paraphrastic.training.loop import Pairs, Step
from paraphrastic.training.losses import choose


@dataclass(frozen=True)
class LabelledPairs:
    """Pairs that match or do not, as columns; see `Examples`.

    Attributes:
        labels: (n,) 1 where they match, else 0.
    """

    bags: Bags
    left: NDArray[np.integer]
    right: NDArray[np.integer]
    labels: NDArray[np.number]

    @property
    def sources(self) -> NDArray[np.int64]:
        """One for all, (n,)."""
        return np.zeros(len(self.labels), np.int64)

    def loss(self, step: Step) -> Tensor:
        """Mean negative log likelihood of the labels."""
        left, right = torch.arange(2 * len(step.rows), device=step.table.device).chunk(2)
        labels = carried(self.labels[step.rows], step.table.device).to(step.table.dtype)
        return binary_cross_entropy_with_logits(step.encoder(step.table, step.batch, left, right), labels)


class MatchedPairs(Pairs):
    """Paraphrases, which a pair model tells from mismatched pairs of the same mini-batch.

    Sentences drawn at random share hardly a word, so that counting common words would do to tell them from
    paraphrases. So each sentence meets the ones most similar to it, as in acl2017 §3.3: by the cosine of mean word
    vectors, which is word overlap weighted by idf where the vectors start at random times idf, and which moves on
    with what they learn. Each keeps its side of the pair.
    """

    def loss(self, step: Step) -> Tensor:
        """Mean negative log likelihood of matches and mismatches."""
        table, pairs = step.table, len(step.rows)
        matched = torch.arange(2 * pairs, device=table.device).view(2, pairs)
        banned = self.banned(step.rows, table.device)
        wrong = mismatched(table.detach(), step.batch, banned, step.config, step.generator)
        sides = torch.cat([matched, wrong], 1)
        labels = (torch.arange(sides.shape[1], device=table.device) < pairs).to(table)
        return binary_cross_entropy_with_logits(step.encoder(table, step.batch, *sides), labels)


def mismatched(
    table: Tensor, batch: Batch, banned: Tensor, config: TrainingConfig, generator: np.random.Generator
) -> Tensor:
    """Wrong partners for each of the 2B sentences of a batch, `config.mismatches` for each as far as there are so many.

    Args:
        table: (U, dim) vectors of the units of `batch`.
        batch: B first sentences, then B second ones.
        banned: (2B, 2B) bool, which are no wrong partners of which.
        config: `mismatches`, and in `negatives` how they are chosen.
        generator: source of the random choices.

    Returns:
        (2, pairs) int64, the sentences on the left and on the right.
    """
    unit = normalize(bag_sum(table, batch.ids, batch.offsets, batch.counts), dim=1)
    similarities, banned, found = unit @ unit.T, banned.clone(), []
    own = torch.arange(len(unit), device=table.device)
    for _ in range(min(config.mismatches, len(unit))):
        some = ~banned.all(1)
        partner = choose(similarities, banned, config.negatives, generator)
        pairs = torch.stack([own, partner])
        found.append(torch.where(own < len(unit) // 2, pairs, pairs.flip(0))[:, some])
        banned[own, partner] = True
    return torch.cat(found, 1)
