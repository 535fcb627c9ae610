"""InfoNCE (van den Oord et al. 2018, Eq. 4) over all sentences of the mini-batch; it is not in the papers."""

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from paraphrastic.base.parameters import Section
from paraphrastic.nn.layers import unit
from paraphrastic.nn.options import PositiveFloat


class Config(Section):
    """Options of InfoNCE."""

    temperature: PositiveFloat = 0.1  # τ


def loss(vectors: Tensor, mask: Tensor, own: slice, generator: np.random.Generator, options: Config) -> Tensor:
    """Return the mean over 2B sentences of InfoNCE with cosines over τ as scores.

    `−log( exp(cos(s, p) / τ) / Σ_t exp(cos(s, t) / τ) )`, p being the paraphrase of s, and t each sentence of the
    mini-batch that is allowed as a negative of s, and p itself.
    """
    units = unit(vectors)
    paraphrases = torch.arange(len(units), device=units.device).roll(len(units) // 2)[own]  # (n,)
    left_out = mask.scatter(1, paraphrases.unsqueeze(1), False)
    scores = (units[own] @ units.T / options.temperature).masked_fill(left_out, -torch.inf)  # (n, 2B)
    return cross_entropy(scores, paraphrases, reduction="sum") / len(units)
