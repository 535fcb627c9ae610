"""Negative examples in a mini-batch of paraphrases: which sentences may be negatives of which, and the choice of them.

They are those of acl2017 §3.2 (iclr2016 §3.1, charagram2016 Appendix A). `own`, a slice of the 2B sentences of B pairs,
names those that get a negative; several processes divide a mini-batch by it. A negative can be any sentence of the
mini-batch.

A pair model is trained on paraphrases and on mismatched pairs. Two random sentences share hardly a word: a model
could tell them from paraphrases by counting common words. With `negatives: max` each sentence is therefore paired with
the most similar other sentences of the mini-batch, as in acl2017 §3.2.1; with `random` or `mix`, all or half of its
partners are random. Similarity is the cosine of summed word embeddings. With random initial embeddings scaled by idf
this is word overlap weighted by idf, and it improves as the embeddings are trained.
"""

import numpy as np
import torch
from torch import Tensor

from paraphrastic.nn.batch import Batch, to_device
from paraphrastic.nn.kernels.row_sums import bag_sum
from paraphrastic.nn.layers import unit
from paraphrastic.nn.options import Negatives, PairModelConfig

ALL = slice(None)


def positive_and_negative_cosines(
    vectors: Tensor, mask: Tensor, negatives: Negatives, generator: np.random.Generator, own: slice = ALL
) -> tuple[Tensor, Tensor]:
    """Return the cosine of each sentence with its paraphrase and with its negative, (n,) each.

    Where a row of `mask` allows no negative, the second cosine is arbitrary.

    Args:
        vectors: (2B, dim), the first sentences of B pairs, then the second ones.
        mask: (n, 2B) bool from `negative_mask`.
        negatives: how the negative is chosen, see `choose_negatives`.
        generator: source of random numbers.
        own: the n sentences.
    """
    units = unit(vectors)
    with torch.no_grad():  # the gradient needs 2n of these 2Bn cosines
        chosen = choose_negatives(units[own] @ units.T, mask, negatives, generator, own)
    sentences, paraphrases = units[own], units.roll(len(units) // 2, dims=0)[own]
    return (sentences * paraphrases).sum(1), (sentences * units[chosen]).sum(1)


def negative_mask(ids: Tensor, groups: Tensor, own: slice = ALL) -> Tensor:
    """Return which sentences of a mini-batch must not be negatives of which.

    Not allowed for a sentence are: the sentence itself, its copies, all sentences of its group, every sentence that is
    paired in this mini-batch with one of its copies, and the copies of its paraphrase.

    The result is (n, 2B) bool, true where not allowed.

    Args:
        ids: (2B,) int64, the first sentences of B pairs, then the second ones.
        groups: (B,) int64, the groups of the pairs.
        own: the n sentences of the rows.
    """
    same = ids == ids[own].unsqueeze(1)
    partner_is_copy = same.roll(len(groups), dims=1)  # column l says whether the partner of l is a copy
    copy_of_partner = ids == ids.roll(len(groups))[own].unsqueeze(1)
    group = groups.repeat(2)
    return same | partner_is_copy | copy_of_partner | (group == group[own].unsqueeze(1))


def choose_negatives(
    similarities: Tensor, mask: Tensor, negatives: Negatives, generator: np.random.Generator, own: slice = ALL
) -> Tensor:
    """Return a negative for each sentence, (n,) int64: acl2017 §3.2.1 (`max`), iclr2016 §3.1.1 (`max`, `mix`).

    Args:
        similarities: (n, 2B) cosines; the choice has no gradient.
        mask: (n, 2B) bool, sentences that are not allowed. If a row allows none, its result is arbitrary, and the
            caller masks it.
        negatives: `max`, the most similar sentence; `random`; or `mix`: one of these two, chosen with probability one
            half.
        generator: source of random numbers; they are drawn on the CPU and for all 2B sentences, so that every device
            and every process draws the same.
        own: the n sentences that get a negative.
    """
    count = mask.shape[1]
    hardest = similarities.detach().masked_fill(mask, -torch.inf).argmax(1)
    if negatives == "max":
        return hardest
    draws = to_device(generator.random((count, count), np.float32)[own], mask.device)
    random = draws.masked_fill(mask, -1.0).argmax(1)
    if negatives == "random":
        return random
    take_hardest = to_device(generator.random(count)[own] < 0.5, mask.device)
    return torch.where(take_hardest, hardest, random)


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
        (2, pairs) int64, left and right. Each sentence keeps its side; its partner may come from either side, and a
        pair may occur twice.
    """
    units = unit(bag_sum(embeddings, batch.ids, batch.offsets, batch.counts))  # (2B, dim)
    similarities, mask, mismatched = units @ units.T, mask.clone(), []
    own = torch.arange(len(units), device=embeddings.device)
    for _ in range(min(options.negatives_per_sentence, len(units))):
        has_partner = ~mask.all(1)
        partner = choose_negatives(similarities, mask, options.negatives, generator)
        pairs = torch.stack([own, partner])  # (2, 2B)
        mismatched.append(torch.where(own < len(units) // 2, pairs, pairs.flip(0))[:, has_partner])
        mask[own, partner] = True
    return torch.cat(mismatched, 1)
