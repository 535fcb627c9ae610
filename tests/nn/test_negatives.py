"""Negatives and mismatched pairs by brute force."""

import numpy as np
import pytest
import torch

from paraphrastic.models.ldc import Config
from paraphrastic.nn.negatives import choose_negatives, mismatched_pairs, negative_mask
from tests.helpers.ldc import LDC, pair_batch
from tests.helpers.pair_equations import naive_mask


@pytest.mark.parametrize("negatives", ["max", "mix", "random"])
def test_negatives_in_batches_with_copies(negatives):
    random = np.random.default_rng(1)
    for _ in range(200):
        pairs = int(random.integers(2, 9))
        ids, groups = random.integers(0, 6, 2 * pairs), random.integers(0, 4, pairs)
        mask = negative_mask(torch.from_numpy(ids), torch.from_numpy(groups))
        np.testing.assert_array_equal(mask.numpy(), naive_mask(ids, groups))
        similarities = torch.randn(2 * pairs, 2 * pairs)
        chosen = choose_negatives(similarities, mask, negatives, random).numpy()
        for k in np.flatnonzero(~mask.all(1).numpy()):
            assert not mask[k, chosen[k]]
            if negatives == "max":
                allowed = np.where(mask[k].numpy(), -np.inf, similarities[k].numpy())
                assert allowed[chosen[k]] == allowed.max()


def test_distribution_of_random_and_mixed_negatives():
    similarities = torch.tensor([[0.0, 0.1, 0.9, 0.2, 0.3, 0.4]] * 6)
    mask = torch.zeros(6, 6, dtype=torch.bool)
    mask[:, 1] = True
    rng = np.random.default_rng(2)

    def draw(negatives):
        return np.concatenate([choose_negatives(similarities, mask, negatives, rng).numpy() for _ in range(2000)])

    random = draw("random")
    shares = np.bincount(random, minlength=6) / len(random)
    np.testing.assert_allclose(shares, [0.2, 0, 0.2, 0.2, 0.2, 0.2], atol=0.02)
    assert np.mean(draw("mix") == 2) == pytest.approx(0.5 + 0.5 * 0.2, abs=0.02)


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
    # more partners than exist
    pairs = mismatches([[0], [1], [2], [3]], torch.eye(4), negatives="random", negatives_per_sentence=9)
    assert sorted(pairs) == [(0, 1), (0, 3), (0, 3), (1, 0), (1, 2), (1, 2), (2, 3), (3, 2)]
