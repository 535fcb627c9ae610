"""The losses on a mini-batch of paraphrases.

The margin loss and its negative examples are those of the papers: acl2017 §3.2, Eq. 2 (iclr2016 §3.1, charagram2016
Appendix A). InfoNCE is not in the papers.

Each is a sum over the 2B sentences of B pairs. `own`, a slice of these sentences, limits the sum to some of them: the
losses of several processes add up to that of the mini-batch. A negative can be any sentence of the mini-batch.

A pair model is trained on paraphrases and on mismatched pairs. Two random sentences share hardly a word: a model
could tell them from paraphrases by counting common words. With `negatives: max` each sentence is therefore paired with
the most similar other sentences of the mini-batch, as in acl2017 §3.2.1; with `random` or `mix`, all or half of its
partners are random. Similarity is the cosine of summed word embeddings. With random initial embeddings scaled by idf
this is word overlap weighted by idf, and it improves as the embeddings are trained.
"""

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy, normalize

from paraphrastic.nn.batch import Batch, to_device
from paraphrastic.nn.kernels.row_sums import bag_sum
from paraphrastic.nn.options import Negatives, PairModelConfig

ALL = slice(None)


def margin_loss(
    vectors: Tensor,
    mask: Tensor,
    margin: float,
    negatives: Negatives,
    generator: np.random.Generator,
    own: slice = ALL,
) -> Tensor:
    """Return the mean of Eq. 2 over B pairs, without its penalty terms.

    `max(0, δ − cos(s1, s2) + cos(s1, t1)) + max(0, δ − cos(s1, s2) + cos(s2, t2))`, with t1 and t2 negatives from the
    same mini-batch. A hinge is left out if its sentence has no allowed negative.

    Args:
        vectors: (2B, dim), the first sentences of the pairs, then the second ones.
        mask: (n, 2B) bool from `negative_mask`.
        margin: δ.
        negatives: how t1 and t2 are chosen.
        generator: source of random numbers.
        own: the n sentences whose hinges are added; of a pair (s1, s2), s1 has the first hinge, and s2 the second.
    """
    positive, negative = positive_and_negative_cosines(vectors, mask, negatives, generator, own)
    hinges = (margin - positive + negative).clamp(min=0)  # (n,)
    return hinges.masked_fill(mask.all(1), 0.0).sum() / (len(vectors) // 2)


def infonce_loss(vectors: Tensor, mask: Tensor, temperature: float, own: slice = ALL) -> Tensor:
    """Return the mean over 2B sentences of InfoNCE (van den Oord et al. 2018, Eq. 4) with cosines over τ as scores.

    `−log( exp(cos(s, p) / τ) / Σ_t exp(cos(s, t) / τ) )`, p being the paraphrase of s, and t each sentence of the
    mini-batch that is allowed as a negative of s, and p itself.

    Args:
        vectors: (2B, dim), as those of `margin_loss`.
        mask: (n, 2B) bool from `negative_mask`.
        temperature: τ.
        own: the n sentences whose losses are added.
    """
    unit = normalize(vectors, dim=1)
    paraphrases = torch.arange(len(unit), device=unit.device).roll(len(unit) // 2)[own]  # (n,)
    left_out = mask.scatter(1, paraphrases.unsqueeze(1), False)
    scores = (unit[own] @ unit.T / temperature).masked_fill(left_out, -torch.inf)  # (n, 2B)
    return cross_entropy(scores, paraphrases, reduction="sum") / len(unit)


def positive_and_negative_cosines(
    vectors: Tensor, mask: Tensor, negatives: Negatives, generator: np.random.Generator, own: slice = ALL
) -> tuple[Tensor, Tensor]:
    """Return the cosine of each sentence with its paraphrase and with its negative, (n,) each.

    Where a row of `mask` allows no negative, the second cosine is arbitrary. Arguments are those of `margin_loss`.
    """
    unit = normalize(vectors, dim=1)
    with torch.no_grad():  # the gradient needs 2n of these 2Bn cosines
        chosen = choose_negatives(unit[own] @ unit.T, mask, negatives, generator, own)
    sentences, paraphrases = unit[own], unit.roll(len(unit) // 2, dims=0)[own]
    return (sentences * paraphrases).sum(1), (sentences * unit[chosen]).sum(1)


def negative_mask(ids: Tensor, groups: Tensor, own: slice = ALL) -> Tensor:
    """Return which sentences of a mini-batch must not be negatives of which.

    Not allowed for a sentence are: the sentence itself, its copies, all sentences of its group, and every sentence
    that is paired in this mini-batch with one of its copies.

    The result is (n, 2B) bool, true where not allowed.

    Args:
        ids: (2B,) int64, the first sentences of B pairs, then the second ones.
        groups: (B,) int64, the groups of the pairs.
        own: the n sentences of the rows.
    """
    same = ids == ids[own].unsqueeze(1)
    partner_is_copy = same.roll(len(groups), dims=1)  # column l says whether the partner of l is a copy
    group = groups.repeat(2)
    return same | partner_is_copy | (group == group[own].unsqueeze(1))


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
