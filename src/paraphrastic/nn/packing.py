"""Sentences of different lengths side by side without padding.

Sentences are sorted by length and packed by time: step t is a contiguous block of the sentences longer than t. A
product with all inputs is then one matrix product, and the loop over time works on blocks that shrink as sentences
end. Example with sentences `abc`, `d` and `ef`: the packed order is `a e d | b f | c`, the batch sizes are 3, 2, 1.
"""

from dataclasses import dataclass
from itertools import accumulate

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from paraphrastic.nn.batch import Batch, to_device


@dataclass(frozen=True)
class Packing:
    """The positions of B sentences' tokens when they are packed by time.

    Attributes:
        order: (N,) int64, position in the batch of the token at each packed position.
        sentences: (N,) int64, the sentence at each packed position; the first step has all sentences but empty ones.
        reverse_index: (N,) int64, the packed position of the same token when every sentence is read backward.
            `index_select(0, reverse_index)` reverses all sentences, and reverses them back.
        last: (sentences that are not empty,) int64, packed position of the last token, in the order of step 0.
        lengths: (B,) int64, tokens of each sentence.
        batch_sizes: sentences longer than t for each step t; non-increasing, the sum is N.
    """

    order: Tensor
    sentences: Tensor
    reverse_index: Tensor
    last: Tensor
    lengths: Tensor
    batch_sizes: list[int]

    @classmethod
    def of(cls, batch: Batch) -> "Packing":
        """Return the packing of `batch`; nothing is read back from its device."""
        batch_sizes, lengths = _batch_sizes(batch.host_offsets), batch.lengths
        longest_first = torch.argsort(lengths, descending=True, stable=True)[: max(batch_sizes, default=0)]
        sizes = to_device(np.array(batch_sizes, np.int64), lengths.device)  # (T,)
        positions = torch.arange(len(batch.ids), device=lengths.device)  # (N,)
        step = torch.arange(len(batch_sizes), device=lengths.device)
        step = step.repeat_interleave(sizes, output_size=len(positions))  # (N,)
        starts = sizes.cumsum(0) - sizes  # (T,), packed position where each step begins
        final_step = lengths[longest_first] - 1
        rank = positions - starts[step]  # (N,), place among the sentences of the same step
        reverse_index = starts[final_step[rank] - step] + rank
        last = starts[final_step] + positions[: len(longest_first)]
        sentences = longest_first[rank]
        return cls(batch.offsets[sentences] + step, sentences, reverse_index, last, lengths, batch_sizes)

    def final(self, states: Tensor) -> Tensor:
        """Return the state at each sentence's last token, (B, dim) from (N, dim); zero for an empty sentence."""
        out = states.new_zeros(len(self.lengths), states.shape[1])
        return out.index_copy(0, self.sentences[: len(self.last)], states.index_select(0, self.last))

    def mean(self, states: Tensor) -> Tensor:
        """Return the mean over each sentence's tokens, (B, dim) from (N, dim); zero for an empty sentence."""
        out = states.new_zeros(len(self.lengths), states.shape[1])
        return self.divide_by_length(out.index_add(0, self.sentences, states))

    def reverse(self, states: Tensor) -> Tensor:
        """Reverse the tokens of every sentence, (N, dim)."""
        return states.index_select(0, self.reverse_index)

    def divide_by_length(self, vectors: Tensor) -> Tensor:
        """Divide the vector of each sentence, (B, dim), by its number of tokens."""
        return vectors / self.lengths.clamp(min=1).unsqueeze(1)


def _batch_sizes(offsets: NDArray[np.int64]) -> list[int]:
    """Return how many sentences are longer than t, for each t below the longest."""
    lengths = np.sort(np.diff(offsets))
    steps = np.arange(lengths.max(initial=0))
    sizes: list[int] = (len(lengths) - np.searchsorted(lengths, steps, side="right")).tolist()
    return sizes


def time_steps(batch_sizes: list[int]) -> list[tuple[slice, slice]]:
    """Return for each step its packed positions, and those of the same sentences at the previous step.

    The previous slice of the first step is empty.
    """
    starts = [0, *accumulate(batch_sizes)]
    current = [slice(start, start + size) for start, size in zip(starts, batch_sizes, strict=False)]
    previous = [slice(start, start + size) for start, size in zip(starts, batch_sizes[1:], strict=False)]
    return list(zip(current, [slice(0, 0), *previous], strict=False))


def previous_states(batch_sizes: list[int], states: Tensor) -> Tensor:
    """Return the state at the previous step for each packed position, (N, dim); zero at the first step."""
    out = torch.zeros_like(states)
    for current, previous in time_steps(batch_sizes):
        if current.start:
            out[current] = states[previous]
    return out
