"""Sentences per second that a teacher of sentence-transformers encodes, in float32 and in bfloat16.

Run `python -m tests.benchmarks.bench_teacher FOLDER [--threads 1] [--rounds 3]` in the root of the repository, after
`pip install -e '.[external]'` and `dvc repro tokenize` with the corpus of interest. All measurements take the same
sentences of data/corpus, spread evenly over it. Each runs in a process of its own, in turns; speeds are medians. The
last column is the lowest cosine of a sentence's vector and that of the first row.
"""

from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Annotated, Any, NamedTuple

import numpy as np
import pyarrow as pa
import torch
import typer

from paraphrastic.base.tables import StoredSentences
from paraphrastic.scoring.external_encoder import ExternalEncoder, Float
from paraphrastic.scoring.scorer import normalize_rows
from tests.benchmarks.measuring import in_own_process

CORPUS, SENTENCES = Path("data/corpus/sentences.parquet"), 4096


class Setting(NamedTuple):
    """How a teacher encodes."""

    precision: Float
    batch_size: int


SETTINGS = [Setting(precision, size) for precision in ("float32", "bfloat16") for size in (32, 128)]


def main(
    folder: Annotated[Path, typer.Argument(help="Folder of the teacher.")],
    threads: Annotated[int, typer.Option(help="Threads of torch.")] = 1,
    rounds: Annotated[int, typer.Option(help="Measurements of each setting.")] = 3,
) -> None:
    """Print a row for each precision and batch size."""
    measured = [[in_own_process(measure, folder, each, threads) for each in SETTINGS] for _ in range(rounds)]
    exact = measured[0][0][1]
    print("precision", "batch_size", "sentences/s", "cosine", sep="\t")
    for setting, results in zip(SETTINGS, zip(*measured, strict=True), strict=True):
        cosine = (results[0][1] * exact).sum(1).min()
        print(*setting, f"{median(speed for speed, _ in results):.0f}", f"{cosine:.5f}", sep="\t")


def measure(folder: Path, setting: Setting, threads: int) -> tuple[float, Any]:
    """Return sentences per second, and the vectors scaled to length 1."""
    torch.set_num_threads(threads)
    texts = pa.concat_arrays(StoredSentences(CORPUS))
    chosen = texts.take(pa.array(np.linspace(0, len(texts) - 1, SENTENCES, dtype=np.int64)))
    encoder = ExternalEncoder(folder, setting.batch_size, "cpu", setting.precision)
    encoder.encode(chosen[:64])
    start = perf_counter()
    vectors = encoder.encode(chosen)
    return SENTENCES / (perf_counter() - start), normalize_rows(vectors)


if __name__ == "__main__":
    typer.run(main)
