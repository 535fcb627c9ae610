"""Parts of the training pairs."""

from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest

from paraphrastic.base.errors import DataError
from paraphrastic.base.tables import PAIRS
from paraphrastic.corpus.training_corpus import TrainingCorpus, take_pairs
from tests.helpers.stored_texts import listed, stored

LENGTHS = np.random.default_rng(0).integers(1, 9, 2 * 60)  # tokens of each sentence
TEXTS = [" ".join([f"w{n}"] * length) for n, length in enumerate(LENGTHS)]
TOKENS = LENGTHS[:60] + LENGTHS[60:]  # of each pair
GROUPS = np.arange(60) // 3
SOURCES = ["a"] * 40 + ["b"] * 20
ONE_SOURCE = ["a"] * 60


def corpus(sources=SOURCES):
    """Return 60 pairs; pair i has the sentences i and 60 + i."""
    columns = {"left": np.arange(60), "right": np.arange(60, 120), "source": sources, "group": GROUPS}
    return TrainingCorpus(stored(TEXTS), np.array(LENGTHS), pa.table(columns).cast(PAIRS))


def taken(sources=SOURCES, **limits):
    """Return the numbers that the pairs taken have in the whole corpus, found by their texts."""
    part = take_pairs(corpus(sources), **limits)
    texts, pairs = listed(part.sentences), part.pairs
    left, right = ([TEXTS.index(texts[row]) for row in pairs[side].to_pylist()] for side in ("left", "right"))
    assert [row + 60 for row in left] == right
    assert len(texts) == 2 * len(pairs)
    return left


@pytest.mark.parametrize("seed", [None, 1])
@pytest.mark.parametrize("limits", [{}, {"share": 1.0}, {"max_pairs": 60}, {"max_tokens": int(LENGTHS.sum())}])
def test_whole_corpus(limits, seed):
    whole = take_pairs(corpus(), **limits, seed=seed)
    assert whole.pairs.equals(corpus().pairs)
    assert listed(whole.sentences) == TEXTS
    assert whole.token_counts.tolist() == LENGTHS.tolist()


@pytest.mark.parametrize("seed", [None, 1])
def test_numbers_of_pairs(seed):
    assert [len(taken(share=share, seed=seed)) for share in (0.5, 0.25, 0.05, 0.017, 0.35)] == [30, 15, 3, 1, 21]
    assert [len(taken(max_pairs=size, seed=seed)) for size in (1, 7, 59, 61)] == [1, 7, 59, 60]
    assert len(taken(share=0.5, max_pairs=20, seed=seed)) == len(taken(share=0.25, max_pairs=15, seed=seed)) + 5 == 20


def test_halves_of_ppdb_down_to_five_pairs():
    # iclr2016 §5.2.1 divides 3,033,753 pairs by two until there are fewer than 10; one of the parts has 92 pairs
    n = 3_033_753
    columns = np.zeros(n, np.int32), np.ones(n, np.int32), pa.repeat("a", n), np.zeros(n, np.int64)
    ppdb = TrainingCorpus(stored(["x", "y"]), np.ones(2, np.int32), pa.table(columns, PAIRS.names).cast(PAIRS))
    assert [len(take_pairs(ppdb, share=0.5**k).pairs) for k in (1, 15, 19)] == [1_516_876, 92, 5]


@pytest.mark.parametrize("limit", [17, 100, 333, int(LENGTHS.sum()) - 1])
@pytest.mark.parametrize("seed", [None, 1])
def test_number_of_tokens_is_below_the_limit_by_less_than_one_pair(limit, seed):
    part = take_pairs(corpus(), max_tokens=limit, seed=seed)
    lengths = [len(text.split()) for text in listed(part.sentences)]
    tokens = [lengths[row["left"]] + lengths[row["right"]] for row in part.pairs.to_pylist()]
    assert limit - 16 < sum(tokens) <= limit
    assert part.tokens_of_pairs.tolist() == tokens
    assert part.token_counts.tolist() == lengths


def test_first_pairs_of_one_source():
    assert taken(ONE_SOURCE, max_pairs=7) == list(range(7))
    assert taken(ONE_SOURCE, max_tokens=int(TOKENS[:9].sum())) == list(range(9))
    assert taken(ONE_SOURCE, max_tokens=int(TOKENS[:9].sum()) - 1) == list(range(8))


def test_first_pairs_of_two_sources_in_proportion():
    for size in range(1, 61):
        rows = taken(max_pairs=size)
        of_a, of_b = [row for row in rows if row < 40], [row for row in rows if row >= 40]
        assert (of_a, of_b) == (list(range(len(of_a))), list(range(40, 40 + len(of_b))))
        assert len(rows) == size
        assert abs(len(of_b) - size / 3) < 0.5


def test_random_pairs_depend_on_the_seed_and_keep_their_order():
    rows = taken(max_pairs=20, seed=3)
    assert rows == taken(max_pairs=20, seed=3) == sorted(rows)
    assert rows != taken(max_pairs=20, seed=4)


def test_random_pairs_are_uniform():
    counts = np.bincount(np.concatenate([taken(max_pairs=15, seed=seed) for seed in range(400)]), minlength=60)
    assert counts.min() > 60  # 100 ± 9 expected
    assert counts.max() < 140


@pytest.mark.parametrize("seed", [None, 1])
def test_larger_part_contains_smaller_ones(seed):
    parts = [set(taken(max_pairs=size, seed=seed)) for size in range(1, 61)]
    assert all(small < large for small, large in pairwise(parts))


def test_groups_and_sources_of_the_pairs_taken():
    rows, pairs = taken(max_pairs=30, seed=1), take_pairs(corpus(), max_pairs=30, seed=1).pairs
    distinct = np.unique(GROUPS[rows])
    assert pairs["group"].to_pylist() == np.searchsorted(distinct, GROUPS[rows]).tolist()
    assert len(distinct) < 20
    assert pairs["source"].to_pylist() == [SOURCES[row] for row in rows]


@pytest.mark.parametrize("limits", [{"share": 0.01}, {"max_tokens": 1}])
def test_not_one_pair(limits):
    with pytest.raises(DataError, match=r"^params\.yaml: tokenize\.take_share = .*: not one of the 60 pairs of"):
        take_pairs(corpus(), **limits)
