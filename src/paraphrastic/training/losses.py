"""The losses on a mini-batch of paraphrases.

The margin loss and its negative examples are those of the papers: acl2017 §3.2, Eq. 2 (iclr2016 §3.1, charagram2016
Appendix A). InfoNCE is not in the papers.
"""

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy, normalize

from paraphrastic.nn.batch import to_device
from paraphrastic.nn.options import Negatives


def margin_loss(
    vectors: Tensor, mask: Tensor, margin: float, negatives: Negatives, generator: np.random.Generator
) -> Tensor:
    """Return the mean of Eq. 2 over B pairs, without its penalty terms.

    `max(0, δ − cos(s1, s2) + cos(s1, t1)) + max(0, δ − cos(s1, s2) + cos(s2, t2))`, with t1 and t2 negatives from the
    same mini-batch. A hinge is left out if its sentence has no allowed negative.

    Args:
        vectors: (2B, dim), the first sentences of the pairs, then the second ones.
        mask: (2B, 2B) bool from `negative_mask`.
        margin: δ.
        negatives: how t1 and t2 are chosen.
        generator: source of random numbers.
    """
    positive, negative = positive_and_negative_cosines(vectors, mask, negatives, generator)
    hinges = (margin - positive + negative).clamp(min=0)  # (2B,)
    return hinges.masked_fill(mask.all(1), 0.0).sum() / (len(vectors) // 2)


def infonce_loss(vectors: Tensor, mask: Tensor, temperature: float) -> Tensor:
    """Return the mean over 2B sentences of InfoNCE (van den Oord et al. 2018, Eq. 4) with cosines over τ as scores.

    `−log( exp(cos(s, p) / τ) / Σ_t exp(cos(s, t) / τ) )`, p being the paraphrase of s, and t each sentence of the
    mini-batch that is allowed as a negative of s, and p itself.

    Args:
        vectors: (2B, dim), the first sentences of the pairs, then the second ones.
        mask: (2B, 2B) bool from `negative_mask`.
        temperature: τ.
    """
    unit = normalize(vectors, dim=1)
    paraphrases = torch.arange(len(vectors), device=vectors.device).roll(len(vectors) // 2)  # (2B,)
    left_out = mask.scatter(1, paraphrases.unsqueeze(1), False)
    scores = (unit @ unit.T / temperature).masked_fill(left_out, -torch.inf)  # (2B, 2B)
    return cross_entropy(scores, paraphrases)


def positive_and_negative_cosines(
    vectors: Tensor, mask: Tensor, negatives: Negatives, generator: np.random.Generator
) -> tuple[Tensor, Tensor]:
    """Return the cosine of each sentence with its paraphrase and with its negative, (2B,) each.

    One matrix product yields all cosines, those for the choice of negatives and those of the result. Where a row of
    `mask` allows no negative, the second cosine is arbitrary. Arguments are those of `margin_loss`.
    """
    unit = normalize(vectors, dim=1)
    similarities = unit @ unit.T  # (2B, 2B)
    chosen = choose_negatives(similarities, mask, negatives, generator)
    negative = similarities.gather(1, chosen.unsqueeze(1)).squeeze(1)  # (2B,), cos(s1, t1) and cos(s2, t2)
    return similarities.diagonal(len(vectors) // 2).repeat(2), negative


def negative_mask(ids: Tensor, groups: Tensor) -> Tensor:
    """Return which sentences of a mini-batch must not be negatives of which.

    Not allowed for a sentence are: the sentence itself, its copies, all sentences of its group, and every sentence
    that is paired in this mini-batch with one of its copies.

    Args:
        ids: (2B,) int64, the first sentences of B pairs, then the second ones.
        groups: (B,) int64, the groups of the pairs.

    Returns:
        (2B, 2B) bool, true where not allowed.
    """
    same = ids.unsqueeze(0) == ids.unsqueeze(1)
    partner_is_copy = same.roll(len(groups), dims=1)  # column l says whether the partner of l is a copy
    group = groups.repeat(2)
    return same | partner_is_copy | (group.unsqueeze(0) == group.unsqueeze(1))


def choose_negatives(
    similarities: Tensor, mask: Tensor, negatives: Negatives, generator: np.random.Generator
) -> Tensor:
    """Return a negative for each sentence, (2B,) int64: acl2017 §3.2.1 (`max`), iclr2016 §3.1.1 (`max`, `mix`).

    Args:
        similarities: (2B, 2B) cosines; the choice has no gradient.
        mask: (2B, 2B) bool, sentences that are not allowed. If a row allows none, its result is arbitrary, and the
            caller masks it.
        negatives: `max`, the most similar sentence; `random`; or `mix`: one of these two, chosen with probability one
            half.
        generator: source of random numbers; they are drawn on the CPU, so that every device draws the same.
    """
    hardest = similarities.detach().masked_fill(mask, -torch.inf).argmax(1)
    if negatives == "max":
        return hardest
    draws = to_device(generator.random(similarities.shape, np.float32), mask.device)
    random = draws.masked_fill(mask, -1.0).argmax(1)
    if negatives == "random":
        return random
    take_hardest = to_device(generator.random(len(similarities)) < 0.5, mask.device)
    return torch.where(take_hardest, hardest, random)
