"""Mini-batches of pairs and of other examples."""

import numpy as np
import pytest

from paraphrastic.training.batches import epoch_batches, shuffled_batches


@pytest.mark.parametrize("sampling", ["mixed", "source"])
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


@pytest.mark.parametrize("sampling", ["mixed", "source"])
def test_batches_in_order(sampling):
    batches = epoch_batches(np.repeat([0, 1], 25), 10, sampling, np.random.default_rng(0), in_order=True)
    assert np.concatenate(batches).tolist() == list(range(50))


def test_shuffled_batches_of_one_epoch():
    batches = shuffled_batches(10, 4, np.random.default_rng(0))
    assert [len(batch) for batch in batches] == [4, 4, 2]
    assert sorted(np.concatenate(batches).tolist()) == list(range(10))
    mixed = epoch_batches(np.zeros(10, int), 4, "mixed", np.random.default_rng(0))
    assert [batch.tolist() for batch in batches] == [batch.tolist() for batch in mixed]
