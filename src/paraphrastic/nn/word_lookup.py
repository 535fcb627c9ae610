"""Word embeddings of a batch, with dropout in training."""

import torch
from torch import Tensor, nn
from torch.nn.functional import dropout

from paraphrastic.nn.batch import Batch
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

    def forward(self, embeddings: Tensor, ids: Tensor) -> Tensor:
        """Return the embeddings (N, dim) of `ids` (N,)."""
        vectors = embeddings.index_select(0, ids)
        if self._word_dropout:
            vectors = vectors * dropout(vectors.new_ones(len(ids), 1), self._word_dropout, self.training)
        return dropout(vectors, self._dropout, self.training) if self._dropout else vectors

    def mean(self, embeddings: Tensor, batch: Batch) -> Tensor:
        """Return the mean embedding of each sentence, (B, dim); zero for an empty sentence."""
        ids = batch.ids
        if self.training and (self._dropout or self._word_dropout):
            embeddings = self(embeddings, ids)  # (N, dim): every occurrence of a word has its own mask
            ids = torch.arange(len(ids), device=ids.device)
        sums = bag_sum(embeddings, ids, batch.offsets, batch.counts)  # (B, dim)
        return sums / batch.lengths.clamp(min=1).unsqueeze(1)
