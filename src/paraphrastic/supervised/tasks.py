"""Supervised tasks: labelled rows in three splits (iclr2016 §4.4, acl2017 §4.3, ldc2016 §4.1).

A task has the name of its evaluation set, with `-` in place of the first dot: `sick-relatedness`, `qa-wikiqa`, `sst`.
Two splits are made here, always alike:

* `sts` takes of each similarity set of 2012–2015 40 % for training, 10 % for development and 50 % for testing, rounded
  down, down and up, drawn at random: 4,841, 1,207 and 6,060 pairs of all 20 sets (acl2017 §4.3 prints 4,481), 4,541,
  1,132 and 5,685 of the 19 open ones.
* Where pairs with two labels have no development split, 100 of each label are taken from training (ldc2016 §4.1).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from paraphrastic.errors import DataError, ParameterError, unknown
from paraphrastic.evaluation.headline import percent, pooled
from paraphrastic.evaluation.paraphrase import decide
from paraphrastic.evaluation.ranking import rank
from paraphrastic.evaluation.similarity import pearson, spearman
from paraphrastic.tables import SENTENCES, indexed_schema, read_table

Kind = Literal["similarity", "ranking", "labelled_pairs", "labelled_sentences", "tagged_tokens"]

SPLITS = ("train", "dev", "test")
POOLED = "sts"
_SEED = 0  # of splits: they are part of the task, not of an experiment
_DEV = 100  # of each label
_FETCH = (
    "others come with `dvc repro` after `benchmarks: open` in params.yaml, or `full` and what `download` then names"
)


@dataclass(frozen=True)
class Rows:
    """Labelled rows of one split.

    Attributes:
        left: (n,) sentence.
        right: (n,) the other sentence; empty where single sentences are labelled.
        gold: (n,) float64 score or int64 label.
        question: (n,) which candidates are ranked together; all the same where nothing is ranked.
    """

    left: NDArray[np.int64]
    right: NDArray[np.int64]
    gold: NDArray[Any]
    question: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.left)

    def take(self, rows: NDArray[np.integer]) -> "Rows":
        """Some of them, in that order."""
        return Rows(
            self.left[rows], self.right[rows] if self.paired else self.right, self.gold[rows], self.question[rows]
        )

    @property
    def paired(self) -> bool:
        """Whether pairs are labelled, not sentences."""
        return len(self.right) > 0


@dataclass(frozen=True)
class Task:
    """What is to be learned.

    Attributes:
        name: as in params.yaml.
        kind: of table that the labels come from.
        sentences: (n,) tokenized, each once; rows are numbers of them.
        splits: `train`, `dev` and `test`.
        classes: how many labels there are; of scores 5, the K of Tai et al.
    """

    name: str
    kind: Kind
    sentences: pa.StringArray
    splits: Mapping[str, Rows]
    classes: int

    @property
    def metric(self) -> str:
        """What weights are chosen by on the development set."""
        return {"similarity": "pearson", "ranking": "map"}.get(self.kind, "accuracy")

    def figures(self, split: str, answer: NDArray[np.floating]) -> dict[str, float]:
        """Metrics × 100 of what a model says of the rows of a split.

        Args:
            split: which.
            answer: ŷ (n,) of scores, otherwise probabilities (n, classes).
        """
        measured = _FIGURES[self.kind](self.splits[split], answer)
        return {name: percent(value) for name, value in measured.items()}


@dataclass(frozen=True)
class Found:
    """Where a task's labels stand.

    Attributes:
        name: of the task.
        kind: of table.
        table: the rows of its sets, of all splits.
    """

    name: str
    kind: Kind
    table: pa.Table


def find(folder: Path, name: str) -> Found:
    """The rows of the task `name` in the tables that the stage `tokenize` wrote to `folder`.

    Raises:
        ParameterError: there is no such task; names those that there are.
        DataError: a file is missing or damaged.
    """
    tables = {kind: read_table(folder / f"{kind}.parquet", indexed_schema(kind)) for kind in get_args(Kind)}
    found = _sets(tables)
    if name not in found:
        raise ParameterError(f"{unknown('supervised task', name, found)}; {_FETCH}")
    kind, sets = found[name]
    return Found(name, kind, tables[kind].filter(pc.is_in(tables[kind]["set"], pa.array(sets))))


def load(folder: Path, found: Found) -> Task:
    """A task whose rows are about sentences, with its splits.

    Args:
        folder: with `sentences.parquet`.
        found: its rows.

    Raises:
        DataError: a file is missing or damaged, or a split has no rows.
    """
    splits = _pooled(found.table) if found.name == POOLED else _split(found.table)
    if empty := [split for split in SPLITS if not len(splits[split])]:
        raise DataError(f"{found.name}: no rows for {', '.join(empty)}; its source is incomplete, run `dvc repro`")
    sentences = read_table(folder / "sentences.parquet", SENTENCES)["text"].combine_chunks()
    return _task(found.name, found.kind, sentences, splits)


def _sets(tables: Mapping[str, pa.Table]) -> dict[str, tuple[Kind, list[str]]]:
    """Each task's kind and sets; a set is a task where it has training rows."""
    found = {}
    for kind, table in tables.items():
        names = pc.unique(table.filter(pc.equal(table["split"], "train"))["set"]).to_pylist()
        found |= {each.replace(".", "-", 1): (kind, [each]) for each in names if not each.startswith("sts.")}
    graded = tables["similarity"]
    tested = pc.unique(graded.filter(pc.equal(graded["split"], "test"))["set"]).to_pylist()
    return found | ({POOLED: ("similarity", sets)} if (sets := pooled(tested)) else {})


def _split(table: pa.Table) -> dict[str, Rows]:
    splits = {split: _rows(table.filter(pc.equal(table["split"], split))) for split in SPLITS}
    if len(splits["dev"]) or "label" not in table.column_names:
        return splits
    chosen = _balanced(splits["train"].gold)
    return splits | {
        "dev": splits["train"].take(np.flatnonzero(chosen)),
        "train": splits["train"].take(np.flatnonzero(~chosen)),
    }


def _balanced(labels: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which rows (n,) are for development: `_DEV` of each label, but no more than a fifth of them."""
    chance, chosen = np.random.default_rng(_SEED), np.zeros(len(labels), bool)
    for label in np.unique(labels):
        rows = np.flatnonzero(labels == label)
        chosen[chance.permutation(rows)[: min(_DEV, len(rows) // 5)]] = True
    return chosen


def _pooled(table: pa.Table) -> dict[str, Rows]:
    table = table.filter(pc.equal(table["split"], "test"))
    sets, rows = table["set"].to_numpy(zero_copy_only=False), _rows(table)
    part = np.empty(len(rows), np.int64)
    for name in sorted(set(sets)):
        where = np.random.default_rng(_SEED).permutation(np.flatnonzero(sets == name))
        train, dev = 4 * len(where) // 10, len(where) // 10
        part[where] = np.searchsorted([train, train + dev], np.arange(len(where)), "right")
    return {split: rows.take(np.flatnonzero(part == n)) for n, split in enumerate(SPLITS)}


def _rows(table: pa.Table) -> Rows:
    def column(name: str) -> NDArray[Any]:
        return table[name].to_numpy().astype(np.int64) if name in table.column_names else np.empty(0, np.int64)

    gold = table["score"].to_numpy() if "score" in table.column_names else column("label")
    question = column("question") if "question" in table.column_names else np.zeros(len(table), np.int64)
    return Rows(column("left"), column("right"), gold, question)


def _task(name: str, kind: Kind, sentences: pa.StringArray, splits: Mapping[str, Rows]) -> Task:
    """With only the sentences that the splits need, and scores on 1 … 5."""
    needed = np.unique(np.concatenate([side for rows in splits.values() for side in (rows.left, rows.right)]))
    gold = np.concatenate([rows.gold for rows in splits.values()])
    low, high = (1.0, 5.0) if gold.min() >= 1 else (0.0, 5.0)
    own = {}
    for split, rows in splits.items():
        sides = (np.searchsorted(needed, side) for side in (rows.left, rows.right))
        scores = 1 + 4 * (rows.gold - low) / (high - low) if kind == "similarity" else rows.gold
        own[split] = Rows(*sides, scores, rows.question)
    classes = 5 if kind == "similarity" else int(gold.max()) + 1
    return Task(name, kind, sentences.take(pa.array(needed)), own, classes)


def _similarity(rows: Rows, answer: NDArray[np.floating]) -> dict[str, float]:
    return {"pearson": pearson(rows.gold, answer), "spearman": spearman(rows.gold, answer)}


def _ranking(rows: Rows, answer: NDArray[np.floating]) -> dict[str, float]:
    return rank(rows.question, rows.gold, answer[:, 1])._asdict()


def _classes(rows: Rows, answer: NDArray[np.floating]) -> dict[str, float]:
    if rows.paired and answer.shape[1] == 2:
        return decide(rows.gold, answer[:, 1], 0.5)._asdict()
    return {"accuracy": float(np.mean(answer.argmax(1) == rows.gold))}


_FIGURES: dict[Kind, Callable[[Rows, NDArray[np.floating]], dict[str, float]]] = {
    "similarity": _similarity,
    "ranking": _ranking,
    "labelled_pairs": _classes,
    "labelled_sentences": _classes,
}
