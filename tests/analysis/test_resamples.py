"""Bootstrap replicates of the main metrics of a run."""

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import pearsonr, spearmanr

from paraphrastic.analysis import analysis
from paraphrastic.analysis.artifacts import Artifacts
from paraphrastic.analysis.resamples import REPLICATES, of_predictions
from paraphrastic.base.errors import DataError
from paraphrastic.base.tables import SCORES, write_table
from paraphrastic.evaluation.metrics import average_precision_and_reciprocal_rank
from paraphrastic.finetuning.tasks import predictions
from tests.helpers.score_tables import GOLD, score_table

RNG = np.random.default_rng(1)
SCORE = GOLD + RNG.normal(size=200)
TIES = np.round(SCORE)
QUESTION = np.repeat(np.arange(50), 4)
CORRECT = (RNG.random(200) < 0.5).astype(float)


def resamples_of(folder, tables):
    write_table(pa.concat_tables(tables), folder / "scores.parquet", SCORES)
    return analysis("resamples")(Artifacts(folder))


def drawn(name, n):
    """Return the items of each replicate, (REPLICATES, n)."""
    return (np.random.PCG64([n, *name.encode()]).random_raw(REPLICATES * n) % n).reshape(REPLICATES, n).astype(int)


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    words = ("words.simlex", "words.wordsim", "words.wordsim-relatedness", "words.wordsim-similarity")
    sets = ("sts.2012.MSRpar", "sts.2016.headlines", "sts.2016.postediting", "sick.relatedness")
    split = ["train", "test"] * 100
    tables = [
        *(score_table(name, "similarity", GOLD, TIES if name in words else SCORE) for name in (*words, *sets)),
        score_table("qa.wikiqa", "ranking", CORRECT, SCORE, question=QUESTION.tolist()),
        score_table("paraphrase.msrp", "labelled_pairs", (GOLD > 0).astype(float), SCORE, split=split),
    ]
    return resamples_of(tmp_path_factory.mktemp("run"), tables)


def test_a_column_for_each_main_metric_that_the_scores_have(table):
    own = ["sts.2016", "sick.pearson", "qa.wikiqa.map", "paraphrase.msrp.accuracy", "words.simlex", "words.wordsim"]
    assert list(table.columns) == ["transfer.mean", *own]
    assert len(table) == REPLICATES == 1000


def test_replicates_are_metrics_of_drawn_pairs(table):
    def mean_over(*names):
        r = [[pearsonr(GOLD[rows], SCORE[rows]).statistic for rows in drawn(name, 200)[:50]] for name in names]
        return 100 * np.mean(r, axis=0)

    expected = {
        "transfer.mean": mean_over("sts.2012.MSRpar", "sick.relatedness"),
        "sts.2016": mean_over("sts.2016.headlines", "sts.2016.postediting"),
        "words.wordsim": [
            100 * spearmanr(GOLD[rows], TIES[rows]).statistic for rows in drawn("words.wordsim", 200)[:50]
        ],
    }
    for key, values in expected.items():
        np.testing.assert_allclose(table[key][:50], values, atol=0.0051)


def test_replicates_of_a_ranking_draw_questions_and_those_of_an_accuracy_rows(table):
    precision = average_precision_and_reciprocal_rank(QUESTION, CORRECT, SCORE)[0]
    expected = 100 * precision[drawn("qa.wikiqa", len(precision))].mean(axis=1)
    np.testing.assert_allclose(table["qa.wikiqa.map"], expected, atol=0.0051)
    accuracy = table["paraphrase.msrp.accuracy"] / 100
    assert (accuracy * 100).round(9).isin(range(101)).all()  # of 100 test rows
    assert accuracy.std() == pytest.approx(np.sqrt(accuracy.mean() * (1 - accuracy.mean()) / 100), rel=0.1)


def test_two_runs_have_the_same_pairs_in_a_replicate(tmp_path):
    first, second, other = (
        resamples_of(tmp_path / name, [score_table("sick.relatedness", "similarity", GOLD, score)])["sick.pearson"]
        for name, score in (("a", SCORE), ("b", 3 * SCORE + 1), ("c", SCORE + 0.3 * RNG.normal(size=200)))
    )
    assert first.equals(second)
    assert (other - first).std() < 0.7 * first.std()
    assert first.std() == pytest.approx(100 * (1 - (first.mean() / 100) ** 2) / np.sqrt(200), rel=0.15)


def test_replicates_of_the_sample_are_around_its_metrics(tmp_path):
    names = ("sample.typos", "sample.roles", "sample.words")
    table = resamples_of(tmp_path, [score_table(name, "similarity", GOLD, SCORE) for name in names])
    assert list(table.columns) == ["sample.sts.mean", "sample.words"]
    assert table["sample.sts.mean"].mean() == pytest.approx(100 * pearsonr(GOLD, SCORE).statistic, abs=0.5)


def both_splits(kind, gold, predicted, question=None):
    """Return predictions for rows that are those of `dev` and of `test`."""
    return pa.concat_tables(predictions(kind, split, gold, predicted, question) for split in ("dev", "test"))


def test_replicates_of_a_task():
    table = of_predictions("sts", both_splits("similarity", GOLD, SCORE))
    expected = [
        [pearsonr(GOLD[n], SCORE[n]).statistic for n in drawn(f"sts.{part}", 200)[:20]] for part in ("dev", "test")
    ]
    assert list(table.columns) == ["dev.pearson", "test.pearson"]
    np.testing.assert_allclose(table[:20].T, 100 * np.array(expected), atol=0.0051)


def test_replicates_of_a_task_of_questions():
    table = of_predictions("qa", both_splits("ranking", CORRECT, SCORE, QUESTION))
    assert list(table.columns) == ["dev.map", "dev.mrr", "test.map", "test.mrr"]
    both = average_precision_and_reciprocal_rank(QUESTION, CORRECT, SCORE.astype(np.float32))
    expected = [100 * values[drawn("qa.test", len(values))].mean(axis=1) for values in both]
    np.testing.assert_allclose(table[["test.map", "test.mrr"]].T, expected, atol=0.0051)


@pytest.mark.parametrize("kind", ["labelled_pairs", "labelled_sentences", "tagged_tokens"])
def test_replicates_of_a_task_of_labels(kind):
    gold, predicted = (RNG.integers(0, 3, 200) for _ in range(2))
    table = of_predictions("sst", both_splits(kind, gold, predicted))
    assert list(table.columns) == ["dev.accuracy", "test.accuracy"]
    correct = gold == predicted
    np.testing.assert_allclose(table["test.accuracy"], 100 * correct[drawn("sst.test", 200)].mean(axis=1))


def test_scores_without_a_main_metric(tmp_path):
    constant = score_table("sick.relatedness", "similarity", np.ones(9), np.arange(9.0))
    with pytest.raises(DataError, match=r"scores\.parquet: no main metric; choose `benchmarks: sample` or `open`"):
        resamples_of(tmp_path, [constant, score_table("own.sts", "similarity", GOLD, SCORE)])
