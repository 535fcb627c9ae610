"""Supervised tasks: labelled rows in three splits (iclr2016 §4.4, acl2017 §4.3, ldc2016 §4.1).

A task has the name of its evaluation set, with `-` in place of the first dot: `sick-relatedness`, `qa-wikiqa`, `sst`.
Two kinds of splits are made here, in the same way every time:

* `sts` divides each similarity set of 2012–2015 at random: 40 % for training and 10 % for development, both rounded
  down, and the rest for testing. All 20 sets give 4,841, 1,207 and 6,060 pairs (acl2017 §4.3 prints 4,481), the 19
  open ones 4,541, 1,132 and 5,685.
* If a set with labels has no development split, 100 training rows of each label become one, but at most a fifth of
  them (ldc2016 §4.1). Of a ranking, 100 questions with all their candidates become one, but at most a fifth of them.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import ArrayLike, NDArray

from paraphrastic.base.errors import DataError, ParameterError, unknown_name
from paraphrastic.base.parameters import FILES
from paraphrastic.base.tables import PREDICTIONS, SENTENCES, indexed_schema, read_table
from paraphrastic.evaluation.headline import pooled_sets
from paraphrastic.evaluation.metrics import (
    UndefinedError,
    accuracy_and_f1,
    check_judgements,
    map_and_mrr,
    pearson,
    percent,
    spearman,
)

Kind = Literal["similarity", "ranking", "labelled_pairs", "labelled_sentences", "tagged_tokens"]

SPLITS = ("train", "dev", "test")
POOLED = "sts"
_SPLIT_SEED = 0  # splits are part of the task, not of an experiment
_DEV_SIZE = 100  # rows of each label, or questions
_SCORE_CLASSES = 5  # K of Tai et al.
_HOW_TO_GET = (
    "others are available after `benchmarks: open` in params.yaml and `dvc repro`, or after `full` and the files that "
    "the stage `download` then asks for"
)


@dataclass(frozen=True)
class LabelledRows:
    """The rows of one split."""

    left: NDArray[np.int64]  # (n,), the sentence, or the first of a pair
    right: NDArray[np.int64]  # (n,), the second sentence of a pair; empty if single sentences are labelled
    gold: NDArray[Any]  # (n,), float64 scores or int64 labels
    question: NDArray[np.int64]  # (n,), rows with the same question are ranked together; constant if nothing is ranked

    def __len__(self) -> int:
        return len(self.left)

    def take(self, rows: NDArray[np.integer]) -> "LabelledRows":
        """Return the rows `rows` in that order."""
        right = self.right[rows] if self.is_pairs else self.right
        return LabelledRows(self.left[rows], right, self.gold[rows], self.question[rows])

    @property
    def is_pairs(self) -> bool:
        """Whether pairs are labelled, not single sentences."""
        return len(self.right) > 0


@dataclass(frozen=True)
class Task:
    """A supervised task."""

    name: str  # as in params.yaml
    kind: Kind  # kind of the table that the labels come from
    sentences: pa.StringArray  # (n,), the distinct tokenized sentences that rows number
    splits: Mapping[str, LabelledRows]  # `train`, `dev` and `test`
    classes: int  # number of labels; 5 for scores

    @property
    def metric(self) -> str:
        """The metric on the development set that weights are selected by."""
        return {"similarity": "pearson", "ranking": "map"}.get(self.kind, "accuracy")

    def check(self) -> None:
        """Raise a DataError if the labels of a split are all equal, or define no metrics."""
        for name in ("train", "dev", "test"):
            rows = self.splits[name]
            try:
                check_judgements(rows.gold, rows.question if self.kind == "ranking" else None)
            except UndefinedError as error:
                raise DataError(f"{self.name}: the metrics of {name} are {error}; add rows to its source") from error

    def metrics(self, split: str, predicted: NDArray[np.floating]) -> dict[str, float]:
        """Return the metrics × 100 of predictions for the rows of a split, rounded to 2 decimals.

        Args:
            split: name of the split.
            predicted: scores (n,) if the task has scores, otherwise probabilities (n, classes).
        """
        return {name: percent(value) for name, value in self._metrics(split, predicted).items()}

    def score(self, predicted: NDArray[np.floating]) -> float:
        """Return `metric` × 100 of predictions for the development set, without rounding, which would make ties."""
        return 100 * self._metrics("dev", predicted)[self.metric]

    def _metrics(self, split: str, predicted: NDArray[np.floating]) -> dict[str, float]:
        rows = self.splits[split]
        if self.kind == "similarity":
            return {"pearson": pearson(rows.gold, predicted), "spearman": spearman(rows.gold, predicted)}
        if self.kind == "ranking":
            return map_and_mrr(rows.question, rows.gold, predicted[:, 1])._asdict()
        if rows.is_pairs and predicted.shape[1] == 2:
            return accuracy_and_f1(rows.gold, predicted[:, 1], 0.5)._asdict()
        return {"accuracy": float(np.mean(predicted.argmax(1) == rows.gold))}

    def predictions(self, split: str, predicted: NDArray[np.floating]) -> pa.Table:
        """Return the rows of a split with what is predicted for each, in the columns of `PREDICTIONS`.

        Args:
            split: name of the split.
            predicted: as for `metrics`, which computes the same accuracy.
        """
        rows = self.splits[split]
        if self.kind == "similarity":
            return predictions(self.kind, split, rows.gold, predicted)
        if self.kind == "ranking":
            return predictions(self.kind, split, rows.gold, predicted[:, 1], rows.question)
        is_match = rows.is_pairs and predicted.shape[1] == 2  # label 1 has a tie, as in `accuracy_and_f1`
        return predictions(self.kind, split, rows.gold, predicted[:, 1] >= 0.5 if is_match else predicted.argmax(1))


@dataclass(frozen=True)
class TaskRows:
    """The table rows of a task, before they are divided into splits."""

    name: str  # of the task
    kind: Kind  # of the table
    table: pa.Table  # the rows of its sets, of all splits


def predictions(
    kind: Kind, split: str, gold: ArrayLike, predicted: ArrayLike, question: NDArray[np.int64] | None = None
) -> pa.Table:
    """Return a table of n rows with the columns of `PREDICTIONS`."""
    gold, predicted = np.asarray(gold, np.float64), np.asarray(predicted, np.float32)
    questions = np.full(len(gold), -1) if question is None else question
    columns = [np.full(len(gold), kind), np.full(len(gold), split), questions, gold, predicted]
    return pa.table(columns, PREDICTIONS.names).cast(PREDICTIONS)


def find_task(folder: Path, name: str, key: str = "tasks") -> TaskRows:
    """Find the task `name`, from `key` of finetune/params.yaml, in the tables that `tokenize` wrote to `folder`.

    Raises:
        ParameterError: there is no such task.
        DataError: a file is missing or damaged.
    """
    tables = {kind: read_table(folder / f"{kind}.parquet", indexed_schema(kind)) for kind in get_args(Kind)}
    tasks = _tasks(tables)
    if name not in tasks:
        raise ParameterError(
            f"{FILES['finetune']}: {key}: {unknown_name('supervised task', name, tasks)}; {_HOW_TO_GET}"
        )
    kind, sets = tasks[name]
    return TaskRows(name, kind, tables[kind].filter(pc.is_in(tables[kind]["set"], pa.array(sets))))


def load_task(folder: Path, rows: TaskRows) -> Task:
    """Divide the rows of a task into splits, map scores to 1 … 5, and load the sentences used (not for tagging).

    Args:
        folder: holds `sentences.parquet`.
        rows: from `find_task`.

    Raises:
        DataError: a file is missing or damaged, a split has no rows, or scores are outside of 0 … 5.
    """
    splits = _split_pooled(rows.table) if rows.name == POOLED else _split(rows.table)
    if empty := [split for split in SPLITS if not len(splits[split])]:
        is_own = rows.name.startswith("own-")
        remedy = "add them to the file of the set" if is_own else "its source is incomplete, run `dvc repro`"
        raise DataError(f"{rows.name}: no rows for {', '.join(empty)}; {remedy}")
    sentences = read_table(folder / "sentences.parquet", SENTENCES)["text"].combine_chunks()
    used = np.unique(np.concatenate([side for split in splits.values() for side in (split.left, split.right)]))
    gold = np.concatenate([split.gold for split in splits.values()])
    is_scored = rows.kind == "similarity"
    if is_scored and not 0 <= gold.min() <= gold.max() <= 5:
        found = f"scores from {gold.min():g} to {gold.max():g}"
        raise DataError(f"{rows.name}: {found}, a task needs scores from 0 to 5; scale them in the file of the set")
    lowest = 1.0 if gold.min() >= 1 else 0.0
    for name, split in splits.items():
        left, right = (np.searchsorted(used, side) for side in (split.left, split.right))
        scores = 1 + 4 * (split.gold - lowest) / (5 - lowest) if is_scored else split.gold
        splits[name] = LabelledRows(left, right, scores, split.question)
    classes = _SCORE_CLASSES if is_scored else int(gold.max()) + 1
    return Task(rows.name, rows.kind, sentences.take(used), splits, classes)


def _tasks(tables: Mapping[str, pa.Table]) -> dict[str, tuple[Kind, list[str]]]:
    """Return the kind and the sets of each task: every set with training rows outside of `sts.*`, and `POOLED`."""
    tasks: dict[str, tuple[Kind, list[str]]] = {}
    for kind in get_args(Kind):
        table = tables[kind]
        names = pc.unique(table.filter(pc.equal(table["split"], "train"))["set"]).to_pylist()
        tasks |= {name.replace(".", "-", 1): (kind, [name]) for name in names if not name.startswith("sts.")}
    similarity = tables["similarity"]
    tested = pc.unique(similarity.filter(pc.equal(similarity["split"], "test"))["set"]).to_pylist()
    sets = pooled_sets(tested)
    return tasks | ({POOLED: ("similarity", sets)} if sets else {})


def _split(table: pa.Table) -> dict[str, LabelledRows]:
    splits = {split: _rows(table.filter(pc.equal(table["split"], split))) for split in SPLITS}
    if len(splits["dev"]) or "label" not in table.column_names:
        return splits
    train, generator = splits["train"], np.random.default_rng(_SPLIT_SEED)
    if "question" in table.column_names:  # with all their candidates
        dev = np.isin(train.question, _sample(np.unique(train.question), generator))
    else:
        rows = [_sample(np.flatnonzero(train.gold == label), generator) for label in np.unique(train.gold)]
        dev = np.isin(np.arange(len(train)), np.concatenate(rows))
    return splits | {"dev": train.take(np.flatnonzero(dev)), "train": train.take(np.flatnonzero(~dev))}


def _sample(of: NDArray[np.int64], generator: np.random.Generator) -> NDArray[np.int64]:
    """Choose 100 for development, but at most a fifth."""
    return generator.permutation(of)[: min(_DEV_SIZE, len(of) // 5)]


def _split_pooled(table: pa.Table) -> dict[str, LabelledRows]:
    table = table.filter(pc.equal(table["split"], "test"))
    sets, rows = table["set"].to_numpy(zero_copy_only=False), _rows(table)
    part = np.empty(len(rows), np.int64)
    for name in sorted(set(sets)):
        where = np.random.default_rng(_SPLIT_SEED).permutation(np.flatnonzero(sets == name))
        train, dev = 4 * len(where) // 10, len(where) // 10
        part[where] = np.searchsorted([train, train + dev], np.arange(len(where)), "right")
    return {split: rows.take(np.flatnonzero(part == n)) for n, split in enumerate(SPLITS)}


def _rows(table: pa.Table) -> LabelledRows:
    def column(name: str) -> NDArray[np.int64]:
        return table[name].to_numpy().astype(np.int64) if name in table.column_names else np.empty(0, np.int64)

    gold = table["score"].to_numpy() if "score" in table.column_names else column("label")
    question = column("question") if "question" in table.column_names else np.zeros(len(table), np.int64)
    return LabelledRows(column("left"), column("right"), gold, question)
