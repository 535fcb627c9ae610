"""Mismatched pairs of a mini-batch, worked by hand."""

import numpy as np
import torch

from paraphrastic.models.ldc import Config
from paraphrastic.training.losses import mismatched_pairs
from tests.helpers.ldc import LDC, pair_batch

# Sentences 0 and 2, and 1 and 3, are paraphrases.
MASK = torch.eye(4, dtype=torch.bool) | torch.eye(4, dtype=torch.bool).roll(2, 1)


def mismatches(sentences, embeddings, **options):
    batch, *_ = pair_batch([], sentences, torch.float32)
    pairs = mismatched_pairs(embeddings, batch, MASK, Config(**LDC | options), np.random.default_rng(1))
    return list(zip(*pairs.tolist(), strict=True))


def test_most_similar_partners():
    # One common word of two gives a cosine of one half. Sentence 1 shares no word with 0 and 2 and gets the first of
    # them. Sentences 2 and 3 are second sentences of their pairs, and stay on the right.
    pairs = mismatches([[0, 1], [2, 3], [0, 4], [0, 3]], torch.eye(6), negatives="max")
    assert pairs == [(0, 3), (1, 0), (3, 2), (0, 3)]


def test_more_partners_asked_for_than_exist():
    pairs = mismatches([[0], [1], [2], [3]], torch.eye(4), negatives="random", negatives_per_sentence=9)
    assert sorted(pairs) == [(0, 1), (0, 3), (0, 3), (1, 0), (1, 2), (1, 2), (2, 3), (3, 2)]
