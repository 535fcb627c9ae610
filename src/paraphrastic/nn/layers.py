"""Base classes of the models that are trained, and the layers that they are composed of.

The embedding table (Ww) is an argument of `forward`, not a parameter of the module, so that a training step can pass
only the rows that its mini-batch uses. The parameters of the module are the compositional ones (Wc); a table of n-grams
or characters belongs to Wc too.

Dropout depends neither on how a mini-batch is divided over processes nor on the device. Every process draws the noise
of the whole mini-batch from the same seed, and uses that of its own words or sentences. Noise is drawn on the CPU, as
all random numbers are, so that every device trains the same model.

Matrix products may have bfloat16 operands in training. bfloat16 has the range of float32 and 8 bits of precision,
which is enough to train these models, and processors with bfloat16 instructions multiply it several times faster than
float32. Operands and results of products are then bfloat16, also in the backward pass. Sums of products, hidden states,
parameters, the optimizer, and everything that a trained model computes stay in float32.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cache
from typing import Literal

import torch
from torch import Generator, Tensor, nn
from torch.nn.functional import dropout

from paraphrastic.nn.batch import Batch
from paraphrastic.nn.kernels.row_sums import bag_sum
from paraphrastic.nn.options import MatmulDtype
from paraphrastic.nn.static_form import Activation, StaticForm
from paraphrastic.vocabulary.kinds import BoundaryTokens, VocabularyKind

CombineMode = Literal["sum", "dense"]


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


def glorot_uniform(rows: int, columns: int, generator: Generator, blocks: int = 1) -> Tensor:
    """Return `blocks` matrices side by side, (rows, blocks · columns), drawn as Glorot and Bengio (2010, Eq. 16).

    Each is uniform within ±√(6 / (rows + columns)), which keeps the variances of activations and gradients about
    equal from layer to layer.
    """
    bound = (6 / (rows + columns)) ** 0.5
    return torch.empty(rows, blocks * columns).uniform_(-bound, bound, generator=generator)


def activation(name: Activation) -> nn.Module:
    """Return the elementwise function of that name."""
    return {"linear": nn.Identity(), "tanh": nn.Tanh(), "relu": nn.ReLU()}[name]


def unit(vectors: Tensor) -> Tensor:
    """Return vectors (…, dim) scaled to length 1; zero stays zero, and its gradient is that of a vector of length 1.

    `torch.nn.functional.normalize` multiplies the gradient of a zero vector by 10¹². After one such gradient, Adam
    hardly changes the embedding of unknown words, which starts at zero, for thousands of steps.
    """
    square = (vectors * vectors).sum(-1, keepdim=True)
    return vectors * square.masked_fill(square == 0, 1).rsqrt()


class Dense(nn.Module):
    """`f(x W + b)`; W (inputs, outputs) starts Glorot-uniform, b at zero."""

    def __init__(self, inputs: int, outputs: int, f: Activation, generator: Generator) -> None:
        super().__init__()
        self.W = nn.Parameter(glorot_uniform(inputs, outputs, generator))
        self.b = nn.Parameter(torch.zeros(outputs))
        self._f = activation(f)

    def forward(self, x: Tensor) -> Tensor:
        """Map (n, inputs) to (n, outputs)."""
        outputs: Tensor = self._f(torch.addmm(self.b, x, self.W))
        return outputs


class Matmul(nn.Module):
    """Matrix product whose operands are cast to `dtype` in training and left as they are in evaluation."""

    def __init__(self, dtype: MatmulDtype) -> None:
        super().__init__()
        self._bfloat16 = dtype == "bfloat16"

    def cast(self, matrix: Tensor) -> Tensor:
        """Return `matrix` in the data type of the operands; an alias if no cast is needed."""
        return matrix.to(torch.bfloat16) if self._bfloat16 and self.training else matrix

    def forward(self, left: Tensor, right: Tensor) -> Tensor:
        """Return `left @ right`, rounded to the data type of the operands, in the data type of `left`."""
        return matmul(self.cast(left), self.cast(right)).to(left.dtype)


def matmul(left: Tensor, right: Tensor, out: Tensor | None = None) -> Tensor:
    """Return `left @ right`, (n, m) from (n, k) and (k, m), in their common data type; it is written to `out` if given.

    On a CPU for which oneDNN has no product of bfloat16, such as x86 without AVX-512, PyTorch multiplies bfloat16 in a
    plain loop, tens of times slower than float32. There the operands are widened to float32, which is exact, and the
    product is rounded.
    """
    if left.dtype != torch.bfloat16 or left.device.type != "cpu" or _cpu_multiplies_bfloat16():
        return torch.mm(left, right) if out is None else torch.mm(left, right, out=out)
    product = (left.float() @ right.float()).bfloat16()
    return product if out is None else out.copy_(product)


@cache
def _cpu_multiplies_bfloat16() -> bool:
    """Return whether oneDNN, which PyTorch calls for products of bfloat16, supports them on this processor."""
    return torch.backends.mkldnn.is_available() and bool(torch.ops.mkldnn._is_mkldnn_bf16_supported())


class Combine(nn.Module):
    """`f + b` (sum), or `tanh([f; b] W + c)` (dense), of forward and backward vectors f and b (acl2017 §4.2)."""

    def __init__(self, mode: CombineMode, dim: int, generator: Generator, matmul_dtype: MatmulDtype) -> None:
        super().__init__()
        self._dense, self._matmul = mode == "dense", Matmul(matmul_dtype)
        if self._dense:
            self.W, self.b = nn.Parameter(glorot_uniform(2 * dim, dim, generator)), nn.Parameter(torch.zeros(dim))

    def forward(self, forward: Tensor, backward: Tensor) -> Tensor:
        """Map two tensors (n, dim) to one, (n, dim)."""
        if not self._dense:
            return forward + backward
        combined: Tensor = self._matmul(torch.cat([forward, backward], 1), self.W) + self.b
        return combined.tanh()


def dropout_mask(shape: Sequence[int], like: Tensor, probability: float) -> Tensor:
    """Return what values are multiplied by in training: 0 with a probability, otherwise 1 / (1 − probability).

    The result has the device and the data type of `like`.
    """
    return dropout(torch.ones(*shape, dtype=like.dtype), probability).to(like.device, non_blocking=True)


def sentence_dropout(vectors: Tensor, batch: Batch, probability: float) -> Tensor:
    """Return the vectors of the sentences of a batch, (B, dim), after dropout of their elements in training."""
    share = batch.share
    mask = dropout_mask((share.sentences, vectors.shape[1]), vectors, probability)
    return vectors * mask[share.first_sentence : share.first_sentence + len(batch)]


class WordLookup(nn.Module):
    """Looks up word embeddings; in training it applies dropout and word dropout (acl2017 §4.2).

    The values that remain are multiplied by 1 / (1 − probability).

    Args:
        dropout: probability that an element of an embedding is set to zero.
        word_dropout: probability that a whole embedding is set to zero.
    """

    def __init__(self, dropout: float, word_dropout: float) -> None:
        super().__init__()
        self._dropout, self._word_dropout = dropout, word_dropout

    def forward(self, embeddings: Tensor, batch: Batch, order: Tensor | None = None) -> Tensor:
        """Return the embeddings (N, dim) of the ids of a batch, in reading order, or in the `order` (N,)."""
        vectors, share = embeddings.index_select(0, batch.ids if order is None else batch.ids[order]), batch.share
        for probability, columns in ((self._word_dropout, 1), (self._dropout, vectors.shape[1])):
            if self.training and probability:
                mask = dropout_mask((share.ids, columns), vectors, probability)
                mask = mask[share.first_id : share.first_id + len(batch.ids)]
                vectors = vectors * (mask if order is None else mask[order])
        return vectors

    def mean(self, embeddings: Tensor, batch: Batch) -> Tensor:
        """Return the mean embedding of each sentence, (B, dim); zero for an empty sentence."""
        ids = batch.ids
        if self.training and (self._dropout or self._word_dropout):
            embeddings = self(embeddings, batch)  # (N, dim): every occurrence of a word has its own mask
            ids = torch.arange(len(ids), device=ids.device)
        sums = bag_sum(embeddings, ids, batch.offsets, batch.counts)  # (B, dim)
        return sums / batch.lengths.clamp(min=1).unsqueeze(1)
