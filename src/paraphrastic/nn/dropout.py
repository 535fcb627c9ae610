"""Dropout that does not depend on how a mini-batch is divided over processes.

Every process draws the noise of the whole mini-batch from the same seed, and uses that of its own words or sentences.
"""

from torch import Tensor
from torch.nn.functional import dropout

from paraphrastic.nn.batch import Batch


def word_dropout_mask(batch: Batch, like: Tensor, columns: int, probability: float) -> Tensor:
    """Return what the embeddings of the ids of a batch are multiplied by in training, (N, columns).

    Args:
        batch: N ids in reading order.
        like: has the device and the data type of the result.
        columns: size of an embedding, or 1 for a number for each embedding as a whole.
        probability: of 0; other numbers are 1 / (1 − probability).
    """
    share = batch.share
    return dropout(like.new_ones(share.ids, columns), probability)[share.first_id : share.first_id + len(batch.ids)]


def sentence_dropout(vectors: Tensor, batch: Batch, probability: float) -> Tensor:
    """Return the vectors of the sentences of a batch, (B, dim), after dropout of their elements in training."""
    share = batch.share
    ones = vectors.new_ones(share.sentences, vectors.shape[1])
    return vectors * dropout(ones, probability)[share.first_sentence : share.first_sentence + len(batch)]
