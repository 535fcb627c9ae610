"""Comparison of stored scores, set by set."""

import json

import numpy as np
import pyarrow as pa
import pytest

from paraphrastic.analysis.comparison.by_set import by_set, compare
from paraphrastic.analysis.comparison.formats import as_json
from paraphrastic.base.errors import DataError
from paraphrastic.evaluation.suite import Benchmarks, evaluate
from tests.helpers.benchmark_tables import DifferenceScorer, write_benchmarks
from tests.helpers.score_tables import GOLD, noisy_run, score_table


def test_metrics_against_evaluation(tmp_path):
    results = evaluate(Benchmarks.load(write_benchmarks(tmp_path)), DifferenceScorer())
    scores = by_set(results.scores)
    rows = {row.name: row for row in compare([scores], [scores], samples=50).rows}
    for evaluated in results.sets:
        row = rows[evaluated["set"]]
        assert 100 * row.a.points[0] == pytest.approx(evaluated[row.metric], abs=0.006)
    assert rows["sts.2012.MSRpar"].metric == "pearson"
    assert rows["qa.wikiqa"].metric == "map"
    assert rows["paraphrase.msrp"].metric == "accuracy"
    assert rows["words.simlex"].metric == "spearman"


def test_model_compared_with_itself():
    run = noisy_run(1.0, 1)
    for row in compare([run], [run], samples=100).rows:
        assert row.change == (0, 0, 0, 1)
        assert not row.is_significant
    worse, better = noisy_run(1.5, 1), noisy_run(0.5, 2)
    rows = compare([worse], [better], samples=300).rows
    assert rows[0].name == "mean of 2 sets"
    assert rows[0].change.value == pytest.approx(np.mean([row.change.value for row in rows[1:3]]))
    assert all(row.is_significant and row.change.low > 0 for row in rows)
    assert all(row.williams.p < 0.001 and row.williams.t > 0 for row in rows[1:])
    assert all(row.is_significant and row.change.high < 0 for row in compare([better], [worse], samples=300).rows)


def equal_runs(rng, runs, sets, of_seed=0.0):
    """Return the scores of runs that differ only in their noise; every set has its own gold scores.

    `of_seed` is the standard deviation, over runs, of the logarithm of the size of the noise.
    """
    gold = {f"sts.2012.{n}": rng.normal(size=200) for n in range(sets)}
    sizes = (np.exp(of_seed * rng.normal()) for _ in range(runs * sets))
    noisy = ((name, scores + next(sizes) * rng.normal(size=200)) for _ in range(runs) for name, scores in gold.items())
    tables = [score_table(name, "similarity", gold[name], score) for name, score in noisy]
    return [by_set(pa.concat_tables(tables[first : first + sets])) for first in range(0, runs * sets, sets)]


@pytest.mark.slow
@pytest.mark.parametrize(("seeds", "of_seed"), [(1, 0), (3, 0.15)])
def test_significance_of_equal_models(seeds, of_seed):
    runs = equal_runs(np.random.default_rng(seeds), 2 * seeds, 400, of_seed)
    rows = compare(runs[:seeds], runs[seeds:], samples=400).rows[1:]
    assert 0.03 <= np.mean([row.change.p < 0.05 for row in rows]) <= 0.075
    assert 0.03 <= np.mean([not row.change.low <= 0 <= row.change.high for row in rows]) <= 0.075
    assert not any(row.is_significant for row in rows)  # p is corrected over 400 sets


@pytest.mark.slow
def test_significance_of_means_of_equal_models():
    rng = np.random.default_rng(0)
    rows = [compare(*([run] for run in equal_runs(rng, 2, 3)), samples=400).rows[0] for _ in range(300)]
    assert rows[0].name == "mean of 3 sets"
    assert 0.025 <= np.mean([row.is_significant for row in rows]) <= 0.08


def test_labels_that_a_classifier_finds():
    label, rng = np.tile([0.0, 1.0, 2.0], 100), np.random.default_rng(1)
    worse, better = (
        np.repeat([1.0, share, 0.0], [first, 50, 250 - first]) for first, share in ((140, 0.2), (180, 0.4))
    )
    order = rng.permutation(300)
    a, b = (
        {name: score_table(name, "labelled_sentences", label, values[order]) for name in ("features.CR", "features.MR")}
        for values in (worse, better)
    )
    mean, row, _ = compare([a], [b], samples=300).rows
    assert (row.name, row.metric, row.n, row.williams) == ("features.CR", "accuracy", 300, None)
    assert (row.a.points[0], row.b.points[0]) == pytest.approx((150 / 300, 200 / 300))
    assert row.is_significant
    assert (mean.name, mean.metric, mean.n) == ("mean of 2 sets", "accuracy", 2)
    assert mean.change.value == pytest.approx(50 / 300)
    with pytest.raises(DataError, match=r"features\.CR: the runs have different pairs"):
        compare([a], [b | {"features.CR": score_table("features.CR", "labelled_sentences", label[::-1], worse)}])


def test_pair_at_the_threshold_is_predicted_as_a_paraphrase():
    label, scores = np.array([0, 1, 1, 0]), np.array([1.0, 2.0, 1.5, 1.5])  # the threshold of the first two is 1.5
    table = score_table("own.class", "labelled_pairs", label, scores, split=["train", "train", "test", "test"])
    (row,) = compare([{"own.class": table}], [{"own.class": table}], samples=5).rows
    assert (row.n, row.a.points.tolist()) == (2, [0.5])


def test_mean_of_several_seeds():
    a, b = [noisy_run(1.0, seed) for seed in (1, 2, 3)], [noisy_run(1.0, 4)]
    row = next(row for row in compare(a, b, samples=50).rows if row.name == "sts.2013.FNWN")
    assert len(row.a) == 3
    assert row.change.value == pytest.approx(row.b.points[0] - row.a.points.mean())
    assert row.williams is None
    assert row.change.p < row.p <= 1  # corrected over the sets


def test_sets_whose_judgements_define_no_metric():
    scores, constant, label = np.arange(4.0), np.full(4, 2.0), np.array([1, 0, 1, 1])
    run = {
        "own.equal": score_table("own.equal", "similarity", constant, scores),
        "own.one": score_table("own.one", "similarity", constant[:1], scores[:1]),
        "own.class": score_table("own.class", "labelled_pairs", label, scores, split=["test", "train", "test", "test"]),
        "qa.wikiqa": score_table("qa.wikiqa", "ranking", np.zeros(4), scores, question=[0, 0, 1, 1]),
        "sts.2012.MSRpar": score_table("sts.2012.MSRpar", "similarity", 1e160 * scores, 1e30 * scores),
    }
    comparison = compare([run], [run], samples=50)
    assert [(row.name, row.a.points.round(12).tolist()) for row in comparison.rows] == [("sts.2012.MSRpar", [1.0])]
    assert comparison.undefined.keys() == {"own.equal", "own.one", "own.class", "qa.wikiqa"}
    assert all(reason.startswith("not defined: ") for reason in comparison.undefined.values())
    assert comparison.left_out == []
    content = json.loads(as_json(comparison), parse_constant=pytest.fail)
    assert content["not_defined"] == comparison.undefined
    del run["sts.2012.MSRpar"]
    with pytest.raises(DataError, match=r"own\.class: not defined: all .* are equal; .*own\.one: not defined: fewer"):
        compare([run], [run], samples=50)


def test_sets_missing_in_some_runs():
    other = noisy_run(1.0, 2, ("sts.2012.MSRpar", "words.wordsim"))
    comparison = compare([noisy_run(1.0, 1)], [other], samples=50)
    assert [row.name for row in comparison.rows] == ["sts.2012.MSRpar"]
    assert comparison.left_out == ["sts.2013.FNWN", "words.simlex", "words.wordsim"]
    with pytest.raises(DataError, match=r"^no evaluation set is in all runs: evaluate all with the same `benchmarks`$"):
        compare([noisy_run(1.0, 1, ("a.b",))], [noisy_run(1.0, 1, ("c.d",))])


def test_runs_with_different_pairs_and_scores_that_are_not_finite():
    other = {"a.b": score_table("a.b", "similarity", GOLD[::-1], GOLD)}
    with pytest.raises(DataError, match=r"a\.b: the runs have different pairs"):
        compare([noisy_run(1.0, 1, ("a.b",))], [other])
    with pytest.raises(DataError, match=r"^scores.parquet: a score is not finite; run `dvc repro evaluate` again$"):
        by_set(score_table("own.one", "similarity", np.arange(3.0), np.array([1, np.nan, 2])))
