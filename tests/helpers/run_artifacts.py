"""The files that the stages of a run write, for a few sentences and a model of word overlap."""

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa

from paraphrastic.analysis.artifacts import Artifacts
from paraphrastic.base.tables import PAIRS, SCORES, SENTENCES, WORD_COUNTS, write_table
from paraphrastic.evaluation.suite import Benchmarks, evaluate
from paraphrastic.inference import model_folder
from paraphrastic.scoring.bags import OverlapScorer
from paraphrastic.vocabulary.counting import count_words
from tests.helpers.benchmark_tables import Rows, write_benchmarks


def write_run(folder: Path, texts: Sequence[str], similarity: Rows) -> Artifacts:
    """Write benchmarks, model and scores to `folder`."""
    write_benchmarks(folder / "benchmarks", similarity, [], [], texts)
    model_folder.write_model(OverlapScorer(), model_folder.ModelInfo("overlap", {}), folder / "model")
    scores = evaluate(Benchmarks.load(folder / "benchmarks"), OverlapScorer()).scores
    write_table(scores, folder / "scores.parquet", SCORES)
    return Artifacts(folder)


def write_corpus(folder: Path, texts: Sequence[str], pairs: Rows = ()) -> None:
    """Write training sentences, their pairs (left, right, source, group) and all of their words to `folder`."""
    columns = zip(PAIRS.names, list(zip(*pairs, strict=True)) or [[]] * len(PAIRS), strict=True)
    write_table(pa.table(dict(columns)), folder / "corpus/pairs.parquet", PAIRS)
    write_table(pa.table({"text": texts}), folder / "corpus/sentences.parquet", SENTENCES)
    write_table(count_words(pa.array(texts)), folder / "vocabulary/words.parquet", WORD_COUNTS)
