"""The margin loss and its negatives: acl2017 Eq. 2 and §3.3 (iclr2016 §3, charagram2016 Appendix A)."""

from typing import Literal

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import normalize

from paraphrastic.encoding.batch import carried

Negatives = Literal["max", "mix", "random"]


def forbidden(ids: Tensor, groups: Tensor) -> Tensor:
    """Which sentences of a mini-batch must not be negatives of which.

    Of one sentence these are: itself, its copies, all of its own group, and whatever is paired in this batch
    with one of its copies.

    Args:
        ids: (2B,) int64, the sentences: B left sides, then the B right sides in the same order.
        groups: (B,) int64, the pairs' groups.

    Returns:
        (2B, 2B) bool.
    """
    same = ids.unsqueeze(0) == ids.unsqueeze(1)
    group = groups.repeat(2)
    partner_same = same.roll(len(groups), dims=1)  # column l holds whether l's partner is a copy
    return same | partner_same | (group.unsqueeze(0) == group.unsqueeze(1))


def choose(similarities: Tensor, banned: Tensor, how: Negatives, generator: np.random.Generator) -> Tensor:
    """The negative of each sentence, (2B,) int64: the most similar one allowed (MAX), a random one, or either (MIX).

    Args:
        similarities: (2B, 2B) cosines; no gradient flows through the choice.
        banned: (2B, 2B) bool; a row that is wholly banned yields a banned index, see `margin_loss`.
        how: which kind.
        generator: source of the random choices, on the CPU whatever the device.
    """
    hardest = similarities.detach().masked_fill(banned, -torch.inf).argmax(1)
    if how == "max":
        return hardest
    draws = carried(generator.random(similarities.shape, np.float32), banned.device)
    drawn = draws.masked_fill(banned, -1.0).argmax(1)
    if how == "random":
        return drawn
    heads = carried(generator.random(len(similarities)) < 0.5, banned.device)
    return torch.where(heads, hardest, drawn)


def margin_loss(
    vectors: Tensor, banned: Tensor, margin: float, how: Negatives, generator: np.random.Generator
) -> Tensor:
    """Mean over the B pairs of the two hinges of Eq. 2, all from one product of the 2B sentence vectors.

    `max(0, δ − cos(s1, s2) + cos(s1, t1)) + max(0, δ − cos(s1, s2) + cos(s2, t2))`; a hinge whose sentence has
    no allowed negative is left out.

    Args:
        vectors: (2B, dim), the left sides, then the right sides.
        banned: (2B, 2B) bool from `forbidden`.
        margin: δ.
        how: which negatives.
        generator: source of the random choices.
    """
    unit = normalize(vectors, dim=1)
    similarities = unit @ unit.T  # (2B, 2B)
    pairs = len(vectors) // 2
    negatives = choose(similarities, banned, how, generator)
    against = similarities.gather(1, negatives.unsqueeze(1)).squeeze(1)  # (2B,)
    between = similarities.diagonal(pairs).repeat(2)  # cos(s1, s2), (2B,)
    hinges = (margin - between + against).clamp(min=0)
    return hinges.masked_fill(banned.all(1), 0.0).sum() / pairs
