"""Cosines of training pairs and of their negatives, against a search by brute force."""

import numpy as np
import pytest

from paraphrastic.analysis import cosine_gap
from paraphrastic.analysis.artifacts import Artifacts
from paraphrastic.base.errors import DataError
from tests.helpers.encoder_variants import WORD
from tests.helpers.run_artifacts import write_corpus
from tests.helpers.small_models import save_encoder
from tests.helpers.toy_training import SENTENCES

# (left, right, source, group): two mini-batches, the second with two pairs of one group, and a pair without negatives
PAIRS = [
    *((2 * n, 2 * n + 1, "one", n) for n in range(8)),
    *((2 * n, 2 * n + 1, "two", max(n, 10)) for n in range(9, 14)),
    (30, 31, "three", 30),
]


def naive_cosines(vectors, pairs):
    """Return cos(g1, g2), cos(n1, g1) and cos(n2, g2) of the pairs of one mini-batch."""
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    rows = []
    for left, right, _, group in pairs:
        others = [unit[text] for pair in pairs for text in pair[:2] if pair[3] != group]
        nearest = [max(unit[side] @ other for other in others) for side in (left, right)]
        rows.append([unit[left] @ unit[right], *nearest])
    return np.array(rows)


@pytest.fixture
def artifacts(tmp_path):
    save_encoder(tmp_path / "model", "avg", WORD)
    write_corpus(tmp_path, SENTENCES.to_pylist(), PAIRS)
    return Artifacts(tmp_path)


def test_means_over_the_pairs_that_have_negatives(artifacts):
    row = cosine_gap.cosine_gap(artifacts).iloc[0]
    vectors = artifacts.encoder.encode(SENTENCES).astype(np.float64)
    of_source = [naive_cosines(vectors, [pair for pair in PAIRS if pair[2] == source]) for source in ("one", "two")]
    positive, first, second = np.concatenate(of_source).T
    gaps = 2 * positive - first - second
    expected = [13, positive.mean(), (first + second).mean() / 2, gaps.mean()]
    assert row.tolist()[:4] == pytest.approx(expected, abs=0.00011)
    assert row["gap_error"] == pytest.approx(np.sqrt(((gaps - gaps.mean()) ** 2).sum() / 12 / 13), abs=1e-5)
    assert row["gap"] == pytest.approx(2 * (row["positive"] - row["negative"]), abs=0.00021)


def test_result_does_not_depend_on_how_many_sentences_are_encoded_together(artifacts, monkeypatch):
    expected = cosine_gap.cosine_gap(artifacts)
    monkeypatch.setattr(cosine_gap, "_BATCHES", 1)
    assert cosine_gap.cosine_gap(artifacts).equals(expected)


def test_sentences_are_not_read_into_one_array_which_could_hold_2_gib(artifacts, monkeypatch):
    whole, read = [], Artifacts.read
    monkeypatch.setattr(Artifacts, "read", lambda self, *table: whole.append(table[0]) or read(self, *table))
    cosine_gap.cosine_gap(artifacts)
    assert whole == ["corpus/pairs.parquet"]


def test_negatives_come_from_mini_batches_of_a_hundred_pairs(artifacts, monkeypatch):
    assert cosine_gap.PAIRS_PER_BATCH == 100
    whole = cosine_gap.cosine_gap(artifacts).loc[0, "negative"]
    monkeypatch.setattr(cosine_gap, "PAIRS_PER_BATCH", 2)
    assert cosine_gap.cosine_gap(artifacts).loc[0, "negative"] < whole


@pytest.mark.parametrize("pairs", [[], PAIRS[-1:]])
def test_corpus_without_negatives(tmp_path, pairs):
    save_encoder(tmp_path / "model", "avg", WORD)
    write_corpus(tmp_path, SENTENCES.to_pylist(), pairs)
    with pytest.raises(DataError, match=r"corpus: .*negatives; choose another corpus"):
        cosine_gap.cosine_gap(Artifacts(tmp_path))
