import csv
import json

import numpy as np
import pyarrow as pa
import pytest

from paraphrastic import models
from paraphrastic.errors import DataError, ModelError, ParameterError
from paraphrastic.evaluation import Benchmarks, evaluate, selection_score
from paraphrastic.evaluation.headline import headline
from paraphrastic.models import overlap
from paraphrastic.tables import SENTENCES, indexed_schema, write_table
from pipeline import evaluate as stage

SENTENCE = [f"sentence {n}" for n in range(10)]
SIMILARITY = [
    # set, split, left, right, score; the scorer below says right − left
    ("sts.2012.MSRpar", "test", 0, 1, 1.0),
    ("sts.2012.MSRpar", "test", 0, 2, 2.0),
    ("sts.2012.MSRpar", "test", 0, 3, 3.0),
    ("sts.2012.MSRpar", "train", 0, 9, 3.0),
    ("sts.2016.headlines", "test", 1, 2, 3.0),
    ("sts.2016.headlines", "test", 1, 3, 2.0),
    ("sts.2016.postediting", "test", 4, 5, 1.0),
    ("sts.2016.postediting", "test", 4, 7, 2.0),
    ("words.simlex", "test", 0, 1, 0.0),
    ("words.simlex", "test", 0, 2, 1.0),
    ("words.simlex", "test", 0, 6, 2.0),
]
ROLES = [(0, 1, 1.0), (0, 2, 2.0)]
RANKING = [
    ("qa.wikiqa", "test", 0, 5, 6, 1),
    ("qa.wikiqa", "test", 0, 5, 7, 0),
    ("qa.wikiqa", "test", 1, 4, 5, 0),
    ("qa.wikiqa", "dev", 0, 5, 9, 1),
]
LABELLED = [
    ("paraphrase.msrp", "train", 2, 4, 0),
    ("paraphrase.msrp", "train", 2, 5, 1),
    ("paraphrase.msrp", "test", 3, 4, 0),
    ("paraphrase.msrp", "test", 3, 6, 1),
    ("paraphrase.msrp", "test", 3, 7, 0),
    ("sick.entailment", "test", 8, 9, 2),
    ("sick.entailment", "train", 8, 9, 0),
]


class Differences:
    """Scores a pair by right − left of the numbers in the sentences, and remembers what it was asked."""

    def __init__(self, unknown=None):
        self.asked, self.shares = [], unknown or {}

    def score(self, sentences, left, right):
        self.asked.append(sentences.to_pylist())
        number = np.array([int(text.split()[1]) for text in sentences.to_pylist()], np.float32)
        return number[right] - number[left]

    def unknown(self, sentences):
        return np.array([self.shares.get(text, 0.0) for text in sentences.to_pylist()])


def write(folder, similarity=SIMILARITY, ranking=RANKING, labelled=LABELLED, sentences=SENTENCE):
    write_table(pa.table({"text": sentences}), folder / "sentences.parquet", SENTENCES)
    for kind, rows in {"similarity": similarity, "ranking": ranking, "labelled_pairs": labelled}.items():
        schema = indexed_schema(kind)
        columns = list(zip(*rows, strict=True)) or [[]] * len(schema)
        write_table(pa.table(dict(zip(schema.names, columns, strict=True))), folder / f"{kind}.parquet", schema)
    return folder


@pytest.fixture
def benchmarks(tmp_path):
    return Benchmarks.load(write(tmp_path))


def test_figures_of_sets_worked_by_hand(benchmarks):
    results = evaluate(benchmarks, Differences())
    assert results.metrics == {
        "sts": {"2012": 100.0, "2016": 0.0, "mean": 100.0, "sets": 1},
        "transfer": {"mean": 100.0, "sets": 1},
        "qa": {"wikiqa": {"map": 50.0, "mrr": 50.0}},
        "paraphrase": {"msrp": {"accuracy": 66.67, "f1": 66.67}},
        "words": {"simlex": 100.0},
    }


def test_a_row_for_each_set_says_what_applies_to_it(benchmarks):
    rows = {row["set"]: row for row in evaluate(benchmarks, Differences()).sets}
    assert list(rows) == [
        "paraphrase.msrp",
        "qa.wikiqa",
        "sts.2012.MSRpar",
        "sts.2016.headlines",
        "sts.2016.postediting",
        "words.simlex",
    ]
    assert rows["qa.wikiqa"] == {"set": "qa.wikiqa", "kind": "ranking", "n": 3, "map": 50.0, "mrr": 50.0, "oov": 0.0}
    assert rows["paraphrase.msrp"].keys() == {"set", "kind", "n", "accuracy", "f1", "oov"}
    assert rows["paraphrase.msrp"]["n"] == 3
    assert rows["words.simlex"]["pearson"] == 94.49  # of 0, 1, 2 and 1, 2, 6
    assert rows["words.simlex"]["spearman"] == 100.0


def test_unknown_units_are_averaged_over_distinct_test_sentences(benchmarks):
    scorer = Differences({"sentence 0": 0.5, "sentence 9": 1.0, "sentence 2": 0.25})
    rows = {row["set"]: row["oov"] for row in evaluate(benchmarks, scorer).sets}
    assert rows["sts.2012.MSRpar"] == round(100 * (0.5 + 0.25) / 4, 2)  # sentence 9 is only in train
    assert rows["paraphrase.msrp"] == 0


def test_every_sentence_that_is_needed_is_encoded_once(benchmarks):
    scorer = Differences()
    evaluate(benchmarks, scorer)
    assert scorer.asked == [SENTENCE[:8]]


def test_selection_scores_only_the_sets_that_it_names(benchmarks):
    scorer = Differences()
    assert selection_score(benchmarks, "sts.2016", scorer) == pytest.approx(0)
    assert selection_score(benchmarks, "sts.2016.postediting", scorer) == pytest.approx(100)
    assert scorer.asked == [[SENTENCE[n] for n in (1, 2, 3, 4, 5, 7)], [SENTENCE[n] for n in (4, 5, 7)]]


def test_selection_by_words_is_by_rank(benchmarks):
    assert selection_score(benchmarks, "words", Differences()) == pytest.approx(100)


def test_the_oracle_selects_by_what_the_headline_averages(benchmarks):
    scorer = Differences()
    assert selection_score(benchmarks, "oracle", scorer) == pytest.approx(100)
    assert scorer.asked == [[SENTENCE[n] for n in range(4)]]  # those of sts.2012, not of 2016 nor words


def test_the_oracle_of_the_sample_is_its_similarity_sets(tmp_path):
    rows = [(name, "test", a, b, score) for name in ("sample.roles", "sample.dev") for a, b, score in ROLES]
    assert selection_score(Benchmarks.load(write(tmp_path, rows)), "oracle", scorer := Differences()) > 0
    assert len(scorer.asked[0]) == 3


@pytest.mark.parametrize(("select", "near"), [("sts.2061", "sts.2016"), ("word", "words"), ("sts.201", "sts.2016")])
def test_an_unknown_selection_names_the_nearest(benchmarks, select, near):
    with pytest.raises(ParameterError, match=rf"'{select}': did you mean '{near}'\?"):
        selection_score(benchmarks, select, Differences())


def test_scores_that_are_not_finite_name_the_set(benchmarks):
    class Diverged(Differences):
        def score(self, sentences, left, right):
            scores = super().score(sentences, left, right)
            return np.where(scores == 6, np.nan, scores)  # 0 and 6, in words.simlex

    with pytest.raises(ModelError, match=r"^words\.simlex: 1 of 3 scores are not finite"):
        evaluate(benchmarks, Diverged())
    assert selection_score(benchmarks, "sts", Diverged()) > 0
    with pytest.raises(ModelError, match=r"words\.simlex"):
        selection_score(benchmarks, "words", Diverged())


def test_a_constant_scorer_gets_zeros_not_nan(benchmarks):
    class Constant(Differences):
        def score(self, sentences, left, right):
            return np.full(len(left), 0.1, np.float32)

    metrics = evaluate(benchmarks, Constant()).metrics
    assert metrics["sts"] == {"2012": 0, "2016": 0, "mean": 0, "sets": 1}
    assert metrics["qa"]["wikiqa"]["mrr"] == 50  # of two equal candidates the later one is first


def test_benchmarks_without_scored_sets_are_refused(tmp_path):
    benchmarks = Benchmarks.load(write(tmp_path, SIMILARITY[3:4], RANKING[3:], LABELLED[5:]))
    with pytest.raises(DataError, match="no set with test pairs"):
        evaluate(benchmarks, Differences())


def test_a_paraphrase_set_without_training_pairs_is_refused(tmp_path):
    benchmarks = Benchmarks.load(write(tmp_path, labelled=LABELLED[2:]))
    with pytest.raises(DataError, match=r"paraphrase\.msrp: no training pairs"):
        evaluate(benchmarks, Differences())


@pytest.mark.parametrize(
    ("row", "complaint"),
    [
        (("a", "test", 0, 10, 1.0), "sentences"),
        (("a", "test", -1, 0, 1.0), "sentences"),
        (("a", "test", 0, 1, float("nan")), "not numbers"),
        (("a", "test", 0, 1, None), "empty cells"),
        (("a", None, 0, 1, 1.0), "empty cells"),
    ],
)
def test_tables_that_do_not_fit_are_refused_by_name(tmp_path, row, complaint):
    write(tmp_path, [*SIMILARITY, row])
    with pytest.raises(DataError, match=rf"similarity\.parquet: .*{complaint}"):
        Benchmarks.load(tmp_path)


PAPERS = [
    *(f"sts.2012.{name}" for name in ("MSRpar", "MSRvid", "SMTeuroparl", "OnWN", "SMTnews")),
    *(f"sts.2013.{name}" for name in ("headlines", "OnWN", "FNWN", "SMT")),
    *(f"sts.2014.{name}" for name in ("deft-forum", "deft-news", "headlines", "images", "OnWN", "tweet-news")),
    *(f"sts.2015.{name}" for name in ("answers-forums", "answers-students", "belief", "headlines", "images")),
    "sick.relatedness",
    "pit2015",
]


def correlations(names, start=0.0):
    return {name: {"pearson": start + n / 100, "spearman": -n / 100} for n, name in enumerate(names)}


def test_the_transfer_mean_is_over_the_22_sets_of_the_papers():
    others = ["sts.2016.headlines", "words.simlex", "paraphrase.ppdb", "sample.images", "sts.2017.x"]
    metrics = headline(correlations(others, 0.9) | correlations(PAPERS))
    assert metrics["transfer"] == {"mean": 10.5, "sets": 22}
    assert metrics["sts"]["mean"] == 9.5
    assert metrics["sts"]["sets"] == 20


def test_sets_that_are_not_there_change_counts_and_leave_no_gaps():
    open_ones = [name for name in PAPERS if name not in ("sts.2013.SMT", "pit2015")]
    metrics = headline(correlations(open_ones))
    assert (metrics["sts"]["sets"], metrics["transfer"]["sets"]) == (19, 20)
    assert metrics.keys() == {"sts", "sick", "transfer"}
    assert metrics["sts"].keys() == {"2012", "2013", "2014", "2015", "mean", "sets"}


def test_means_are_taken_before_rounding():
    figures = {name: {"pearson": 0.00004, "spearman": 0.0} for name in PAPERS[:3]}
    figures["sts.2012.OnWN"] = {"pearson": 0.00016, "spearman": 0.0}
    assert headline(figures)["sts"]["mean"] == 0.01  # of 0.004, 0.004, 0.004 and 0.016


def test_the_sample_suite_has_a_section_of_its_own():
    figures = correlations(["sample.dev", "sample.images", "sample.news", "sample.words"], 0.5)
    figures |= {"sample.qa": {"map": 0.5, "mrr": 0.6}, "sample.paraphrase": {"accuracy": 0.7, "f1": 0.8}}
    assert headline(figures) == {
        "sample": {
            "sts": {"mean": 51.5, "sets": 2},
            "qa": {"map": 50.0, "mrr": 60.0},
            "paraphrase": {"accuracy": 70.0, "f1": 80.0},
            "words": -3.0,
        }
    }


def test_zero_has_no_sign():
    figures = {"words.simlex": {"pearson": 0.0, "spearman": -0.00001}}
    assert str(headline(figures)["words"]["simlex"]) == "0.0"


@pytest.fixture
def stage_folder(tmp_path, monkeypatch):
    texts = ["a cat sat", "a cat sat down", "a dog", "the dog", "", "a b", "b a", "c", "x", "y"]
    write(tmp_path / "data/benchmarks", sentences=texts)
    models.save(overlap.Overlap(), "overlap", overlap.Config(), tmp_path / "data/model")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_stage_writes_nested_json_and_a_table(stage_folder):
    stage.main()
    text = (stage_folder / "metrics/evaluate.json").read_text()
    assert list(json.loads(text)) == ["sts", "transfer", "qa", "paraphrase", "words"]
    assert text.endswith("}\n")
    content = (stage_folder / "metrics/sets.csv").read_bytes().decode()
    assert content.splitlines()[0] == "set,kind,n,pearson,spearman,map,mrr,accuracy,f1,oov"
    assert "\r" not in content
    rows = {row["set"]: row for row in csv.DictReader(content.splitlines())}
    assert rows["qa.wikiqa"]["pearson"] == rows["sts.2012.MSRpar"]["map"] == ""
    # 3 / √12, 1 / √6 and 0 against 1, 2 and 3
    assert float(rows["sts.2012.MSRpar"]["pearson"]) == pytest.approx(-99.9, abs=0.2)


def test_the_stage_says_what_came_out(stage_folder, capsys):
    stage.main()
    said = capsys.readouterr().err
    assert "wikiqa.map" in said
    assert "\x1b" not in said
    assert "NaN" not in said
