"""The margin loss: acl2017 §3.2, Eq. 2 (iclr2016 §3.1, charagram2016 Appendix A)."""

import numpy as np
from torch import Tensor

from paraphrastic.base.parameters import Section
from paraphrastic.nn.negatives import positive_and_negative_cosines
from paraphrastic.nn.options import Negatives, NonNegativeFloat


class Config(Section):
    """Options of the margin loss, which the block of a model has."""

    margin: NonNegativeFloat = 0.4  # δ
    negatives: Negatives = "max"  # how t1 and t2 are chosen


def loss(vectors: Tensor, mask: Tensor, own: slice, generator: np.random.Generator, options: Config) -> Tensor:
    """Return the mean of Eq. 2 over B pairs, without its penalty terms.

    `max(0, δ − cos(s1, s2) + cos(s1, t1)) + max(0, δ − cos(s1, s2) + cos(s2, t2))`, with t1 and t2 negatives from the
    same mini-batch. A hinge is left out if its sentence has no allowed negative. Of a pair (s1, s2), s1 has the first
    hinge, and s2 the second.
    """
    positive, negative = positive_and_negative_cosines(vectors, mask, options.negatives, generator, own)
    hinges = (options.margin - positive + negative).clamp(min=0)  # (n,)
    return hinges.masked_fill(mask.all(1), 0.0).sum() / (len(vectors) // 2)
