"""Sentences of different lengths side by side, without padding.

Sentences are sorted by length and packed by time: step t is a contiguous block of the sentences longer than
t. What a recurrent encoder does to all inputs is one matrix product then, and its loop over time works on
blocks that shrink as sentences end.
"""

from dataclasses import dataclass
from itertools import accumulate

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from paraphrastic.encoding.batch import Batch, carried


@dataclass(frozen=True)
class Packing:
    """Where the tokens of B sentences stand when packed by time.

    Attributes:
        order: (N,) int64, the token of the flat batch that packed place n holds.
        sentences: (N,) int64, the sentence of packed place n; the first step has all that are not empty.
        mirror: (N,) int64, the place that holds the same token when every sentence is read backward. What is
            packed one way is packed the other way by `index_select(0, mirror)`, and back by the same.
        last: (sentences that are not empty,) int64, the place of each one's last token, in the order of step 0.
        lengths: (B,) int64, tokens of each sentence.
        sizes: how many sentences are longer than t, for each step t: falling, sums to N.
    """

    order: Tensor
    sentences: Tensor
    mirror: Tensor
    last: Tensor
    lengths: Tensor
    sizes: list[int]

    @classmethod
    def of(cls, batch: Batch) -> "Packing":
        """Packing of the sentences of `batch`; their device is asked nothing."""
        longer, lengths = _longer(batch.borders), batch.lengths
        ranked = torch.argsort(lengths, descending=True, stable=True)[: max(longer, default=0)]
        sizes = carried(np.array(longer, np.int64), lengths.device)
        places, steps = (torch.arange(n, device=lengths.device) for n in (len(batch.ids), len(longer)))
        steps = steps.repeat_interleave(sizes, output_size=len(places))
        starts, final = sizes.cumsum(0) - sizes, lengths[ranked] - 1
        ranks = places - starts[steps]
        mirror = starts[final[ranks] - steps] + ranks
        last = starts[final] + places[: len(ranked)]
        sentences = ranked[ranks]
        return cls(batch.offsets[sentences] + steps, sentences, mirror, last, lengths, longer)

    def final(self, states: Tensor) -> Tensor:
        """The state at each sentence's last token, (B, dim) from (N, dim); zero for an empty sentence."""
        out = states.new_zeros(len(self.lengths), states.shape[1])
        return out.index_copy(0, self.sentences[: len(self.last)], states.index_select(0, self.last))

    def mean(self, states: Tensor) -> Tensor:
        """The mean over each sentence's tokens, (B, dim) from (N, dim); zero for an empty sentence."""
        out = states.new_zeros(len(self.lengths), states.shape[1])
        return self.per_token(out.index_add(0, self.sentences, states))

    def per_token(self, vectors: Tensor) -> Tensor:
        """Vectors (B, dim), each divided by the number of its sentence's tokens."""
        return vectors / self.lengths.clamp(min=1).unsqueeze(1)


def _longer(borders: NDArray[np.int64]) -> list[int]:
    """How many sentences are longer than t, for each t below the longest."""
    lengths = np.sort(np.diff(borders))
    steps = np.arange(lengths.max(initial=0))
    return (len(lengths) - np.searchsorted(lengths, steps, side="right")).tolist()


def steps(sizes: list[int]) -> list[tuple[slice, slice]]:
    """For each step its places, and those of the same sentences one step before; none before the first."""
    starts = [0, *accumulate(sizes)]
    now = [slice(start, start + size) for start, size in zip(starts, sizes, strict=False)]
    then = [slice(start, start + size) for start, size in zip(starts, sizes[1:], strict=False)]
    return list(zip(now, [slice(0, 0), *then], strict=False))


def before(sizes: list[int], states: Tensor) -> Tensor:
    """The state that each place started from, (N, dim): zero at the first step."""
    out = torch.zeros_like(states)
    for now, then in steps(sizes):
        if now.start:
            out[now] = states[then]
    return out
