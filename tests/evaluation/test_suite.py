"""Evaluation sets as they are loaded, and the evaluation of a scorer on all and on those that select an epoch."""

import numpy as np
import pytest

from paraphrastic.base.errors import DataError, ModelError, ParameterError
from paraphrastic.base.tables import SCORES
from paraphrastic.evaluation.suite import Benchmarks, choose_selection, evaluate, load_selection
from tests.helpers.benchmark_tables import (
    LABELLED_PAIRS,
    RANKING,
    SIMILARITY,
    TEXTS,
    DifferenceScorer,
    write_benchmarks,
)


@pytest.fixture
def benchmarks(tmp_path):
    return Benchmarks.load(write_benchmarks(tmp_path))


def test_metrics_worked_by_hand(benchmarks):
    results = evaluate(benchmarks, DifferenceScorer())
    assert results.metrics == {
        "sts": {"2012": 100.0, "2016": 0.0, "mean": 100.0, "sets": 1},
        "transfer": {"mean": 100.0, "sets": 1},
        "qa": {"wikiqa": {"map": 50.0, "mrr": 50.0}},
        "paraphrase": {"msrp": {"accuracy": 66.67, "f1": 66.67}},
        "words": {"simlex": 100.0},
    }


def test_row_of_each_set(benchmarks):
    rows = {row["set"]: row for row in evaluate(benchmarks, DifferenceScorer()).sets}
    assert list(rows) == [each.name for each in benchmarks.sets()]
    assert rows["qa.wikiqa"] == {"set": "qa.wikiqa", "kind": "ranking", "n": 3, "map": 50.0, "mrr": 50.0, "oov": 0.0}
    assert rows["paraphrase.msrp"].keys() == {"set", "kind", "n", "accuracy", "f1", "oov"}
    assert rows["paraphrase.msrp"]["n"] == 3
    assert rows["words.simlex"]["pearson"] == 94.49  # of 0, 1, 2 and 1, 2, 6
    assert rows["words.simlex"]["spearman"] == 100.0


def test_scores_of_all_pairs(benchmarks):
    scores = evaluate(benchmarks, DifferenceScorer()).scores
    assert scores.schema == SCORES
    names = "paraphrase.msrp", "qa.wikiqa"
    msrp, wikiqa = ([row for row in scores.to_pylist() if row["set"] == name] for name in names)
    assert [row["score"] for row in msrp] == [2, 3, 1, 3, 4]
    assert [row["split"] for row in msrp] == ["train"] * 2 + ["test"] * 3
    assert [row["gold"] for row in msrp] == [0, 1, 0, 1, 0]
    assert [row["question"] for row in msrp] == [-1] * 5
    assert [row["question"] for row in wikiqa] == [0, 0, 1]
    assert [(row["left"], row["right"]) for row in wikiqa] == [(5, 6), (5, 7), (4, 5)]


def test_oov_of_distinct_test_sentences(benchmarks):
    scorer = DifferenceScorer({"sentence 0": 0.5, "sentence 9": 1.0, "sentence 2": 0.25})
    rows = {row["set"]: row["oov"] for row in evaluate(benchmarks, scorer).sets}
    assert rows["sts.2012.MSRpar"] == round(100 * (0.5 + 0.25) / 4, 2)  # sentence 9 is only in train
    assert rows["paraphrase.msrp"] == 0
    assert scorer.requests == [TEXTS[:8]]


@pytest.mark.parametrize(
    ("select", "score", "scored"),
    [
        ("test", 0, (1, 2, 3, 4, 5, 7)),
        ("sts.2016", 0, (1, 2, 3, 4, 5, 7)),
        ("sts.2016.postediting", 100, (4, 5, 7)),
        ("oracle", 100, (0, 1, 2, 3)),  # sts.2012, not sts.2016 or words
        ("words", 100, None),
    ],
)
def test_selection(tmp_path, select, score, scored):
    (write_benchmarks(tmp_path) / "select.txt").write_text("sts.2016\n")
    scorer = DifferenceScorer()
    assert load_selection(tmp_path, select)(scorer) == pytest.approx(score)
    assert scored is None or scorer.requests == [[TEXTS[row] for row in scored]]


def test_correlation_that_selects_by_the_kind_of_set(tmp_path):
    rows = [(name, "test", 0, right, right**3.0) for name in ("sts.2016.x", "words.x") for right in (1, 2, 3)]
    benchmarks = Benchmarks.load(write_benchmarks(tmp_path, rows))
    assert choose_selection(benchmarks, "sts")(DifferenceScorer()) == pytest.approx(96.63, abs=0.01)  # Pearson's r
    assert choose_selection(benchmarks, "words")(DifferenceScorer()) == pytest.approx(100)  # Spearman's ρ


@pytest.mark.parametrize(
    ("names", "select"),
    [(("sample.roles", "sample.dev"), "oracle"), (("own.mine",), "oracle"), (("own.mine", "sample.dev"), "own")],
)
def test_sets_that_select_without_those_of_the_papers(tmp_path, names, select):
    similarity = [(name, "test", 0, right, float(right)) for name in names for right in (1, 2, 3)]
    benchmarks = Benchmarks.load(write_benchmarks(tmp_path, similarity, [], []))
    assert choose_selection(benchmarks, select).names == [names[0]]


def test_development_rows_of_a_file_select(tmp_path):
    rows = [("own.mine", "dev", 0, right, -right) for right in (1, 2, 3)]
    rows += [(name, "test", 0, right, right) for name in ("own.mine", "own.other") for right in (1, 2)]
    benchmarks = Benchmarks.load(write_benchmarks(tmp_path, [*rows, *SIMILARITY]))
    selection = choose_selection(benchmarks, "own")
    assert {each.name: len(each) for each in selection.sets} == {"own.mine (dev)": 3, "own.other": 2}
    assert selection(DifferenceScorer()) == pytest.approx(0)  # −1 and 1
    assert evaluate(benchmarks, DifferenceScorer()).metrics["own"]["mine"]["pearson"] == 100


def test_oracle_of_benchmarks_without_its_sets(tmp_path):
    rows = [("mteb.STS12", "test", 0, right, right) for right in (1, 2)]
    with pytest.raises(ParameterError, match=r"train\.select: oracle: the benchmarks have no set of `transfer\.mean`;"):
        choose_selection(Benchmarks.load(write_benchmarks(tmp_path, rows)), "oracle")


@pytest.mark.parametrize(("select", "nearest"), [("sts.2061", "sts.2016"), ("word", "words"), ("sts.201", "sts.2016")])
def test_unknown_selection(tmp_path, select, nearest):
    with pytest.raises(
        ParameterError,
        match=rf"^params\.yaml: train\.select: unknown set to select by '{select}': did you mean '{nearest}'\?",
    ) as error:
        load_selection(write_benchmarks(tmp_path), select)
    assert {"none", "oracle", "test"} <= {*str(error.value).partition("known are ")[2].split(", ")}


def test_selection_by_none_or_of_missing_benchmarks(tmp_path):
    assert load_selection(tmp_path / "absent", "none") is None
    with pytest.raises(DataError, match=r"sentences\.parquet: no such file"):
        load_selection(tmp_path, "oracle")
    problem = "the benchmarks have no set of similarity that could select; set it to none"
    with pytest.raises(ParameterError, match=f"^params.yaml: train.select: {problem}$"):
        load_selection(write_benchmarks(tmp_path / "other", similarity=[]), "oracle")


@pytest.mark.parametrize("content", [None, b"\xff"])
def test_missing_or_damaged_selection_of_suite(tmp_path, content):
    write_benchmarks(tmp_path)
    if content is not None:
        (tmp_path / "select.txt").write_bytes(content)
    with pytest.raises(DataError, match=r"select\.txt: missing or damaged; run `dvc repro tokenize`"):
        load_selection(tmp_path, "test")


def test_selection_without_sets_of_similarity(tmp_path):
    benchmarks = Benchmarks.load(write_benchmarks(tmp_path, similarity=[]))
    with pytest.raises(ParameterError, match=r"^params\.yaml: train\.select: the benchmarks have no set of similarity"):
        choose_selection(benchmarks, "own")


def test_scores_with_nan(benchmarks):
    class DivergedScorer(DifferenceScorer):
        def score(self, sentences, left, right):
            scores = super().score(sentences, left, right)
            return np.where(scores == 6, np.nan, scores)  # only words.simlex has a pair with this difference

    with pytest.raises(ModelError, match=r"^words\.simlex: 1 of 3 scores .*not finite; train the model again"):
        evaluate(benchmarks, DivergedScorer())
    assert choose_selection(benchmarks, "sts")(DivergedScorer()) > 0
    with pytest.raises(ModelError, match=r"words\.simlex"):
        choose_selection(benchmarks, "words")(DivergedScorer())


def test_constant_scores(benchmarks):
    class ConstantScorer(DifferenceScorer):
        def score(self, sentences, left, right):
            return np.full(len(left), 0.1, np.float32)

    metrics = evaluate(benchmarks, ConstantScorer()).metrics
    assert metrics["sts"] == {"2012": 0, "2016": 0, "mean": 0, "sets": 1}
    assert metrics["qa"]["wikiqa"]["mrr"] == 50  # of two equal candidates the later one is first


def test_benchmarks_without_test_pairs(tmp_path):
    benchmarks = Benchmarks.load(write_benchmarks(tmp_path, SIMILARITY[3:4], RANKING[3:], LABELLED_PAIRS[5:]))
    with pytest.raises(DataError, match=r"^the benchmarks .*no set .*test pairs; choose another suite"):
        evaluate(benchmarks, DifferenceScorer())


def test_paraphrase_set_without_training_pairs(tmp_path):
    rows = [("own.mine", "test", 0, score, label) for score, label in [(1, 0), (2, 0), (3, 1), (4, 1)]]
    results = evaluate(Benchmarks.load(write_benchmarks(tmp_path, labelled_pairs=rows)), DifferenceScorer())
    # the even rows have the threshold 3 of the odd ones, the odd rows the threshold 2 of the even ones
    assert results.metrics["own"] == {"mine": {"accuracy": 75.0, "f1": 80.0}}


def test_own_sets_have_all_their_metrics(tmp_path):
    similarity = [("own.words.animals", "test", 0, right, float(right**3)) for right in (1, 2, 3)]
    ranking = [("own.faq", "test", 0, 5, right, label) for right, label in [(6, 1), (7, 0)]]
    results = evaluate(Benchmarks.load(write_benchmarks(tmp_path, similarity, ranking, [])), DifferenceScorer())
    words = {"pearson": 96.63, "spearman": 100.0}
    assert results.metrics == {"own": {"faq": {"map": 50.0, "mrr": 50.0}, "words": {"animals": words}}}


OF_TRAINING = "of the training rows, which give the threshold"


def test_sets_whose_judgements_define_no_metric(tmp_path):
    similarity = [
        *SIMILARITY[:3],
        ("own.one", "test", 0, 1, 3.0),
        *(("own.equal", "test", 0, right, 2.0) for right in (1, 2, 3)),
    ]
    ranking = [("own.faq", "test", 0, 5, right, 1) for right in (6, 7)]
    pairs = [("own.mine", "test", 0, 1, 1), ("own.mine", "test", 0, 2, 1), ("own.mine", "train", 0, 3, 0)]
    pairs += [("own.taught", "train", 0, 1, 1), ("own.taught", "train", 0, 2, 1)]
    pairs += [("own.taught", "test", 0, 1, label) for label in (0, 1)]
    benchmarks = Benchmarks.load(write_benchmarks(tmp_path, similarity, ranking, pairs))
    results = evaluate(benchmarks, DifferenceScorer())
    assert {row["set"]: row.get("not_defined", "") for row in results.sets} == {
        "own.equal": "not defined: all scores or labels are equal",
        "own.faq": "not defined: all scores or labels are equal",
        "own.mine": "not defined: all scores or labels are equal",
        "own.one": "not defined: fewer than two rows",
        "own.taught": f"not defined: all scores or labels are equal {OF_TRAINING}",
        "sts.2012.MSRpar": "",
    }
    assert results.metrics.keys() == {"sts", "transfer"}
    assert set(results.scores["set"].to_pylist()) == {row["set"] for row in results.sets}
    assert not any({"pearson", "map", "accuracy"} & row.keys() for row in results.sets[:5])
    for select in ("own.one", "own"):
        with pytest.raises(
            ParameterError,
            match=r"^params\.yaml: train\.select: own\..*: not defined: .*; select by other sets, or add rows to it$",
        ):
            choose_selection(benchmarks, select)


@pytest.mark.parametrize("factor", [1e-160, 1e160])
def test_judgements_in_other_units(tmp_path, factor):
    rows = [(*row[:4], row[4] * factor) for row in SIMILARITY]
    results = evaluate(Benchmarks.load(write_benchmarks(tmp_path, rows)), DifferenceScorer())
    assert results.metrics["sts"] == {"2012": 100.0, "2016": 0.0, "mean": 100.0, "sets": 1}


def test_names_kinds_sizes_and_columns_of_sets(benchmarks):
    assert benchmarks.sentences.to_pylist() == TEXTS
    assert [(each.name, each.kind, len(each)) for each in benchmarks.sets()] == [
        ("paraphrase.msrp", "labelled_pairs", 5),  # with its training pairs
        ("qa.wikiqa", "ranking", 3),
        ("sts.2012.MSRpar", "similarity", 3),
        ("sts.2016.headlines", "similarity", 2),
        ("sts.2016.postediting", "similarity", 2),
        ("words.simlex", "similarity", 3),
    ]
    msrp, rows = benchmarks.sets()[0], [row for row in LABELLED_PAIRS if row[0] == "paraphrase.msrp"]
    assert msrp.column("right").tolist() == [row[3] for row in rows]
    assert msrp.is_test.tolist() == [row[1] == "test" for row in rows]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (("a", "test", 0, 10, 1.0), r"has row numbers that sentences\.parquet lacks"),
        (("a", "test", -1, 0, 1.0), r"has row numbers that sentences\.parquet lacks"),
        (("a", "test", 0, 1, float("nan")), "has scores that are not finite"),
        (("a", "test", 0, 1, None), "has empty cells"),
        (("a", None, 0, 1, 1.0), "has empty cells"),
    ],
)
def test_damaged_table(tmp_path, row, message):
    write_benchmarks(tmp_path, [*SIMILARITY, row])
    with pytest.raises(DataError, match=rf"similarity\.parquet: {message}; run `dvc repro`") as caught:
        Benchmarks.load(tmp_path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["sentences", "similarity", "ranking", "labelled_pairs"])
def test_missing_table(tmp_path, name):
    (write_benchmarks(tmp_path) / f"{name}.parquet").unlink()
    with pytest.raises(DataError, match=rf"{name}\.parquet: no such file; run `dvc repro`"):
        Benchmarks.load(tmp_path)
