"""Comparing kept scores: figures as in the evaluation, seeds together, sets that are not common named."""

import json

import numpy as np
import pyarrow as pa
import pytest

from paraphrastic.comparison.by_set import by_set, compare
from paraphrastic.comparison.report import as_json, markdown, terminal
from paraphrastic.errors import DataError
from paraphrastic.evaluation import Benchmarks, evaluate
from paraphrastic.tables import SCORES
from tests.test_evaluation import Differences, write


def table(name, kind, gold, score, split=None, question=None):
    n = len(gold)
    columns = [[name] * n, [kind] * n, split or ["test"] * n, question or [-1] * n, gold, score]
    return pa.table([pa.array(c) for c in columns], SCORES.names).cast(SCORES)


GOLD = np.random.default_rng(0).normal(size=200)


def run(noise, seed, names=("sts.2012.MSRpar", "sts.2013.FNWN", "words.simlex")):
    rng = np.random.default_rng(seed)
    return {name: table(name, "similarity", GOLD, GOLD + noise * rng.normal(size=200)) for name in names}


def test_figures_are_those_of_the_evaluation(tmp_path):
    results = evaluate(Benchmarks.load(write(tmp_path)), Differences())
    sets = by_set(results.scores)
    rows = {row.name: row for row in compare([sets], [sets], samples=50).rows}
    for line in results.sets:
        row = rows[line["set"]]
        assert 100 * row.a[0] == pytest.approx(line[row.metric], abs=0.006)
    assert rows["qa.wikiqa"].metric == "map"
    assert rows["paraphrase.msrp"].metric == "accuracy"
    assert rows["words.simlex"].metric == "spearman"


def test_a_model_does_not_differ_from_itself():
    one = run(1.0, 1)
    for row in compare([one], [one], samples=100).rows:
        assert row.change == (0, 0, 0)
        assert not row.is_real


def test_a_better_model_is_better_in_every_set_and_in_the_mean():
    rows = compare([run(1.5, 1)], [run(0.5, 2)], samples=300).rows
    assert rows[0].name == "mean of 2 sets"
    assert rows[0].change.difference == pytest.approx(np.mean([row.change.difference for row in rows[1:3]]))
    assert all(row.is_real and row.change.low > 0 for row in rows)
    assert all(row.williams.p < 0.001 and row.williams.t > 0 for row in rows[1:])


def equally_good(rng, runs, sets):
    """Scores of runs that differ in their noise alone; every set has gold scores of its own."""
    gold = {f"sts.2012.{n}": rng.normal(size=200) for n in range(sets)}
    scored = ((name, known + rng.normal(size=200)) for _ in range(runs) for name, known in gold.items())
    tables = [table(name, "similarity", gold[name], score) for name, score in scored]
    return [by_set(pa.concat_tables(tables[first : first + sets])) for first in range(0, runs * sets, sets)]


@pytest.mark.parametrize("seeds", [1, 3])
def test_seeds_of_one_configuration_differ_in_five_sets_of_a_hundred(seeds):
    runs = equally_good(np.random.default_rng(seeds), 2 * seeds, 400)
    rows = compare(runs[:seeds], runs[seeds:], samples=400).rows[1:]
    assert 0.03 <= np.mean([row.is_real for row in rows]) <= 0.075


def test_means_of_seeds_of_one_configuration_differ_five_times_in_a_hundred():
    rng = np.random.default_rng(0)
    rows = [compare(*([run] for run in equally_good(rng, 2, 3)), seed=n, samples=400).rows[0] for n in range(300)]
    assert rows[0].name == "mean of 3 sets"
    assert 0.025 <= np.mean([row.is_real for row in rows]) <= 0.08


def test_several_seeds_are_shown_as_mean_and_spread():
    a, b = [run(1.0, s) for s in (1, 2, 3)], [run(1.0, 4)]
    row = next(row for row in compare(a, b, samples=50).rows if row.name == "sts.2013.FNWN")
    assert len(row.a) == 3
    assert row.williams is None
    text = markdown(compare(a, b, samples=50))
    assert f"{100 * row.a.mean():.2f} ± {100 * row.a.std(ddof=1):.2f}" in text


def test_only_common_sets_are_compared_and_the_others_are_named():
    comparison = compare([run(1.0, 1)], [run(1.0, 2, ("sts.2012.MSRpar", "words.wordsim"))], samples=50)
    assert [row.name for row in comparison.rows] == ["sts.2012.MSRpar"]
    assert comparison.left_out == ["sts.2013.FNWN", "words.simlex", "words.wordsim"]


def test_runs_without_a_common_set_or_with_other_pairs_are_refused():
    with pytest.raises(DataError, match="no evaluation set in common"):
        compare([run(1.0, 1, ("a.b",))], [run(1.0, 1, ("c.d",))])
    other = {"a.b": table("a.b", "similarity", GOLD[::-1], GOLD)}
    with pytest.raises(DataError, match=r"a\.b: not the same pairs"):
        compare([run(1.0, 1, ("a.b",))], [other])


def test_the_three_forms_say_the_same():
    comparison = compare([run(1.5, 1)], [run(0.5, 2)], samples=100)
    rows = json.loads(as_json(comparison))["rows"]
    assert [row["set"] for row in rows] == [row.name for row in comparison.rows]
    lines = markdown(comparison).splitlines()
    assert len(lines) == 2 + len(rows)
    assert f"**{rows[0]['difference']:+.2f}**" in lines[2]
    assert terminal(comparison).row_count == len(rows)
