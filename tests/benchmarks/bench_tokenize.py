"""Tokenizing sentences, beside the Treebank tokenizer of NLTK (not among the dependencies: `pip install nltk`).

Run as `python tests/benchmarks/bench_tokenize.py`. The sentences are those of the STS sets and of MSRP in the
folder that PARAPHRASTIC_MIRROR names, without it ones made up. Each figure is the median of several runs.
"""

import os
from collections.abc import Callable
from itertools import cycle, islice
from pathlib import Path
from statistics import median
from time import perf_counter

import pyarrow as pa
from nltk.tokenize import TreebankWordTokenizer

from paraphrastic.text.tokenizer import tokenize

RUNS = 5
SENTENCES, THEIRS = 100_000, 5_000  # of ours and of NLTK's, which takes as long for them


def main() -> None:
    """Print sentences per second of both, and how many times as fast this tokenizer is."""
    texts = list(islice(cycle(sentences()), SENTENCES))
    split = TreebankWordTokenizer().tokenize
    theirs = rate(lambda part: [" ".join(split(text)).lower() for text in part], texts[:THEIRS])
    print(f"NLTK, one thread       {theirs:10,.0f} sentences/s")
    column = pa.array(texts)
    for threads in sorted({1, os.cpu_count() or 1}):
        pa.set_cpu_count(threads)
        ours = rate(tokenize, column)
        print(f"tokenize, {threads:2} thread(s) {ours:10,.0f} sentences/s: {ours / theirs:.0f} times as fast")


def rate(task: Callable, texts: list[str] | pa.StringArray) -> float:
    """Texts per second, median of `RUNS` after one to warm up."""
    seconds = []
    for _ in range(RUNS + 1):
        start = perf_counter()
        task(texts)
        seconds.append(perf_counter() - start)
    return len(texts) / median(seconds[1:])


def sentences() -> list[str]:
    """Raw sentences of evaluation sets, or made-up ones."""
    mirror = Path(os.environ.get("PARAPHRASTIC_MIRROR", "/nowhere").removeprefix("file://"))
    files = sorted(mirror.rglob("*.test.tsv")) + sorted(mirror.rglob("msr-para-*.tsv"))
    fields = (line.rstrip("\r").split("\t")[-2:] for file in files for line in file.read_text("utf-8").split("\n"))
    return [text for pair in fields for text in pair if text] or ['"I can\'t," said Mr. Smith of the U.S. (at $1,000).']


if __name__ == "__main__":
    main()
