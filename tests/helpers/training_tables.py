"""The tables that the stage `train` reads, for short trainings."""

from pathlib import Path

import pyarrow as pa

from paraphrastic.base.tables import NGRAM_COUNTS, PAIRS, SENTENCES, WORD_COUNTS, write_table
from paraphrastic.vocabulary.counting import count_ngrams, count_words
from pipeline.train import TABLES
from tests.helpers.benchmark_tables import write_benchmarks


def write_tables(folder: Path, sentences: pa.StringArray) -> None:
    """Write tables to `data` in a folder: sentence i of the first half is paired with sentence i of the second half."""
    (write_benchmarks(folder / TABLES.benchmarks) / "select.txt").write_text("sts.2016\n")
    half = len(sentences) // 2
    left, right = range(half), range(half, 2 * half)
    pairs = pa.table({"left": left, "right": right, "source": ["a"] * half, "group": left})
    write_table(pa.table({"text": sentences}), folder / TABLES.corpus / "sentences.parquet", SENTENCES)
    write_table(pairs, folder / TABLES.corpus / "pairs.parquet", PAIRS)
    write_table(count_words(sentences, 1), folder / TABLES.vocabulary / "words.parquet", WORD_COUNTS)
    write_table(count_ngrams(sentences, [2], 1), folder / TABLES.vocabulary / "ngrams.parquet", NGRAM_COUNTS)
