"""Mismatched pairs for training a pair model on paraphrases.

Two random sentences share hardly a word, so that a model could tell them from paraphrases by counting common words.
With `negatives: max` each sentence is therefore paired with the most similar other sentences of the mini-batch, as in
acl2017 §3.2.1; with `random` or `mix`, all or half of its partners are random. Similarity is the cosine of summed word
embeddings. With random initial embeddings scaled by idf this is word overlap weighted by idf, and it improves as the
embeddings are trained.
"""

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import normalize

from paraphrastic.nn.batch import Batch
from paraphrastic.nn.kernels.row_sums import bag_sum
from paraphrastic.nn.options import PairModelConfig
from paraphrastic.training.losses import choose_negatives


def mismatched_pairs(
    embeddings: Tensor, batch: Batch, mask: Tensor, options: PairModelConfig, generator: np.random.Generator
) -> Tensor:
    """Pair each of the 2B sentences of a mini-batch with sentences that it does not match.

    Args:
        embeddings: (rows, dim), the embedding table of `batch`.
        batch: the first sentences of B pairs, then the second ones.
        mask: (2B, 2B) bool, true where two sentences must not be paired.
        options: how many partners each sentence gets, as far as there are so many, and how they are chosen.
        generator: source of random numbers.

    Returns:
        (2, pairs) int64, the left and the right sentence of each pair. Each of the 2B sentences keeps its side; its
        partner may come from either side, and a pair may occur twice.
    """
    unit = normalize(bag_sum(embeddings, batch.ids, batch.offsets, batch.counts), dim=1)  # (2B, dim)
    similarities, mask, mismatched = unit @ unit.T, mask.clone(), []
    own = torch.arange(len(unit), device=embeddings.device)
    for _ in range(min(options.negatives_per_sentence, len(unit))):
        has_partner = ~mask.all(1)
        partner = choose_negatives(similarities, mask, options.negatives, generator)
        pairs = torch.stack([own, partner])  # (2, 2B)
        mismatched.append(torch.where(own < len(unit) // 2, pairs, pairs.flip(0))[:, has_partner])
        mask[own, partner] = True
    return torch.cat(mismatched, 1)
