"""Sentences of different lengths side by side, without padding.

Sentences are sorted by length and packed by time: step t is a contiguous block of the sentences longer than
t. What a recurrent encoder does to all inputs is one matrix product then, and its loop over time works on
blocks that shrink as sentences end.
"""

from dataclasses import dataclass
from itertools import accumulate

import torch
from torch import Tensor


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
    def of(cls, offsets: Tensor) -> "Packing":
        """Packing of the sentences that `offsets` (B + 1,) delimits."""
        lengths = offsets.diff()
        ranked = torch.argsort(lengths, descending=True, stable=True)
        ranked = ranked[: int(lengths.count_nonzero())]
        longest = int(lengths[ranked[0]]) if len(ranked) else 0
        present = torch.arange(longest, device=offsets.device).unsqueeze(1) < lengths[ranked]  # (steps, sentences)
        steps, ranks = present.nonzero(as_tuple=True)
        sizes = present.sum(1)
        starts, final = sizes.cumsum(0) - sizes, lengths[ranked] - 1
        mirror = starts[final[ranks] - steps] + ranks
        last = starts[final] + torch.arange(len(ranked), device=offsets.device)
        sentences = ranked[ranks]
        return cls(offsets[sentences] + steps, sentences, mirror, last, lengths, sizes.tolist())

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
