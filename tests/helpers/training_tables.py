"""The tables that the stage `train` reads, for short trainings."""

from pathlib import Path

import pyarrow as pa

from paraphrastic.base.tables import NGRAM_COUNTS, write_table
from paraphrastic.vocabulary.counting import count_ngrams
from pipeline.train import TABLES
from tests.helpers.benchmark_tables import write_benchmarks
from tests.helpers.run_artifacts import write_corpus


def write_tables(folder: Path, sentences: pa.StringArray) -> None:
    """Write tables to `data` in a folder: sentence i of the first half is paired with sentence i of the second half."""
    (write_benchmarks(folder / TABLES.benchmarks) / "select.txt").write_text("sts.2016\n")
    half = len(sentences) // 2
    write_corpus(folder / "data", sentences.to_pylist(), [(n, half + n, "a", n) for n in range(half)])
    write_table(count_ngrams(sentences, [2], 1), folder / TABLES.vocabulary / "ngrams.parquet", NGRAM_COUNTS)
