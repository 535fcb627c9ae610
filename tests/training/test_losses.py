"""The losses on numbers worked by hand and sentence by sentence; negatives and mismatched pairs by brute force."""

import numpy as np
import pytest
import torch

from paraphrastic.models.ldc import Config
from paraphrastic.training.losses import choose_negatives, infonce_loss, margin_loss, mismatched_pairs, negative_mask
from tests.helpers.ldc import LDC, pair_batch


def random_generator():
    return np.random.Generator(np.random.PCG64(5))


def unit_vectors(*degrees):
    angles = np.deg2rad(degrees)
    return torch.tensor(np.stack([np.cos(angles), np.sin(angles)], 1))


def naive_mask(ids, groups):
    """Return the mask sentence by sentence: copies of k, the group of k, and partners of copies of k are excluded."""
    pairs = len(groups)
    partner = {k: (k + pairs) % (2 * pairs) for k in range(2 * pairs)}
    return np.array(
        [
            [ids[k] == ids[n] or groups[k % pairs] == groups[n % pairs] or ids[partner[n]] == ids[k] for n in partner]
            for k in partner
        ]
    )


@pytest.mark.parametrize("margin", [0.4, 0.9])
def test_margin_loss_of_two_pairs(margin):
    # First sentences at 0° and 90°, second sentences at 60° and 120°; their lengths must not matter.
    vectors = unit_vectors(0, 90, 60, 120) * torch.tensor([[1.0], [2.0], [3.0], [4.0]])
    mask = negative_mask(torch.tensor([0, 1, 2, 3]), torch.tensor([0, 1]))
    loss = margin_loss(vectors, mask, margin, "max", random_generator())
    cos = {degrees: np.cos(np.deg2rad(degrees)) for degrees in (0, 30, 60, 90, 120)}
    # Pair 1: the negative of s1 = 0° is 90°, because 60° is its own partner; the negative of s2 = 60° is 90°.
    first = max(0, margin - cos[60] + cos[90]) + max(0, margin - cos[60] + cos[30])
    # Pair 2: the negative of s1 = 90° is 60°; the negative of s2 = 120° is 60°.
    second = max(0, margin - cos[30] + cos[30]) + max(0, margin - cos[30] + cos[60])
    assert float(loss) == pytest.approx((first + second) / 2)


@pytest.mark.parametrize(("ids", "groups"), [([0, 1], [0]), ([0, 1, 2, 3], [7, 7])], ids=["one pair", "one group"])
@pytest.mark.parametrize("is_margin", [True, False])
def test_losses_without_allowed_negatives(is_margin, ids, groups):
    vectors = torch.randn(len(ids), 3, requires_grad=True)
    mask = negative_mask(torch.tensor(ids), torch.tensor(groups))
    hinges = vectors, mask, 0.4, "max", random_generator()
    loss = margin_loss(*hinges) if is_margin else infonce_loss(vectors, mask, 0.05)
    assert float(loss.detach()) == 0
    loss.backward()
    assert not vectors.grad.any()


@pytest.mark.parametrize("temperature", [0.05, 1.0])
def test_infonce_sentence_by_sentence(temperature):
    random = np.random.default_rng(3)
    ids, groups = np.array([0, 1, 2, 3, 4, 5, 0, 7, 8, 9]), np.array([0, 1, 1, 2, 3])  # a copy, and pairs of one group
    vectors = random.normal(size=(10, 4))
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    mask, losses = naive_mask(ids, groups), []
    for k in range(10):
        partner = (k + 5) % 10
        scores = {t: unit[k] @ unit[t] / temperature for t in range(10) if t == partner or not mask[k, t]}
        losses.append(np.log(sum(map(np.exp, scores.values()))) - scores[partner])
    loss = infonce_loss(torch.from_numpy(vectors), torch.from_numpy(mask), temperature)
    assert float(loss) == pytest.approx(np.mean(losses), rel=1e-9)


@pytest.mark.parametrize("negatives", ["max", "mix", "random"])
def test_losses_of_parts_of_a_batch_add_up(negatives):
    ids, groups = torch.tensor([0, 1, 2, 3, 4, 5, 0, 7, 8, 9]), torch.tensor([0, 1, 1, 2, 3])
    vectors = torch.randn(10, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(3))

    def losses(own):
        mask = negative_mask(ids, groups, own)
        hinges = margin_loss(vectors, mask, 0.9, negatives, random_generator(), own)
        return torch.stack([hinges, infonce_loss(vectors, mask, 0.1, own)])

    parts = [losses(own) for own in (slice(0, 3), slice(3, 4), slice(4, 4), slice(4, 10))]
    torch.testing.assert_close(sum(parts), losses(slice(None)))


def test_gradient_of_margin_loss_against_finite_differences_and_of_zero_vectors():
    zeros, mask = torch.zeros(4, 3, requires_grad=True), negative_mask(torch.arange(4), torch.arange(2))
    loss = margin_loss(zeros, mask, 0.4, "max", random_generator())
    loss.backward()
    assert float(loss.detach()) == pytest.approx(0.8)
    assert torch.isfinite(zeros.grad).all()
    vectors = torch.randn(8, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0), requires_grad=True)
    mask = negative_mask(torch.arange(8), torch.arange(4))
    assert torch.autograd.gradcheck(lambda v: margin_loss(v, mask, 0.9, "max", random_generator()), [vectors])


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
