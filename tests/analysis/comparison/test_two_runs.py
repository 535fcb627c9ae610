"""Pairs that two runs have scored, the correlations of their scores, and pairs that only one of them judges well."""

import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import pearsonr, spearmanr

from paraphrastic.analysis.comparison import two_runs
from paraphrastic.analysis.comparison.repository import git
from paraphrastic.analysis.comparison.revisions import scores_of
from paraphrastic.analysis.comparison.two_runs import SENTENCES_FILE, agreement, errors, pairs_of_two_runs
from paraphrastic.base.errors import DataError
from paraphrastic.base.tables import SENTENCES, read_table, write_table
from tests.helpers.run_artifacts import write_run
from tests.helpers.scored_repository import MSRPAR, OTHER, TEXTS

# deprecation of a method of a library that DVC calls
pytestmark = pytest.mark.filterwarnings("ignore:_NoneStep.value:DeprecationWarning")

SETS = {"sts.2012.MSRpar": 30, "sts.2014.images": 25, "sick.relatedness": 40}


def random_pairs():
    random = np.random.default_rng(0)
    names = [name for name, n in SETS.items() for _ in range(n)]
    gold = random.integers(0, 11, len(names)) / 2
    a, b = gold + random.normal(0, 2, len(names)), 0.1 * gold + random.normal(0, 0.1, len(names))
    texts = [f"text {n}" for n in range(len(names))]
    scores = {"score_a": a.astype("float32"), "score_b": b.astype("float32")}
    return pd.DataFrame({"set": names, "text1": texts, "text2": texts[::-1], "gold": gold} | scores)


def correlations(a, b):
    return [len(a), 100 * pearsonr(a, b).statistic, 100 * spearmanr(a, b).statistic]


def test_correlations_by_set_and_over_all_sts_pairs():
    pairs = random_pairs()
    table = agreement(pairs).set_index("set")
    assert list(table.index) == [*sorted(SETS), "pooled", "results"]
    for name in SETS:
        part = pairs[pairs["set"] == name]
        assert table.loc[name].tolist() == pytest.approx(correlations(part["score_a"], part["score_b"]), abs=0.0051)
    sts = pairs[pairs["set"] != "sick.relatedness"]
    assert table.loc["pooled"].tolist() == pytest.approx(correlations(sts["score_a"], sts["score_b"]), abs=0.0051)
    parts = [part for _, part in pairs.groupby("set")]
    a, b = ([pearsonr(part["gold"], part[f"score_{model}"]).statistic for part in parts] for model in "ab")
    assert agreement(pairs).iloc[-1, 1:].tolist() == pytest.approx(correlations(a, b), abs=0.0051)


def naive_examples(pairs, wrong, estimate):
    """Return the row numbers of up to 5 pairs that `wrong` over- or underestimates, by how much the other is nearer."""
    right, errors = {"a": "b", "b": "a"}[wrong], {}
    for model in "ab":
        score, gold = pairs[f"score_{model}"], pairs["gold"]
        errors[model] = ((score - score.mean()) / score.std(ddof=0) - (gold - gold.mean()) / gold.std(ddof=0)).tolist()
    excess = {
        row: abs(errors[wrong][row]) - abs(errors[right][row])
        for row in range(len(pairs))
        if (errors[wrong][row] > 0) == (estimate == "over")
    }
    rows = sorted(excess, key=lambda row: -excess[row])[:5]
    return [(row, errors["a"][row], errors["b"][row]) for row in rows if excess[row] > 0]


@pytest.mark.parametrize("wrong", ["a", "b"])
@pytest.mark.parametrize("estimate", ["over", "under"])
def test_pairs_that_one_model_over_or_underestimates(wrong, estimate):
    pairs = random_pairs()
    pairs = pairs[pairs["set"] != "sick.relatedness"]  # errors are those over STS sets
    table = errors(random_pairs()).query("wrong == @wrong and estimate == @estimate")
    expected = naive_examples(pairs, wrong, estimate)
    assert len(expected) == 5
    assert table["text1"].tolist() == [f"text {row}" for row, _, _ in expected]
    np.testing.assert_allclose(table[["error_a", "error_b"]], [e[1:] for e in expected], atol=0.0051)
    rows = pairs.iloc[[row for row, _, _ in expected]]
    assert table[["set", "text2"]].to_numpy().tolist() == rows[["set", "text2"]].to_numpy().tolist()
    decimals = {"score_a": 4, "score_b": 4, "error_a": 2, "error_b": 2}
    assert table[[*decimals]].equals(table[[*decimals]].round(decimals))
    np.testing.assert_allclose(table[["gold", "score_a", "score_b"]], rows[["gold", "score_a", "score_b"]], atol=5.1e-5)


def test_a_model_without_errors_has_no_examples():
    pairs = random_pairs().assign(score_a=lambda pairs: 3 * pairs["gold"] - 1)
    assert set(errors(pairs)["wrong"]) == {"b"}
    assert errors(pairs.assign(score_b=pairs["score_a"])).empty


def test_sets_without_pooled_ones():
    pairs = random_pairs()
    pairs = pairs[pairs["set"] == "sick.relatedness"]
    for analysis in (agreement, errors):
        with pytest.raises(DataError, match=r"^the runs have no STS .* both with `benchmarks: sample` or `open`$"):
            analysis(pairs)


@pytest.mark.usefixtures("in_repository")
@pytest.mark.parametrize("b", ["two", "workspace"])
def test_pairs_of_sets_that_both_runs_have(b):
    pairs, left_out = pairs_of_two_runs("one", b)
    assert left_out == ["sts.2013.FNWN"]
    assert pairs.columns.tolist() == ["set", "text1", "text2", "gold", "score_a", "score_b"]
    expected = [["sts.2012.MSRpar", "a b", "a c", 3.0, 0.5, 0.5], ["sts.2012.MSRpar", "a b", "d", 1.0, 0.0, 0.0]]
    assert pairs.to_numpy().tolist() == expected
    pd.testing.assert_frame_equal(pairs_of_two_runs(b, "one")[0], pairs)


def test_sets_of_the_sample_that_one_run_has_beside_others(tmp_path, monkeypatch):
    sample = [("sample.negation", *row[1:]) for row in MSRPAR]
    for revision, pairs in (("a", sample), ("b", [*sample, *MSRPAR])):
        write_run(tmp_path / revision / "data", TEXTS, pairs)
    monkeypatch.setattr(two_runs, "table_of", lambda run, path, schema: read_table(tmp_path / run / path, schema))
    pairs, left_out = pairs_of_two_runs("a", "b")
    assert (pairs["set"].unique().tolist(), left_out) == (["sample.negation"], ["sts.2012.MSRpar"])


@pytest.mark.usefixtures("in_repository")
def test_scores_without_row_numbers_of_sentences():
    with pytest.raises(DataError, match=r"^old: data/scores\.parquet .*column left; check it out"):
        pairs_of_two_runs("one", "old")


@pytest.fixture
def data(repository, tmp_path, monkeypatch):
    """The folder `data` of a copy of the repository, which is the working directory."""
    monkeypatch.chdir(shutil.copytree(repository, tmp_path / "copy", symlinks=True))
    return tmp_path / "copy/data"


@pytest.mark.parametrize(
    ("texts", "pairs"),
    [
        (TEXTS, MSRPAR[::-1]),
        (TEXTS, [*MSRPAR, MSRPAR[0]]),
        (TEXTS, [MSRPAR[0], (*MSRPAR[1][:4], 2.0)]),
        (["a b", "a c", "e", "f"], MSRPAR),
    ],
)
def test_other_pairs_in_the_workspace(data, texts, pairs):
    write_run(data, texts, pairs)
    with pytest.raises(DataError, match=r"^sts\.2012\.MSRpar: .*different pairs; evaluate both"):
        pairs_of_two_runs("one", "workspace")


def test_name_of_experiments_at_two_commits(data):
    for start in ("bare", "old"):  # of which the last commit is none
        commit = git(Path(), "rev-parse", f"{start}^{{commit}}").strip()
        git(Path(), "update-ref", f"refs/exps/{commit[:2]}/{commit[2:]}/twice", "one")
    assert scores_of("twice").keys() == scores_of("one").keys() == {"sts.2012.MSRpar"}


def test_no_set_in_common(data):
    write_run(data, TEXTS, OTHER)
    with pytest.raises(DataError, match=r"^one and workspace .*no set .*: evaluate both"):
        pairs_of_two_runs("one", "workspace")
    write_run(data, TEXTS, OTHER)
    write_table(read_table(SENTENCES_FILE, SENTENCES).slice(0, 3), SENTENCES_FILE, SENTENCES)
    with pytest.raises(DataError, match=r"^workspace: data/scores\.parquet .*other benchmarks; run `dvc"):
        pairs_of_two_runs("workspace", "one")
