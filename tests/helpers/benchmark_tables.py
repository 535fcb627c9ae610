"""Small evaluation sets on disk, and a scorer whose scores are known."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from paraphrastic.base.tables import SENTENCES, indexed_schema, write_table

TEXTS = [f"sentence {n}" for n in range(10)]
SIMILARITY = [
    # set, split, left, right, score; `DifferenceScorer` scores a pair by right − left
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
RANKING = [
    # set, split, question, left, right, label
    ("qa.wikiqa", "test", 0, 5, 6, 1),
    ("qa.wikiqa", "test", 0, 5, 7, 0),
    ("qa.wikiqa", "test", 1, 4, 5, 0),
    ("qa.wikiqa", "dev", 0, 5, 9, 1),
]
LABELLED_PAIRS = [
    # set, split, left, right, label
    ("paraphrase.msrp", "train", 2, 4, 0),
    ("paraphrase.msrp", "train", 2, 5, 1),
    ("paraphrase.msrp", "test", 3, 4, 0),
    ("paraphrase.msrp", "test", 3, 6, 1),
    ("paraphrase.msrp", "test", 3, 7, 0),
    ("sick.entailment", "test", 8, 9, 2),
    ("sick.entailment", "train", 8, 9, 0),
]

Rows = Sequence[tuple[Any, ...]]


def write_benchmarks(
    folder: Path,
    similarity: Rows = SIMILARITY,
    ranking: Rows = RANKING,
    labelled_pairs: Rows = LABELLED_PAIRS,
    texts: Sequence[str] = TEXTS,
    **others: Rows,
) -> Path:
    """Write the tables that `Benchmarks.load` reads, and those of other kinds of rows; return `folder`."""
    write_table(pa.table({"text": texts}), folder / "sentences.parquet", SENTENCES)
    kinds = {"similarity": similarity, "ranking": ranking, "labelled_pairs": labelled_pairs, **others}
    for kind, rows in kinds.items():
        schema = indexed_schema(kind)
        columns = list(zip(*rows, strict=True)) or [[]] * len(schema)
        write_table(pa.table(dict(zip(schema.names, columns, strict=True))), folder / f"{kind}.parquet", schema)
    return folder


class DifferenceScorer:
    """Scores a pair by the number in its right text minus that in its left text.

    Args:
        oov: the out-of-vocabulary share of some texts; 0 for the others.

    Attributes:
        requests: the texts of each call of `score`.
    """

    def __init__(self, oov: Mapping[str, float] | None = None) -> None:
        self.requests: list[list[str]] = []
        self._oov = oov or {}

    def score(self, sentences: pa.StringArray, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        self.requests.append(sentences.to_pylist())
        number = np.array([int(text.split()[1]) for text in sentences.to_pylist()], np.float32)
        return number[right] - number[left]

    def oov_share(self, sentences: pa.StringArray) -> np.ndarray:
        return np.array([self._oov.get(text, 0.0) for text in sentences.to_pylist()])
