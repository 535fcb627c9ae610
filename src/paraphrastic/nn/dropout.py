"""Dropout that depends neither on how a mini-batch is divided over processes nor on the device.

Every process draws the noise of the whole mini-batch from the same seed, and uses that of its own words or sentences.
Noise is drawn on the CPU, as all random numbers are, so that every device trains the same model.
"""

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn.functional import dropout

from paraphrastic.nn.batch import Batch


def dropout_mask(shape: Sequence[int], like: Tensor, probability: float) -> Tensor:
    """Return what values are multiplied by in training.

    Args:
        shape: of the result.
        like: has the device and the data type of the result.
        probability: of 0; other numbers are 1 / (1 − probability).
    """
    return dropout(torch.ones(*shape, dtype=like.dtype), probability).to(like.device, non_blocking=True)


def word_dropout_mask(batch: Batch, like: Tensor, columns: int, probability: float) -> Tensor:
    """Return what the embeddings of the ids of a batch are multiplied by in training, (N, columns).

    Args:
        batch: N ids in reading order.
        like: has the device and the data type of the result.
        columns: size of an embedding, or 1 for a number for each embedding as a whole.
        probability: of 0.
    """
    share = batch.share
    mask = dropout_mask((share.ids, columns), like, probability)
    return mask[share.first_id : share.first_id + len(batch.ids)]


def sentence_dropout(vectors: Tensor, batch: Batch, probability: float) -> Tensor:
    """Return the vectors of the sentences of a batch, (B, dim), after dropout of their elements in training."""
    share = batch.share
    mask = dropout_mask((share.sentences, vectors.shape[1]), vectors, probability)
    return vectors * mask[share.first_sentence : share.first_sentence + len(batch)]
