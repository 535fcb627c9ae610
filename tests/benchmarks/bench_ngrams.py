"""Counting and looking up character 2–4-grams of 200,000 lines on one thread, compared with scikit-learn.

Run `python -m tests.benchmarks.bench_ngrams` in the root of the repository. The lines are training text in the folder
that the environment variable PARAPHRASTIC_MIRROR names, or random words without it. Each number comes from a process
of its own: the processor time of all threads in the median of five runs (of one run for scikit-learn), after a short
run that compiles; and how far the memory rises above its start.
"""

import gzip
import os
import random
import resource
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from sklearn.feature_extraction.text import CountVectorizer

from paraphrastic.sources.catalogue import corpus
from paraphrastic.vocabulary.counting import count_ngrams, count_words
from paraphrastic.vocabulary.kinds import WordVocabulary
from paraphrastic.vocabulary.ngrams import NgramVocabulary
from tests.benchmarks.measuring import in_own_process

LINES, ORDERS, RUNS = 200_000, (2, 3, 4), 5

Task = Callable[[pa.StringArray], Any]


def main() -> None:
    """Print time and memory of scikit-learn and of this package."""
    sentences = pa.array(islice(read_lines(), LINES))
    expected, reference_seconds, memory = in_own_process(measure, scikit_learn, sentences, 1)
    totals, seconds, our_memory = in_own_process(measure, ngram_counts, sentences, RUNS)
    assert totals == expected, f"the counts differ: {totals}, {expected}"
    print(f"{len(sentences):,} lines, {totals[0]:,} n-grams of orders 2-4, {totals[2]:,} different ones")
    print(f"{'CountVectorizer':22} {reference_seconds:8.2f} s  {memory:8,.0f} MB")
    ratio = f"{reference_seconds / seconds:.0f} times as fast"
    print(f"{'count_ngrams':22} {seconds:8.2f} s  {our_memory:8,.0f} MB  {ratio}")
    for name, task in TASKS.items():
        _, seconds, memory = in_own_process(measure, task, sentences, RUNS)
        print(f"{name:22} {seconds:8.2f} s  {memory:8,.0f} MB  {len(sentences) / seconds:,.0f} sentences/s")


def measure(
    prepare: Callable[[pa.StringArray], Task], sentences: pa.StringArray, runs: int
) -> tuple[Any, float, float]:
    """Return the result of a task, its processor time in seconds, and its rise in memory in MB."""
    pa.set_cpu_count(1)
    task, seconds = prepare(sentences), []
    task(sentences[:100])
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(runs):
        start = process_time()
        result = task(sentences)
        seconds.append(process_time() - start)
    return result, median(seconds), (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory) / 1024


def scikit_learn(sentences: pa.StringArray) -> Task:
    """Return a task that returns the sums of counts and of document frequencies, and the number of n-grams."""
    padded = pc.binary_join_element_wise("", sentences, "", " ").to_pylist()

    def task(chosen: pa.StringArray) -> tuple[int, int, int]:
        counter = CountVectorizer(analyzer="char", ngram_range=(ORDERS[0], ORDERS[-1]), lowercase=False)
        counts = counter.fit_transform(padded[: len(chosen)])
        return int(counts.sum(axis=0).sum()), int(counts.getnnz(axis=0).sum()), counts.shape[1]

    return task


def ngram_counts(_: pa.StringArray) -> Task:
    """Return a task that computes the same three numbers with this package."""

    def task(chosen: pa.StringArray) -> tuple[int, int, int]:
        table = count_ngrams(chosen, ORDERS)
        return pc.sum(table["count"]).as_py(), pc.sum(table["sentences"]).as_py(), len(table)

    return task


def word_counts(_: pa.StringArray) -> Task:
    """Return a task that counts words."""
    return lambda chosen: len(count_words(chosen, 2))


def ngram_lookup(sentences: pa.StringArray) -> Task:
    """Return a task that looks up n-grams."""
    vocabulary = NgramVocabulary(count_ngrams(sentences, ORDERS, 2)["text"])
    return lambda chosen: len(vocabulary.lookup(chosen))


def word_lookup(sentences: pa.StringArray) -> Task:
    """Return a task that looks up words."""
    vocabulary = WordVocabulary(count_words(sentences, 2)["text"])
    return lambda chosen: len(vocabulary.lookup(chosen))


TASKS = {"NgramVocabulary.lookup": ngram_lookup, "WordVocabulary.lookup": word_lookup, "count_words": word_counts}


def read_lines() -> Iterator[str]:
    """Return distinct lines of lower-case text with single spaces."""
    mirror = os.environ.get("PARAPHRASTIC_MIRROR")
    lines = real_lines(Path(mirror.removeprefix("file://"))) if mirror else random_lines()
    return iter(dict.fromkeys(" ".join(line.lower().split()) for line in lines))


def real_lines(mirror: Path) -> Iterator[str]:
    """Yield the lines of all training text in the folder `mirror`."""
    for source in corpus(["open", "captions"]):
        for file in () if source.words else source.files:
            path = mirror / file.url.partition("://")[2]
            with (gzip.open if path.suffix == ".gz" else open)(path, "rt", encoding="utf-8") as text:
                yield from text


def random_lines() -> Iterator[str]:
    """Yield lines of 5 to 25 random words."""
    generator = random.Random(1)
    letters = "etaoinshrdlcumwfgypbvkjxqz"
    words = ["".join(generator.choices(letters, range(26, 0, -1), k=generator.randint(1, 12))) for _ in range(40_000)]
    for _ in range(LINES):
        ranks = (int(generator.paretovariate(0.6)) % len(words) for _ in range(generator.randint(5, 25)))
        yield " ".join(words[rank] for rank in ranks)


if __name__ == "__main__":
    main()
