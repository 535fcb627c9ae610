"""Encoders that are a sum of embeddings, in a form that NumPy can compute."""

from dataclasses import dataclass
from typing import Literal

from paraphrastic.vocabulary.kinds import BoundaryTokens, VocabularyKind

Pooling = Literal["mean", "sum"]
CountWeight = Literal["linear", "sqrt"]
Activation = Literal["linear", "tanh", "relu"]


@dataclass(frozen=True)
class StaticForm:
    """`g(s) = f(f(b + scale · Σ_n weight(count_n) E[id_n]) W2 + b2)`.

    Without b, it is zero; without W2 and b2, there is no second layer. The embedding table E, and b, W2 and b2 if they
    exist, are arrays of the same names as in the torch model: `embeddings`, `bias`, `dense.W`, `dense.b`.
    """

    vocabulary: VocabularyKind  # what the rows of E stand for
    pooling: Pooling  # scale is 1 / tokens of the sentence (`mean`) or 1 (`sum`)
    boundary_tokens: BoundaryTokens = "none"  # tokens that enclose every sentence of words
    counts: CountWeight = "linear"  # an id that occurs k times has weight k (`linear`) or √k (`sqrt`)
    activation: Activation = "linear"  # f
