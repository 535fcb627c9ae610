"""Mini-batches of pairs and of other examples."""

import numpy as np
import pytest

from paraphrastic.training import batches as module
from paraphrastic.training.batches import epoch_batches, shuffled_batches, weighted_rows


@pytest.mark.parametrize("sampling", ["mixed", "source", "blocks"])
def test_batches_of_one_epoch(sampling):
    sources = np.repeat([0, 1, 2], [25, 7, 1])
    batches, other_seed = (epoch_batches(sources, 4, sampling, np.random.default_rng(seed)) for seed in (5, 9))
    assert sorted(np.concatenate(batches).tolist()) == list(range(33))
    assert max(map(len, batches)) == 4
    one_source = all(len(set(sources[batch])) == 1 for batch in batches)
    assert one_source == (sampling == "source")
    assert [batch.tolist() for batch in batches] != [batch.tolist() for batch in other_seed]


def test_batches_of_all_sources_take_turns():
    sources = np.repeat([0, 1, 2], 400)
    order = [sources[batch[0]] for batch in epoch_batches(sources, 4, "source", np.random.default_rng(5))]
    changes = np.count_nonzero(np.diff(order))
    assert changes == pytest.approx(2 / 3 * 299, abs=30)  # two of three neighbours have another source


@pytest.mark.parametrize("count", [0, 1, 5, 100, 1003])
def test_adjacent_batches_from_few_blocks(count, monkeypatch):
    monkeypatch.setattr(module, "_BLOCK", 10)
    monkeypatch.setattr(module, "_TOGETHER", 4)
    batches = epoch_batches(np.zeros(count, int), 5, "blocks", np.random.default_rng(3))
    order = np.concatenate([np.zeros(0, int), *batches])
    assert sorted(order.tolist()) == list(range(count))
    if count == 100:
        parts = [order[:40], order[40:80], order[80:]]
        assert [len(np.unique(part // 10)) for part in parts] == [4, 4, 2]
        assert all(np.any(np.diff(part // 10, n=2)) for part in parts)  # the rows of several blocks are mixed
        assert (
            order.tolist() != epoch_batches(np.zeros(count, int), 100, "blocks", np.random.default_rng(4))[0].tolist()
        )


@pytest.mark.parametrize("sampling", ["mixed", "source", "blocks"])
def test_batches_in_order(sampling):
    batches = epoch_batches(np.repeat([0, 1], 25), 10, sampling, np.random.default_rng(0), in_order=True)
    assert np.concatenate(batches).tolist() == list(range(50))


def test_batches_in_order_of_sources_that_alternate():
    batches = epoch_batches(np.tile([0, 1], 100), 10, "source", np.random.default_rng(0), in_order=True)
    assert np.concatenate(batches).tolist() == [*range(0, 200, 2), *range(1, 200, 2)]


@pytest.mark.parametrize("sampling", ["mixed", "source"])
def test_no_batches_of_no_pairs(sampling):
    assert epoch_batches(np.zeros(0, int), 4, sampling, np.random.default_rng(0)) == []


def test_rows_by_weights_of_their_sources():
    sources = np.repeat([0, 1, 2, 3], [10, 5, 4, 3])
    rows, other_epoch = (weighted_rows(sources, np.array([0.5, 2, 0, 1.7]), np.random.default_rng(n)) for n in (1, 2))
    counts = np.bincount(rows, minlength=22)
    assert sorted(counts[:10]) == [0] * 5 + [1] * 5
    assert counts[10:19].tolist() == [2] * 5 + [0] * 4
    assert sorted(counts[19:]) == [1, 2, 2]
    assert (np.diff(rows[:13]) > 0).all()  # of those that occur, in the order of the file
    assert len(rows) == len(other_epoch)
    assert rows.tolist() != other_epoch.tolist()


def test_shuffled_batches_of_one_epoch():
    batches = shuffled_batches(10, 4, np.random.default_rng(0))
    assert [len(batch) for batch in batches] == [4, 4, 2]
    assert sorted(np.concatenate(batches).tolist()) == list(range(10))
    mixed = epoch_batches(np.zeros(10, int), 4, "mixed", np.random.default_rng(0))
    assert [batch.tolist() for batch in batches] == [batch.tolist() for batch in mixed]
