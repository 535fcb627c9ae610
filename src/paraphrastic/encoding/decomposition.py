"""Semantic matching and decomposition of words, over padded batches of pairs: ldc2016 §3.1, §3.2, Eq. 5–9.

All similar components are sums of word vectors: `s⁺_i = Σ_k c_ik x_k`, x_k being words of the other sentence where
the decomposition is orthogonal, and s_i itself where it is rigid or linear; `s⁻_i = s_i − s⁺_i` always. So a
decomposition is handed on as coefficients c and the words that they belong to, and what is linear in s⁺ can be
worked out once for each distinct word instead of once for each word of each pair.

Where Eq. 5–9 say nothing:

* The cosine with a zero vector is 0, and so is every coefficient of a word against an empty sentence.
* Eq. 8 and 9 are the same for ŝ and any positive multiple of it, so the denominator of Eq. 6 counts by its sign
  only: ŝ = sign(Σ a) · Σ a t, with no division. Where Σ a = 0 there is no ŝ, and nothing of the word is similar.
* Of equal maxima the first is k, and a word itself is more similar to it than any other. Both are decided on words,
  not on rounded cosines, so that they do not depend on the batch.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor
from torch.nn.functional import pad

from paraphrastic.encoding.batch import Batch

Match = Literal["max", "global", "local"]
Decompose = Literal["rigid", "linear", "orthogonal"]
Coefficients = tuple[Tensor, Tensor]


@dataclass(frozen=True)
class Side:
    """One sentence of each of P pairs, padded behind its last word.

    Attributes:
        ids: (P, L) int64, rows of the batch's words; the number of words where a sentence has ended.
        vectors: (P, L, d) the words' vectors; zero where a sentence has ended.
        present: (P, L) bool, where there is a word.
    """

    ids: Tensor
    vectors: Tensor
    present: Tensor

    @classmethod
    def of(cls, words: Tensor, batch: Batch, sentences: Tensor) -> "Side":
        """The sentences (P,) of `batch`, whose ids are rows of `words` (U, d)."""
        lengths = batch.lengths[sentences]
        places = torch.arange(max(int(lengths.max()), 1) if len(lengths) else 1, device=words.device)
        present = places < lengths.unsqueeze(1)
        at = torch.where(present, batch.offsets[sentences].unsqueeze(1) + places, len(batch.ids))
        ids = pad(batch.ids, (0, 1), value=len(words))[at]
        return cls(ids, pad(words, (0, 0, 0, 1))[ids], present)


class Decomposition:
    """`f_match` and `f_decomp` of Eq. 1 and 2.

    Args:
        match: which f_match (Eq. 6).
        window: words on either side of the most similar one that `local` takes in.
        decompose: which f_decomp (Eq. 7–9).
    """

    def __init__(self, match: Match, window: int, decompose: Decompose) -> None:
        self._match, self._window = match, window
        self._decompose: Callable[[Side, Side], Coefficients] = {
            "rigid": self._rigid,
            "linear": self._linear,
            "orthogonal": self._orthogonal,
        }[decompose]

    def __call__(self, own: Side, other: Side) -> Coefficients:
        """Rows of the batch's words and coefficients, (P, L, K) each, with `s⁺ = Σ_k coefficients_k · words[rows_k]`.

        Args:
            own: P sentences of L words with padding.
            other: the other sentence of each pair.
        """
        return self._decompose(own, other)

    def _rigid(self, own: Side, other: Side) -> Coefficients:
        """Eq. 7: vectors are equal where the words are."""
        places, _ = self._matched(own, other)
        rows = own.ids.unsqueeze(2)
        return rows, (rows == _at(other.ids, places)).to(own.vectors.dtype)

    def _linear(self, own: Side, other: Side) -> Coefficients:
        """Eq. 8."""
        cosine = (_unit(own.vectors) * _unit(_sum(other, *self._matched(own, other)))).sum(2)
        return own.ids.unsqueeze(2), cosine.unsqueeze(2)

    def _orthogonal(self, own: Side, other: Side) -> Coefficients:
        """Eq. 9."""
        places, weights = self._matched(own, other)
        match = _sum(other, places, weights)
        square = (match * match).sum(2)
        share = (own.vectors * match).sum(2) / square.masked_fill(square == 0, 1)
        return _at(other.ids, places), weights * share.unsqueeze(2)

    def _matched(self, own: Side, other: Side) -> Coefficients:
        """Eq. 6: places in the other sentence and their weights in ŝ, (P, L, K) each."""
        cosines = _unit(own.vectors) @ _unit(other.vectors).mT
        if self._match == "global":
            return torch.arange(cosines.shape[2], device=cosines.device).expand_as(cosines), _signed(cosines)
        nearest = _nearest(cosines, own.ids, other).unsqueeze(2)
        if self._match == "max":
            return nearest, torch.ones_like(nearest, dtype=cosines.dtype)
        around = nearest + torch.arange(-self._window, self._window + 1, device=cosines.device)
        places = around.clamp(0, cosines.shape[2] - 1)
        return places, _signed(cosines.gather(2, places).masked_fill(places != around, 0))


def _nearest(cosines: Tensor, own: Tensor, other: Side) -> Tensor:
    """Where k of Eq. 6 is, (P, L) from (P, L, M)."""
    same = own.unsqueeze(2) == other.ids.unsqueeze(1)
    open_to = cosines.detach().masked_fill(same, torch.inf).masked_fill(~other.present.unsqueeze(1), -torch.inf)
    word = other.ids.gather(1, open_to.argmax(2))
    return (word.unsqueeze(2) == other.ids.unsqueeze(1)).int().argmax(2)


def _signed(weights: Tensor) -> Tensor:
    return weights * weights.detach().sum(2, keepdim=True).sign()


def _sum(other: Side, places: Tensor, weights: Tensor) -> Tensor:
    """ŝ, (P, L, d)."""
    dense = weights.new_zeros(*weights.shape[:2], other.ids.shape[1])
    return dense.scatter_add(2, places, weights) @ other.vectors


def _at(ids: Tensor, places: Tensor) -> Tensor:
    """`ids` (P, M) at `places` (P, L, K)."""
    return ids.gather(1, places.flatten(1)).view_as(places)


def _unit(vectors: Tensor) -> Tensor:
    """Vectors scaled to length 1; zero stays zero, with a finite gradient."""
    square = (vectors * vectors).sum(-1, keepdim=True)
    return vectors * square.masked_fill(square == 0, 1).rsqrt()
