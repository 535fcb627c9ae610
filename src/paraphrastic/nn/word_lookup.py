"""Word embeddings of a batch, with dropout in training."""

import torch
from torch import Tensor, nn

from paraphrastic.nn.batch import Batch
from paraphrastic.nn.dropout import word_dropout_mask
from paraphrastic.nn.kernels.bag_sum import bag_sum


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
        vectors = embeddings.index_select(0, batch.ids if order is None else batch.ids[order])
        for probability, columns in ((self._word_dropout, 1), (self._dropout, vectors.shape[1])):
            if self.training and probability:
                mask = word_dropout_mask(batch, vectors, columns, probability)
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
