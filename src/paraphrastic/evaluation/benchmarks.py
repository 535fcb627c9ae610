"""The evaluation sets of a suite, as the stage `tokenize` writes them."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from paraphrastic.base.errors import DataError
from paraphrastic.base.tables import SENTENCES, SIDES, indexed_schema, read_table

SCORED = ("similarity", "ranking", "labelled_pairs")  # kinds of sets that any scorer can be evaluated on
FEATURES = "features."  # sets whose labels a classifier learns from sentence vectors
_KINDS = (*SCORED, "labelled_sentences")


@dataclass(frozen=True)
class EvaluationSet:
    """Pairs of sentences with human judgements.

    Attributes:
        name: for example `sts.2012.MSRpar`.
        kind: one of `SCORED`, or `labelled_sentences`; determines the columns of `table`.
        table: the test pairs in the order of the source; labelled pairs also have the training pairs, sets of
            `FEATURES` all rows.
    """

    name: str
    kind: str
    table: pa.Table

    def __len__(self) -> int:
        return len(self.table)

    def column(self, name: str) -> NDArray[Any]:
        """Return a column as an array (pairs,)."""
        values: NDArray[Any] = self.table[name].to_numpy()
        return values

    @property
    def sides(self) -> list[str]:
        """The columns with row numbers of sentences."""
        return [side for side in SIDES.values() if side in self.table.column_names]

    @property
    def is_test(self) -> NDArray[np.bool_]:
        """Which pairs belong to the test split, (pairs,)."""
        mask: NDArray[np.bool_] = pc.equal(self.table["split"], "test").to_numpy()
        return mask


@dataclass(frozen=True)
class Benchmarks:
    """All sets that scorers are evaluated on.

    Attributes:
        sentences: every distinct tokenized sentence.
        tables: an indexed table for each kind of `EvaluationSet`, with row numbers of `sentences`.
    """

    sentences: pa.StringArray
    tables: Mapping[str, pa.Table]

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Read `sentences.parquet` and the tables of all kinds.

        Raises:
            DataError: a file is missing or damaged, or has row numbers out of range.
        """
        sentences = read_table(folder / "sentences.parquet", SENTENCES)["text"].combine_chunks()
        tables = {}
        for kind in _KINDS:
            path = folder / f"{kind}.parquet"
            tables[kind] = read_table(path, indexed_schema(kind))
            _check(tables[kind], len(sentences), path)
        return cls(sentences, tables)

    def sets(self) -> list[EvaluationSet]:
        """Return the sets with test pairs, by name; of labelled pairs only those with two labels.

        Labelled sentences are a set only if `FEATURES` is.
        """
        sets = [evaluation_set for kind in _KINDS for evaluation_set in self._sets(kind)]
        return sorted(sets, key=lambda evaluation_set: (evaluation_set.name, evaluation_set.kind))

    def _sets(self, kind: str) -> list[EvaluationSet]:
        table = self.tables[kind]
        of_features = pc.starts_with(table["set"], FEATURES)
        splits = pa.array(["train", "test"] if kind == "labelled_pairs" else ["test"])
        wanted = pc.is_in(table["split"], splits) if kind in SCORED else pa.scalar(False)
        table = table.filter(pc.or_(of_features, wanted))
        names = pc.unique(table["set"]).to_pylist()
        sets = [EvaluationSet(name, kind, table.filter(pc.equal(table["set"], name))) for name in names]
        with_test = [each for each in sets if each.is_test.any()]
        return [each for each in with_test if kind != "labelled_pairs" or each.column("label").max() <= 1]


def _check(table: pa.Table, sentences: int, path: Path) -> None:
    if any(column.null_count for column in table.columns):
        raise DataError(f"{path}: has empty cells; run `dvc repro` to create it again")
    rows = np.concatenate([table[side].to_numpy() for side in SIDES.values() if side in table.column_names])
    if len(rows) and not (rows.min() >= 0 and rows.max() < sentences):
        raise DataError(f"{path}: has row numbers that sentences.parquet lacks; run `dvc repro` to create both again")
    if "score" in table.column_names and not np.isfinite(table["score"].to_numpy()).all():
        raise DataError(f"{path}: has scores that are not finite; run `dvc repro` to create it again")
