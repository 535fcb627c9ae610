"""The margin loss on numbers worked by hand, and its negatives against a search by brute force."""

import numpy as np
import pytest
import torch

from paraphrastic.training.batches import epoch_batches
from paraphrastic.training.losses import choose_negatives, margin_loss, negative_mask


def generator():
    return np.random.Generator(np.random.PCG64(5))


def unit(*degrees):
    angles = np.deg2rad(degrees)
    return torch.tensor(np.stack([np.cos(angles), np.sin(angles)], 1))


def brute_force(ids, groups):
    """A negative of k is allowed unless it is a copy of k, of k's group, or paired with a copy of k."""
    pairs = len(groups)
    partner = {k: (k + pairs) % (2 * pairs) for k in range(2 * pairs)}
    return np.array(
        [
            [ids[k] == ids[n] or groups[k % pairs] == groups[n % pairs] or ids[partner[n]] == ids[k] for n in partner]
            for k in partner
        ]
    )


def test_loss_of_two_pairs_worked_by_hand():
    # left sides at 0° and 90°, right sides at 60° and 120°; scaling must not matter
    vectors = unit(0, 90, 60, 120) * torch.tensor([[1.0], [2.0], [3.0], [4.0]])
    mask = negative_mask(torch.tensor([0, 1, 2, 3]), torch.tensor([0, 1]))
    loss = margin_loss(vectors, mask, 0.4, "max", generator())
    cos = {d: np.cos(np.deg2rad(d)) for d in (0, 30, 60, 90, 120)}
    # pair 1: s1 = 0°, its nearest other is 90° (60° is its own pair); s2 = 60°, nearest other is 90°
    first = max(0, 0.4 - cos[60] + cos[90]) + max(0, 0.4 - cos[60] + cos[30])
    # pair 2: s1 = 90°, nearest other is 60°; s2 = 120°, nearest other is 60°
    second = max(0, 0.4 - cos[30] + cos[30]) + max(0, 0.4 - cos[30] + cos[60])
    assert float(loss) == pytest.approx((first + second) / 2)


def test_no_negative_means_no_hinge():
    """A leftover batch of one pair has nothing to tell from; neither has a batch of one group."""
    for ids, groups in ([[0, 1], [0]], [[0, 1, 2, 3], [7, 7]]):
        vectors = torch.randn(len(ids), 3, requires_grad=True)
        loss = margin_loss(vectors, negative_mask(torch.tensor(ids), torch.tensor(groups)), 0.4, "max", generator())
        assert float(loss.detach()) == 0
        loss.backward()
        assert not vectors.grad.any()


def test_zero_vectors_give_finite_loss_and_gradient():
    vectors = torch.zeros(4, 3, requires_grad=True)
    loss = margin_loss(vectors, negative_mask(torch.arange(4), torch.arange(2)), 0.4, "max", generator())
    loss.backward()
    assert float(loss.detach()) == pytest.approx(0.8)
    assert torch.isfinite(vectors.grad).all()


def test_gradient_flows_through_the_similarities_only():
    torch.manual_seed(0)
    vectors = torch.randn(8, 3, dtype=torch.float64, requires_grad=True)
    mask = negative_mask(torch.arange(8), torch.arange(4))
    assert torch.autograd.gradcheck(lambda v: margin_loss(v, mask, 0.9, "max", generator()), [vectors])


@pytest.mark.parametrize("how", ["max", "mix", "random"])
def test_negatives_are_never_forbidden_even_with_copies_in_the_batch(how):
    rng = np.random.default_rng(1)
    for _ in range(200):
        pairs = int(rng.integers(2, 9))
        ids, groups = rng.integers(0, 6, 2 * pairs), rng.integers(0, 4, pairs)
        mask = negative_mask(torch.from_numpy(ids), torch.from_numpy(groups))
        np.testing.assert_array_equal(mask.numpy(), brute_force(ids, groups))
        similarities = torch.randn(2 * pairs, 2 * pairs)
        chosen = choose_negatives(similarities, mask, how, rng).numpy()
        for k in np.flatnonzero(~mask.all(1).numpy()):
            assert not mask[k, chosen[k]]
            if how == "max":
                allowed = np.where(mask[k].numpy(), -np.inf, similarities[k].numpy())
                assert allowed[chosen[k]] == allowed.max()


def test_random_negatives_are_uniform_and_mix_takes_the_hardest_half_of_the_time():
    similarities = torch.tensor([[0.0, 0.1, 0.9, 0.2, 0.3, 0.4]] * 6)
    mask = torch.zeros(6, 6, dtype=torch.bool)
    mask[:, 1] = True
    rng = np.random.default_rng(2)
    drawn = np.concatenate([choose_negatives(similarities, mask, "random", rng).numpy() for _ in range(2000)])
    np.testing.assert_allclose(np.bincount(drawn, minlength=6) / len(drawn), [0.2, 0, 0.2, 0.2, 0.2, 0.2], atol=0.02)
    mixed = np.concatenate([choose_negatives(similarities, mask, "mix", rng).numpy() for _ in range(2000)])
    assert np.mean(mixed == 2) == pytest.approx(0.5 + 0.5 * 0.2, abs=0.02)


@pytest.mark.parametrize("how", ["mixed", "source"])
def test_every_pair_stands_in_one_batch_of_an_epoch(how):
    sources = np.repeat([0, 1, 2], [25, 7, 1])
    batches = epoch_batches(sources, 4, how, generator())
    assert sorted(np.concatenate(batches).tolist()) == list(range(33))
    assert max(map(len, batches)) == 4
    one_source = all(len(set(sources[batch])) == 1 for batch in batches)
    assert one_source == (how == "source")
    assert [b.tolist() for b in batches] != [
        b.tolist() for b in epoch_batches(sources, 4, how, np.random.default_rng(9))
    ]
