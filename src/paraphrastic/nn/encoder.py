"""Base classes of the models that are trained: sentence encoders and pair models.

The embedding table (Ww) is an argument of `forward`, not a parameter of the module, so that a training step can pass
only the rows that its mini-batch uses. The parameters of the module are the compositional ones (Wc); a table of n-grams
or characters belongs to Wc too.
"""

from abc import ABC, abstractmethod

from torch import Tensor, nn

from paraphrastic.nn.batch import Batch
from paraphrastic.nn.static_form import StaticForm
from paraphrastic.vocabulary.kinds import BoundaryTokens, VocabularyKind


class Encoder(nn.Module, ABC):
    """Maps an embedding table and sentences to sentence vectors.

    Attributes:
        vocabulary: what the rows of the embedding table stand for.
        out_dim: size of a sentence vector.
        boundary_tokens: tokens that enclose every sentence of words.
        regularize_to_start: λc penalises the distance of the parameters from their initial values instead of zero.
        bigram_min_count: occurrences that a pair of adjacent words needs to be in a vocabulary of words and n-grams;
            None for no pairs.
    """

    regularize_to_start = False
    bigram_min_count: int | None = None

    def __init__(self, vocabulary: VocabularyKind, out_dim: int, boundary_tokens: BoundaryTokens = "none") -> None:
        super().__init__()
        self.vocabulary: VocabularyKind = vocabulary
        self.out_dim = out_dim
        self.boundary_tokens: BoundaryTokens = boundary_tokens

    @abstractmethod
    def forward(self, embeddings: Tensor, batch: Batch) -> Tensor:
        """Return sentence vectors, (B, out_dim), from an embedding table (rows, embedding_dim).

        All sentences without ids get the same finite vector.
        """

    def static_form(self) -> StaticForm | None:
        """Return the form in which NumPy computes the same vectors; None if they need torch."""
        return None


class PairModel(nn.Module, ABC):
    """Maps an embedding table and pairs of sentences to the log-odds that each pair matches.

    The attributes have the meaning that those of `Encoder` have.
    """

    vocabulary: VocabularyKind = "words"
    boundary_tokens: BoundaryTokens = "none"
    regularize_to_start = False
    bigram_min_count: int | None = None

    @abstractmethod
    def forward(self, embeddings: Tensor, batch: Batch, left: Tensor, right: Tensor) -> Tensor:
        """Return log-odds, (P,).

        Args:
            embeddings: (rows, dim).
            batch: the distinct sentences of P pairs.
            left: (P,) int64, the first sentence of each pair in the batch.
            right: (P,) int64, the second.
        """


TrainableModel = Encoder | PairModel
