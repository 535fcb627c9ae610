"""Supervised tasks: their names, splits, labels and metrics."""

import numpy as np
import pytest

from paraphrastic.base.errors import DataError, ParameterError
from paraphrastic.base.tables import PREDICTIONS
from paraphrastic.evaluation.metrics import map_and_mrr, pearson
from paraphrastic.finetuning.tasks import SPLITS, LabelledRows, find_task
from tests.helpers.task_tables import WORDS, read_task, write_tasks
from tests.helpers.toy_tasks import random_task


def sizes(task):
    return {name: len(split) for name, split in task.splits.items()}


class TestPooledSts:
    def test_40_and_10_percent_of_each_set(self, tmp_path):
        rows = [("sts.2012.a", "test", n, 1, 2.5) for n in range(19)]
        rows += [("sts.2012.b", "test", n, 1, 2.5) for n in range(27)]
        rows += [("sts.2016.c", "test", 1, 2, 5.0), ("sts.2012.a", "train", 3, 4, 0.0)]
        task = read_task(write_tasks(tmp_path, similarity=rows), "sts")
        assert sizes(task) == {"train": 7 + 10, "dev": 1 + 2, "test": 11 + 15}

    @pytest.mark.parametrize(("smt", "counts"), [(750, (4841, 1207, 6060)), (0, (4541, 1132, 5685))])
    def test_counts_of_acl2017(self, tmp_path, smt, counts):
        # the numbers of pairs of the 20 sets of 2012 to 2015, of which the SMT set of 2013 needs a licence
        pairs = [750, 750, 459, 750, 399, 189, 561, 750, 750, 450, 300, 750, 750, 750, 375, 750, 375, 750, 750, smt]
        rows = [(f"sts.2015.{name}", "test", n % 60, 1, 2.5) for name, size in enumerate(pairs) for n in range(size)]
        task = read_task(write_tasks(tmp_path, similarity=rows), "sts")
        assert sizes(task) == dict(zip(SPLITS, counts, strict=True))

    def test_splits_of_repeated_calls(self, tmp_path):
        rows = [("sts.2012.a", "test", n, (n + 1) % 60, 1.0) for n in range(60)]
        first, second = (read_task(write_tasks(tmp_path / name, similarity=rows), "sts").splits for name in "ab")
        assert all((first[split].left == second[split].left).all() for split in first)
        assert sorted(np.concatenate([split.left for split in first.values()])) == list(range(60))

    def test_sets_of_the_sample(self, tmp_path):
        rows = [(name, "test", n, n + 1, 1.0) for name in ("sample.images", "sample.dev") for n in range(20)]
        task = read_task(write_tasks(tmp_path, similarity=rows), "sts")
        assert sizes(task) == {"train": 8, "dev": 2, "test": 10}


def test_scores_of_each_range(tmp_path):
    rows = [("sts.2012.a", "test", n, n + 1, n / 4) for n in range(21)]
    task = read_task(write_tasks(tmp_path, similarity=rows), "sts")
    gold = np.concatenate([split.gold for split in task.splits.values()])
    np.testing.assert_allclose(np.sort(gold), np.linspace(1, 5, 21))
    assert task.classes == 5
    rows = [("sick.relatedness", split, n, n + 1, 1 + n / 2) for split in SPLITS for n in range(9)]
    task = read_task(write_tasks(tmp_path, similarity=rows), "sick-relatedness")
    np.testing.assert_allclose(task.splits["test"].gold, 1 + np.arange(9) / 2)
    rows = [("own.mine", split, n, n + 1, 10.0 * n) for split in SPLITS for n in range(9)]
    with pytest.raises(DataError, match=r"own-mine: scores from 0 to 80, .* 0 to 5; scale them"):
        read_task(write_tasks(tmp_path, similarity=rows), "own-mine")


def test_pairs_without_development_set(tmp_path):
    rows = [("paraphrase.msrp", "train", n % 60, 1, int(n % 3 > 0)) for n in range(1800)]
    rows += [("paraphrase.msrp", "test", 1, 2, 1)]
    splits = read_task(write_tasks(tmp_path, labelled_pairs=rows), "paraphrase-msrp").splits
    assert np.bincount(splits["dev"].gold).tolist() == [100, 100]
    assert np.bincount(splits["train"].gold).tolist() == [500, 1100]


def test_few_pairs_without_development_set(tmp_path):
    rows = [("paraphrase.msrp", "train", n, 1, n % 2) for n in range(50)] + [("paraphrase.msrp", "test", 1, 2, 1)]
    splits = read_task(write_tasks(tmp_path, labelled_pairs=rows), "paraphrase-msrp").splits
    assert np.bincount(splits["dev"].gold).tolist() == [5, 5]  # a fifth of each label
    assert len(splits["train"]) == 40


@pytest.mark.parametrize(("questions", "dev"), [(40, 8), (600, 100)])
def test_ranking_without_development_set(tmp_path, questions, dev):
    rows = [("qa.other", "train", n // 3, n % 60, 1, int(n % 3 == 0)) for n in range(3 * questions)]
    rows += [("qa.other", "test", 0, 1, 2, 1)]
    splits = read_task(write_tasks(tmp_path, ranking=rows), "qa-other").splits
    parts = [set(splits[split].question) for split in ("dev", "train")]
    assert [len(part) for part in parts] == [dev, questions - dev]
    assert not parts[0] & parts[1]
    assert len(splits["dev"]) == 3 * dev  # each question has all its candidates


def test_sentences_of_single_texts(tmp_path):
    rows = [("sst", split, 10 * n, n % 2) for n, split in enumerate(SPLITS, 1)]
    task = read_task(write_tasks(tmp_path, labelled_sentences=rows), "sst")
    assert task.sentences.to_pylist() == [WORDS[n] for n in (10, 20, 30)]
    assert [task.splits[split].left.tolist() for split in SPLITS] == [[0], [1], [2]]
    assert not task.splits["train"].is_pairs


def test_unknown_task_and_task_without_test_rows(tmp_path):
    rows = [("sick.relatedness", split, 1, 2, 3.0) for split in SPLITS]
    write_tasks(tmp_path, similarity=rows)
    with pytest.raises(
        ParameterError,
        match=r"^finetune/params\.yaml: tasks: unknown supervised task .*: did you mean 'sick-relatedness'",
    ) as caught:
        find_task(tmp_path, "sick-relatednes")
    assert "; others are available after `benchmarks: open` in params.yaml" in str(caught.value)
    assert "\n" not in str(caught.value)
    rows = [("sst", split, 1, 1) for split in ("train", "dev")]
    with pytest.raises(DataError, match=r"sst: no rows for test; .*run `dvc repro`"):
        read_task(write_tasks(tmp_path, labelled_sentences=rows), "sst")
    rows = [("own.mine", split, 1, 2, 3.0) for split in ("train", "test")]
    with pytest.raises(DataError, match=r"own-mine: no rows for dev; add them to the file of the set$"):
        read_task(write_tasks(tmp_path / "own", similarity=rows), "own-mine")


def test_split_whose_labels_define_no_metric(tmp_path):
    rows = [("sst", split, 1, label) for split, label in [("train", 0), ("train", 1), ("dev", 1), ("dev", 1)]]
    task = read_task(write_tasks(tmp_path, labelled_sentences=[*rows, ("sst", "test", 1, 1)]), "sst")
    with pytest.raises(DataError, match="sst: the metrics of dev are not defined: all scores or labels are equal; add"):
        task.check()
    rows = [("sst", split, 1, label) for split in ("dev", "test") for label in (0, 1)]
    task = read_task(write_tasks(tmp_path / "one", labelled_sentences=[*rows, ("sst", "train", 1, 1)]), "sst")
    with pytest.raises(DataError, match="sst: the metrics of train are not defined: fewer than two rows; add"):
        task.check()


def test_tagging_task(tmp_path):
    rows = [("sample.tags", split, 0, "a", "NN", 0, "root") for split in SPLITS]
    found = find_task(write_tasks(tmp_path, tagged_tokens=rows), "sample-tags")
    assert (found.kind, len(found.table)) == ("tagged_tokens", 3)


def test_taken_rows():
    rows = LabelledRows(np.arange(4), np.arange(4, 8), np.array([0, 1, 0, 1]), np.array([3, 3, 4, 4]))
    taken = rows.take(np.array([2, 0]))
    columns = (taken.left, taken.right, taken.gold, taken.question)
    assert [column.tolist() for column in columns] == [[2, 0], [6, 4], [0, 0], [4, 3]]
    single = LabelledRows(np.arange(4), np.arange(0), np.arange(4), np.zeros(4, np.int64)).take(np.array([3, 1]))
    assert not single.is_pairs
    assert single.left.tolist() == [3, 1]


@pytest.mark.parametrize(
    ("kind", "metric", "names"),
    [
        ("similarity", "pearson", {"pearson", "spearman"}),
        ("ranking", "map", {"map", "mrr"}),
        ("labelled_pairs", "accuracy", {"accuracy", "f1"}),
        ("labelled_sentences", "accuracy", {"accuracy"}),
    ],
)
def test_metrics_of_perfect_predictions(kind, metric, names):
    task = random_task(kind)
    gold = task.splits["test"].gold
    predicted = gold if kind == "similarity" else np.stack([1.0 - gold, gold], 1)
    metrics = task.metrics("test", predicted)
    assert task.metric == metric
    assert metrics.keys() == names
    assert set(metrics.values()) == {100.0}


def test_scores_that_rounded_metrics_do_not_tell_apart():
    task = random_task("similarity", 200)
    gold = task.splits["dev"].gold
    better, worse = (gold + noise * np.arange(200) for noise in (1e-5, 2e-5))
    assert task.metrics("dev", better)["pearson"] == task.metrics("dev", worse)["pearson"]
    assert task.score(better) > task.score(worse)


@pytest.mark.parametrize("kind", ["similarity", "ranking", "labelled_pairs", "labelled_sentences"])
def test_predictions_give_the_metrics(kind):
    task, rng = random_task(kind, 200), np.random.default_rng(1)
    n = len(task.splits["test"])
    predicted = rng.uniform(1, 5, n) if kind == "similarity" else rng.dirichlet([1.0] * task.classes, n)
    predicted[:5] = 1 / task.classes  # ties
    table = task.predictions("test", predicted)
    assert table.schema == PREDICTIONS
    assert set(table["kind"].to_pylist()) == {kind}
    assert set(table["split"].to_pylist()) == {"test"}
    question, gold, found = (table[name].to_numpy() for name in ("question", "gold", "predicted"))
    assert (question == -1).all() == (kind != "ranking")
    values = {"pearson": lambda: pearson(gold, found), "map": lambda: map_and_mrr(question, gold, found).map}
    value = values.get(task.metric, lambda: np.mean(gold == found))()
    assert task.metrics("test", predicted)[task.metric] == pytest.approx(100 * value, abs=0.006)
