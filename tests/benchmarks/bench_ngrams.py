"""Counting and looking up character 2–4-grams of 200,000 lines on one thread, beside scikit-learn.

Run as `python -m tests.benchmarks.bench_ngrams`. The lines are training texts of the mirror that
PARAPHRASTIC_MIRROR names, without it random words. Each figure comes from a process of its own: the processor
time, of all threads, in the median of several runs (one of scikit-learn) after a short one that compiles; and how
far the memory rises above its start.
"""

import gzip
import os
import random
import resource
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from time import process_time

import pyarrow as pa
import pyarrow.compute as pc
from sklearn.feature_extraction.text import CountVectorizer

from paraphrastic.sources.catalogue import corpus
from paraphrastic.vocabulary.counting import count_ngrams, count_words
from paraphrastic.vocabulary.ngrams import NgramVocabulary
from paraphrastic.vocabulary.words import WordVocabulary

LINES, ORDERS = 200_000, (2, 3, 4)


def main() -> None:
    sentences = pa.array(islice(lines(), LINES))
    sums, theirs, memory = apart(scikit_learn, sentences, 1)
    same, ours, ours_memory = apart(counting, sentences, 5)
    assert same == sums, f"the counts differ: {same}, {sums}"
    print(f"{len(sentences):,} lines, {sums[0]:,} n-grams of orders 2-4, {sums[2]:,} different ones")
    print(f"CountVectorizer  {theirs:8.2f} s  {memory:8,.0f} MB")
    print(f"count_ngrams     {ours:8.2f} s  {ours_memory:8,.0f} MB  {theirs / ours:.0f} times as fast")
    for name, task in (("NgramVocabulary.bags", ngram_bags), ("Words.bags", word_bags), ("count_words", word_counts)):
        _, seconds, memory = apart(task, sentences, 5)
        print(f"{name:15}  {seconds:8.2f} s  {memory:8,.0f} MB  {len(sentences) / seconds:,.0f} sentences/s")


def apart(prepare: Callable[[pa.StringArray], Callable], sentences: pa.StringArray, runs: int) -> tuple:
    """What a task gives, its processor time and its rise in memory, measured in a process of its own."""
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        return pool.submit(measure, prepare, sentences, runs).result()


def measure(prepare: Callable[[pa.StringArray], Callable], sentences: pa.StringArray, runs: int) -> tuple:
    pa.set_cpu_count(1)
    task, seconds = prepare(sentences), []
    task(sentences[:100])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(runs):
        start = process_time()
        result = task(sentences)
        seconds.append(process_time() - start)
    return result, median(seconds), (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024


def scikit_learn(sentences: pa.StringArray) -> Callable:
    padded = pc.binary_join_element_wise("", sentences, "", " ").to_pylist()

    def task(some: pa.StringArray) -> tuple[int, int, int]:
        counter = CountVectorizer(analyzer="char", ngram_range=(ORDERS[0], ORDERS[-1]), lowercase=False)
        counts = counter.fit_transform(padded[: len(some)])
        return int(counts.sum(axis=0).sum()), int(counts.getnnz(axis=0).sum()), counts.shape[1]

    return task


def counting(_: pa.StringArray) -> Callable:
    def task(some: pa.StringArray) -> tuple[int, int, int]:
        table = count_ngrams(some, ORDERS)
        return pc.sum(table["count"]).as_py(), pc.sum(table["sentences"]).as_py(), len(table)

    return task


def word_counts(_: pa.StringArray) -> Callable:
    return lambda some: len(count_words(some, 2))


def ngram_bags(sentences: pa.StringArray) -> Callable:
    vocabulary = NgramVocabulary(count_ngrams(sentences, ORDERS, 2)["text"])
    return lambda some: len(vocabulary.lookup(some))


def word_bags(sentences: pa.StringArray) -> Callable:
    vocabulary = WordVocabulary(count_words(sentences, 2)["text"])
    return lambda some: len(vocabulary.lookup(some))


def lines() -> Iterator[str]:
    """Distinct lines of lower-case text with single spaces."""
    mirror = os.environ.get("PARAPHRASTIC_MIRROR")
    texts = real_lines(Path(mirror.removeprefix("file://"))) if mirror else random_lines()
    return iter(dict.fromkeys(" ".join(text.lower().split()) for text in texts))


def real_lines(mirror: Path) -> Iterator[str]:
    for source in corpus(["open", "captions"]):
        for file in () if source.words else source.files:
            path = mirror / file.url.partition("://")[2]
            with (gzip.open if path.suffix == ".gz" else open)(path, "rt", encoding="utf-8") as text:
                yield from text


def random_lines() -> Iterator[str]:
    chance = random.Random(1)
    letters = "etaoinshrdlcumwfgypbvkjxqz"
    words = ["".join(chance.choices(letters, range(26, 0, -1), k=chance.randint(1, 12))) for _ in range(40_000)]
    for _ in range(LINES):
        yield " ".join(words[int(chance.paretovariate(0.6)) % len(words)] for _ in range(chance.randint(5, 25)))


if __name__ == "__main__":
    main()
