"""Features of logistic regression, clusters and cosines, against protocols written out in full and against mteb."""

import random
from collections import Counter

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from sklearn.cluster import MiniBatchKMeans
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import v_measure_score
from sklearn.model_selection import StratifiedKFold
from threadpoolctl import threadpool_limits

from paraphrastic.base.errors import ModelError
from paraphrastic.evaluation import features
from paraphrastic.evaluation.features import FEW_SHOT, feature_metrics
from paraphrastic.evaluation.metrics import spearman
from paraphrastic.evaluation.suite import Benchmarks, evaluate
from paraphrastic.scoring.bags import fit_tfidf
from paraphrastic.scoring.scorer import VectorScorer
from tests.helpers.benchmark_tables import DifferenceScorer, write_benchmarks

N = 96
RNG = np.random.default_rng(3)
Y = np.arange(N) % 3
X = (RNG.normal(size=(N, 4)) + np.eye(4)[Y]).astype(np.float32)
TEXTS = [f"sentence {n}" for n in range(N)]
FOLDS = StratifiedKFold(3, shuffle=True, random_state=1111)


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    """Use 3 folds of 10 and small samples, in one thread: the protocols are the same, and take seconds."""
    assert (features._FOLDS.n_splits, features._CLUSTERED) == (10, 16_384)
    monkeypatch.setattr(features, "_FOLDS", FOLDS)
    monkeypatch.setattr(features, "_CLUSTERED", 400)
    with threadpool_limits(1):
        yield


class Table(VectorScorer):
    """Sentence n has row n of `vectors`."""

    def __init__(self, vectors: np.ndarray = X) -> None:
        self.vectors = vectors

    def encode_known(self, sentences):
        return self.vectors[[int(text.split()[1]) for text in sentences.to_pylist()]], np.ones(len(sentences), bool)

    def oov_share(self, sentences):
        return np.zeros(len(sentences))


def metrics_of(folder, name, splits, right=None, label=Y, scorer=None, texts=TEXTS):
    """Return the metrics of a set with N rows: sentence n, or the pair of n and right[n], has the label label[n]."""
    columns = [name] * N, splits, range(N), *([] if right is None else [right]), label
    kinds = {"labelled_pairs": []} | {
        f"labelled_{'sentences' if right is None else 'pairs'}": [*zip(*columns, strict=True)]
    }
    benchmarks = Benchmarks.load(write_benchmarks(folder, [], [], texts=texts, **kinds))
    sets = {each.name: each.table for each in benchmarks.sets()}
    ((metrics, correct),) = feature_metrics(scorer or Table(), benchmarks.sentences, sets)
    assert correct.mean() == metrics["accuracy"]
    return metrics


def best(x, y, penalties, folds):
    """Return the first of the best penalties, by the mean accuracy over folds."""
    means = [np.mean([LogisticRegression(C=c).fit(x[a], y[a]).score(x[b], y[b]) for a, b in folds]) for c in penalties]
    return penalties[int(np.argmax(means))]


def test_folds_of_one_split(tmp_path):
    found = []
    for rest, fold in FOLDS.split(X, Y):
        penalty = best(X[rest], Y[rest], [0.25, 0.5, 1, 2, 4, 8], list(FOLDS.split(X[rest], Y[rest])))
        found.append(LogisticRegression(C=penalty).fit(X[rest], Y[rest]).score(X[fold], Y[fold]))
    assert metrics_of(tmp_path, "features.X", ["test"] * N) == {"accuracy": pytest.approx(np.mean(found), abs=1e-9)}


def test_training_and_test_rows(tmp_path):
    x, y = X[:60], Y[:60]
    penalty = best(x, y, [0.5, 1, 2, 4, 8, 16, 32], list(FOLDS.split(x, y)))
    accuracy = LogisticRegression(C=penalty).fit(x, y).score(X[60:], Y[60:])
    found = metrics_of(tmp_path, "features.X", ["train"] * 60 + ["test"] * 36)
    assert found == {"accuracy": pytest.approx(accuracy, abs=1e-9)}


def test_development_rows(tmp_path):
    penalty = best(X[:72], Y[:72], [0.25, 0.5, 1, 2, 4, 8], [(np.arange(48), np.arange(48, 72))])
    accuracy = LogisticRegression(C=penalty).fit(X[:48], Y[:48]).score(X[72:], Y[72:])
    found = metrics_of(tmp_path, "features.X", ["train"] * 48 + ["dev"] * 24 + ["test"] * 24)
    assert found == {"accuracy": pytest.approx(accuracy, abs=1e-9)}


def test_features_of_pairs(tmp_path):
    right = RNG.permutation(N)
    x = np.hstack([np.abs(X - X[right]), X * X[right]])
    y = (x[:, 4] > 0).astype(int)
    penalty = best(x[:60], y[:60], [0.5, 1, 2, 4, 8, 16, 32], list(FOLDS.split(x[:60], y[:60])))
    predicted, gold = LogisticRegression(C=penalty).fit(x[:60], y[:60]).predict(x[60:]), y[60:]
    f1 = 2 * (predicted & gold).sum() / (predicted.sum() + gold.sum())
    found = metrics_of(tmp_path, "features.X", ["train"] * 60 + ["test"] * 36, right, y)
    assert found == {"accuracy": pytest.approx((predicted == gold).mean()), "f1": pytest.approx(f1)}


SPLITS = ["train"] * 60 + ["test"] * 36


def test_few_shots_and_clusters(tmp_path):
    rows, found = list(range(60)), []
    for _ in range(10):
        np.random.RandomState(42).shuffle(rows)
        counts, chosen = Counter[int](), []
        for row in rows:
            if counts[Y[row]] < 8:
                chosen.append(row)
                counts[Y[row]] += 1
        classifier = LogisticRegression(max_iter=100, random_state=42).fit(X[chosen], Y[chosen])
        found.append(classifier.score(X[60:], Y[60:]))
    generator, measures = random.Random(42), []
    for _ in range(10):
        sample = 60 + np.array(generator.choices(range(36), k=400))
        clusters = MiniBatchKMeans(3, batch_size=512, n_init=1, random_state=42).fit_predict(X[sample])
        measures.append(v_measure_score(Y[sample], clusters))
    expected = {"accuracy": np.mean(found), "v_measure": np.mean(measures)}
    assert metrics_of(tmp_path, FEW_SHOT, SPLITS) == pytest.approx(expected, abs=1e-9)


def test_few_shots_and_clusters_of_mteb(tmp_path):
    mteb = pytest.importorskip("mteb")
    from datasets import Dataset, DatasetDict
    from mteb.abstasks.clustering import AbsTaskClustering

    class Encoder:
        def encode(self, inputs, **_):
            return Table().encode(pa.array([text for batch in inputs for text in batch["text"]]))

        mteb_model_meta = None
        similarity = similarity_pairwise = encode  # its protocol asks for them

    few_shot = mteb.get_task("Banking77Classification")

    class Clustering(AbsTaskClustering):
        metadata = few_shot.metadata
        max_fraction_of_documents_to_embed, max_documents_per_cluster = None, 400
        input_column_name, label_column_name = "text", "label"

        def _add_main_score(self, scores):
            pass

    data = DatasetDict(
        {name: Dataset.from_dict({"text": TEXTS[rows], "label": Y[rows].tolist()}) for name, rows in PARTS.items()}
    )
    found = {}
    for task, metric in ((few_shot, "accuracy"), (Clustering(), "v_measure")):
        task.dataset, task.data_loaded = data, True
        found[metric] = task.evaluate(Encoder(), "test", encode_kwargs={"batch_size": 8})["default"][metric]
    assert metrics_of(tmp_path, FEW_SHOT, SPLITS) == pytest.approx(found, abs=1e-9)


PARTS = {"train": slice(60), "test": slice(60, None)}


WORDS = np.array(["red", "green", "blue"])


@pytest.mark.parametrize(
    ("name", "right"), [("features.X", None), ("features.X", RNG.permutation(N)), (FEW_SHOT, None)]
)
def test_sparse_rows_of_tfidf(tmp_path, name, right):
    texts = [
        f"{WORDS[label]} {WORDS[label]} {other}"
        for label, other in zip(Y, np.random.default_rng(0).choice(WORDS, N), strict=True)
    ]
    texts = [f"{text} unique{n}" for n, text in enumerate(texts)]
    counts = pa.table({"text": [*WORDS, "unseen"], "sentences": [9, 5, 3, 1]})
    scorer = fit_tfidf("words", counts, pa.array([""] * 20))
    idf = 1 + np.log(21 / np.array([10, 6, 4]))
    rows = np.array([[text.split().count(word) for word in WORDS] for text in texts]) * idf
    table = Table(rows / np.linalg.norm(rows, axis=1, keepdims=True))
    labels = Y if right is None else (Y[right] == Y).astype(int)
    found, expected = (
        metrics_of(tmp_path / str(n), name, SPLITS, right, labels, each, texts if n else TEXTS)
        for n, each in enumerate((table, scorer))
    )
    assert found == pytest.approx(expected, abs=1e-9)
    assert found["accuracy"] > 0.9


@pytest.mark.parametrize("name", ["features.X", FEW_SHOT])
def test_sparse_rows_without_a_known_word(tmp_path, name):
    scorer = fit_tfidf("words", pa.table({"text": ["unseen"], "sentences": [1]}), pa.array([""]))
    assert metrics_of(tmp_path, name, SPLITS, scorer=scorer)["accuracy"] == pytest.approx(1 / 3)  # one of 3 labels


def test_suites_in_metrics(tmp_path):
    similarity = [("mteb.STS12", "test", n, n + 1, float(n % 7)) for n in range(40)]
    labelled = [(name, SPLITS[n], n, Y[n]) for name in (FEW_SHOT, "features.TREC") for n in range(N)]
    folder = write_benchmarks(tmp_path, similarity, [], [], TEXTS, labelled)
    results = evaluate(Benchmarks.load(folder), Table())
    metrics, rows = results.metrics, {row["set"]: row for row in results.sets}
    assert list(rows) == [FEW_SHOT, "features.TREC", "mteb.STS12"]
    assert metrics["features"].keys() == {"Banking77", "TREC", "mean", "sets"}
    assert metrics["features"]["TREC"] == rows["features.TREC"]["accuracy"]
    assert metrics["clustering"] == {"Banking77": {"v_measure": rows[FEW_SHOT]["v_measure"]}}
    assert metrics["mteb"] == {
        "STS12": rows["mteb.STS12"]["spearman"],
        "mean": rows["mteb.STS12"]["spearman"],
        "sets": 1,
    }
    assert set(results.scores["set"].to_pylist()) == rows.keys()
    trec = results.scores.filter(pc.equal(results.scores["set"], "features.TREC")).to_pydict()
    assert (trec["left"], trec["right"], trec["gold"]) == ([*range(60, N)], [*range(60, N)], Y[60:].tolist())
    assert round(100 * np.mean(trec["score"]), 2) == rows["features.TREC"]["accuracy"]
    assert evaluate(Benchmarks.load(folder), Table()).metrics == metrics


def test_vectors_that_differ_by_rounding_share_a_rank(tmp_path):
    vectors = X.copy()
    vectors[1:20] = vectors[0] * (1 + 1e-7 * RNG.normal(size=(19, 4))).astype(np.float32)
    gold = [*map(float, range(19)), 0.5]
    similarity = [("mteb.STS12", "test", 0, n + 1, gold[n]) for n in range(20)]
    results = evaluate(Benchmarks.load(write_benchmarks(tmp_path, similarity, [], [], texts=TEXTS)), Table(vectors))
    assert results.scores["score"].to_pylist()[:19] == [1.0] * 19
    assert results.sets[0]["spearman"] == round(100 * spearman(gold, [1.0] * 19 + [0.0]), 2)


def test_model_without_vectors(tmp_path):
    labelled = [("features.TREC", SPLITS[n], n, Y[n]) for n in range(N)]
    similarity = [("mteb.STS12", "test", 0, n, float(n)) for n in (1, 2, 3)]
    benchmarks = Benchmarks.load(write_benchmarks(tmp_path, similarity, [], [], TEXTS, labelled))
    of_features, of_mteb = evaluate(benchmarks, DifferenceScorer()).sets
    assert of_features["not_defined"] == "not defined: the model scores pairs and has no sentence vectors"
    assert of_mteb["spearman"] == 100


@pytest.mark.parametrize("suite", ["features.TREC", "mteb.STS12"])
def test_vector_that_is_not_finite(tmp_path, suite):
    kind = {"labelled_sentences": [(suite, SPLITS[n], n, Y[n]) for n in range(N)]} if "TREC" in suite else {}
    similarity = [] if kind else [(suite, "test", 0, n, float(n)) for n in (1, 2, 3)]
    folder = write_benchmarks(tmp_path, similarity, [], [], texts=TEXTS, **kind)
    with pytest.raises(ModelError, match=r"vectors are not finite; train the model again"):
        evaluate(Benchmarks.load(folder), Table(np.where(np.arange(N)[:, None] == 2, np.nan, X)))
