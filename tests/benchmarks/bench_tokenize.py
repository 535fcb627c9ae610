"""Tokenizing sentences, compared with the Treebank tokenizer of NLTK (`pip install nltk`).

Run `python -m tests.benchmarks.bench_tokenize` or `python tests/benchmarks/bench_tokenize.py` in the root of the
repository. The sentences are those of the STS sets and of MSRP in the folder that the environment variable
PARAPHRASTIC_MIRROR names, or one example sentence without it. Each number is the median of several runs.
"""

import os
from collections.abc import Callable
from itertools import cycle, islice
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import pyarrow as pa
from nltk.tokenize import TreebankWordTokenizer

from paraphrastic.text.tokenizer import tokenize

RUNS = 5
SENTENCES, NLTK_SENTENCES = 100_000, 5_000  # NLTK is slower
EXAMPLE = '"I can\'t," said Mr. Smith of the U.S. (at $1,000).'


def main() -> None:
    """Print sentences per second of both, and their ratio."""
    texts = list(islice(cycle(read_sentences()), SENTENCES))
    split = TreebankWordTokenizer().tokenize
    nltk_speed = speed(lambda part: [" ".join(split(text)).lower() for text in part], texts[:NLTK_SENTENCES])
    print(f"NLTK, one thread       {nltk_speed:10,.0f} sentences/s")
    column = pa.array(texts)
    for threads in sorted({1, os.cpu_count() or 1}):
        pa.set_cpu_count(threads)
        our_speed = speed(tokenize, column)
        ratio = our_speed / nltk_speed
        print(f"tokenize, {threads:2} thread(s) {our_speed:10,.0f} sentences/s: {ratio:.0f} times as fast")


def speed(task: Callable[[Any], Any], texts: list[str] | pa.StringArray) -> float:
    """Return texts per second in the median of RUNS runs, after one to warm up."""
    seconds = []
    for _ in range(RUNS + 1):
        start = perf_counter()
        task(texts)
        seconds.append(perf_counter() - start)
    return len(texts) / median(seconds[1:])


def read_sentences() -> list[str]:
    """Return raw sentences of evaluation sets, or the example."""
    mirror = Path(os.environ.get("PARAPHRASTIC_MIRROR", "/nowhere").removeprefix("file://"))
    files = sorted(mirror.rglob("*.test.tsv")) + sorted(mirror.rglob("msr-para-*.tsv"))
    fields = (line.rstrip("\r").split("\t")[-2:] for file in files for line in file.read_text("utf-8").split("\n"))
    return [text for pair in fields for text in pair if text] or [EXAMPLE]


if __name__ == "__main__":
    main()
