"""Recurrent encoders: sentences packed by time, recurrent layers over them, and pooling of their states.

Sentences of different lengths stand side by side without padding. They are sorted by length and packed by time: step t
is a contiguous block of the sentences longer than t. A product with all inputs is then one matrix product, and the loop
over time works on blocks that shrink as sentences end. Example with sentences `abc`, `d` and `ef`: the packed order is
`a e d | b f | c`, the batch sizes are 3, 2, 1. `nn.peephole_lstm` has the LSTM.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, Literal

import numpy as np
import torch
from torch import Generator, Tensor, nn

from paraphrastic.nn.batch import Batch, to_device
from paraphrastic.nn.layers import Encoder, Matmul, WordLookup, glorot_uniform, matmul
from paraphrastic.nn.options import MatmulDtype, RecurrentConfig
from paraphrastic.nn.static_form import Activation

Variant = Literal[1, 2, 3, 4, 5]


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
        host_lengths, lengths = np.sort(np.diff(batch.host_offsets)), batch.lengths
        steps = np.arange(host_lengths.max(initial=0))
        batch_sizes: list[int] = (len(batch) - np.searchsorted(host_lengths, steps, side="right")).tolist()
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

    def sum(self, states: Tensor) -> Tensor:
        """Return the sum over each sentence's tokens, (B, dim) from (N, dim); zero for an empty sentence."""
        return states.new_zeros(len(self.lengths), states.shape[1]).index_add(0, self.sentences, states)

    def mean(self, states: Tensor) -> Tensor:
        """Return the mean over each sentence's tokens, (B, dim) from (N, dim); zero for an empty sentence."""
        return self.divide_by_length(self.sum(states))

    def max(self, states: Tensor) -> Tensor:
        """Return the largest of each element over each sentence's tokens, (B, dim); zero for an empty sentence."""
        out, index = states.new_zeros(len(self.lengths), states.shape[1]), self.sentences.unsqueeze(1)
        return out.scatter_reduce(0, index.expand_as(states), states, "amax", include_self=False)

    def softmax(self, scores: Tensor) -> Tensor:
        """Return the softmax over each sentence's tokens, (N, k) from (N, k): weights for `sum` that add up to 1."""
        weights = (scores - self.max(scores.detach())[self.sentences]).exp()
        return weights / self.sum(weights)[self.sentences]

    def reverse(self, states: Tensor) -> Tensor:
        """Reverse the tokens of every sentence, (N, dim)."""
        return states.index_select(0, self.reverse_index)

    def divide_by_length(self, vectors: Tensor) -> Tensor:
        """Divide the vector of each sentence, (B, dim), by its number of tokens."""
        return vectors / self.lengths.clamp(min=1).unsqueeze(1)


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


class RecurrentEncoder(Encoder):
    """Base class of encoders that read words in their order, with dropout in training.

    Args:
        config: options.
    """

    def __init__(self, config: RecurrentConfig) -> None:
        super().__init__("words", config.dim, config.boundary_tokens)
        self.lookup = WordLookup(config.dropout, config.word_dropout)

    def packed_words(self, embeddings: Tensor, batch: Batch) -> tuple[Tensor, Packing]:
        """Return the embeddings of the words of a batch, (N, dim), packed by time, and their packing."""
        packing = Packing.of(batch)
        words: Tensor = self.lookup(embeddings, batch, packing.order)
        return words, packing


class _Recurrence(torch.autograd.Function):
    """`h_t = f(input_t + h_{t−1} U)` with its gradient by hand; products are computed in the data type of U.

    With δ_t the gradient of the argument of f at step t, `δ_t = f'(·) ⊙ (∂L/∂h_t + δ_{t+1} Uᵀ)` and
    `∂L/∂U = Σ_t h_{t−1}ᵀ δ_t`. All f have derivatives that follow from their value: `1 − h²` for tanh,
    `h > 0` for ReLU.
    """

    @staticmethod
    def forward(ctx: Any, inputs: Tensor, U: Tensor, activation: Activation, batch_sizes: list[int]) -> Tensor:
        states = inputs.clone()  # (N, hidden)
        for current, previous in time_steps(batch_sizes):
            if current.start:
                states[current] += matmul(states[previous].to(U.dtype), U).to(states.dtype)
            if activation != "linear":
                (torch.tanh_ if activation == "tanh" else torch.relu_)(states[current])
        ctx.save_for_backward(U, states)
        ctx.activation, ctx.batch_sizes = activation, batch_sizes
        return states

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        U, states = ctx.saved_tensors
        deltas = grads[0].clone()  # (N, hidden)
        for current, previous in reversed(time_steps(ctx.batch_sizes)):
            if ctx.activation == "tanh":
                deltas[current].addcmul_(deltas[current], states[current].square(), value=-1)
            elif ctx.activation == "relu":
                deltas[current].mul_(states[current] > 0)
            if current.start:
                deltas[previous] += matmul(deltas[current].to(U.dtype), U.T).to(deltas.dtype)
        d_U = matmul(previous_states(ctx.batch_sizes, states).to(U.dtype).T, deltas.to(U.dtype))
        return deltas, d_U, None, None


_recurrence: Callable[..., Tensor] = _Recurrence.apply


class Elman(nn.Module):
    """`h_t = f(x_t W + h_{t−1} U + b)` with h_0 = 0: iclr2016 §3 (RNN, iRNN).

    Args:
        W: (dim, hidden), initial weights of the inputs.
        U: (hidden, hidden), initial weights of the states.
        activation: f.
        matmul_dtype: data type of the operands of matrix products in training.
    """

    def __init__(self, W: Tensor, U: Tensor, activation: Activation, matmul_dtype: MatmulDtype) -> None:
        super().__init__()
        self.W, self.U, self.b = nn.Parameter(W), nn.Parameter(U), nn.Parameter(torch.zeros(U.shape[1]))
        self._matmul, self._activation = Matmul(matmul_dtype), activation

    def forward(self, words: Tensor, batch_sizes: list[int]) -> Tensor:
        """Return states (N, hidden) of inputs (N, dim) that are packed by time."""
        inputs = self._matmul(words, self.W) + self.b  # (N, hidden), one product for all steps
        return _recurrence(inputs, self._matmul.cast(self.U), self._activation, batch_sizes)


class GranGates(nn.Module):
    """Gates that control how much of a word embedding x_t and of an LSTM state h_t enters a_t.

    The gates are `σ(x_t Wx + h_t Wh + b)`. Variants 1 and 2 have one gate g, the others two, g1 and g2.

    1. `a_t = x_t ⊙ g`
    2. `a_t = h_t ⊙ g`
    3. `a_t = x_t ⊙ g1 + a_{t−1} ⊙ g2`
    4. like 3, with gates `σ(x_t Wx + h_t Wh + a_{t−1} Wa + b)`
    5. `a_t = x_t ⊙ g1 + h_t ⊙ g2`

    The sentence vector is the mean of all a_t. In variants 3 and 4, where a_t is a running sum, it is the last a_t
    divided by the number of words.

    Attributes:
        recurrent: whether a_t depends on a_{t−1} (variants 3 and 4).
    """

    def __init__(self, dim: int, variant: Variant, generator: Generator, matmul_dtype: MatmulDtype) -> None:
        super().__init__()
        self._variant, self.recurrent = variant, variant in (3, 4)
        gates = 1 if variant in (1, 2) else 2
        self.Wx = nn.Parameter(glorot_uniform(dim, dim, generator, gates))
        self.Wh = nn.Parameter(glorot_uniform(dim, dim, generator, gates))
        self.b = nn.Parameter(torch.zeros(gates * dim))
        self.Wa = nn.Parameter(glorot_uniform(dim, dim, generator, gates)) if variant == 4 else None
        self._matmul = Matmul(matmul_dtype)

    def forward(self, words: Tensor, states: Tensor, batch_sizes: list[int]) -> tuple[Tensor, Tensor]:
        """Return all a_t, (N, dim), and their gates, (N, dim) or (N, 2 · dim) with g1 first.

        Word embeddings and states, (N, dim) each, are packed by time.
        """
        logits: Tensor = self._matmul(words, self.Wx) + self._matmul(states, self.Wh) + self.b  # (N, gates · dim)
        if self.recurrent:
            return self._recur(words, logits, batch_sizes)
        gates = logits.sigmoid()
        if self._variant == 5:
            g1, g2 = gates.chunk(2, 1)  # (N, dim) each
            return words * g1 + states * g2, gates
        return (words if self._variant == 1 else states) * gates, gates

    def _recur(self, words: Tensor, logits: Tensor, batch_sizes: list[int]) -> tuple[Tensor, Tensor]:
        out, gates = list[Tensor](), list[Tensor]()
        for x, logit in zip(words.split(batch_sizes), logits.split(batch_sizes), strict=True):
            previous = out[-1][: len(x)] if out else torch.zeros_like(x)  # (sentences of this step, dim)
            if self.Wa is not None:
                logit = logit + self._matmul(previous, self.Wa)
            gates.append(logit.sigmoid())
            g1, g2 = gates[-1].chunk(2, 1)
            out.append(x * g1 + previous * g2)
        return (torch.cat(out), torch.cat(gates)) if out else (words, logits)
