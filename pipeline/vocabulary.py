"""Stage `vocabulary`: the training pairs → data/vocabulary, counted words, n-grams and characters."""

from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from paraphrastic.console import progress
from paraphrastic.errors import DataError
from paraphrastic.tables import NGRAM_COUNTS, PAIRS, SENTENCES, WORD_COUNTS, read_table, write_table
from paraphrastic.vocabulary.counting import count_ngrams, count_words
from pipeline.params import load_params
from pipeline.stage import run

SENTENCES_FILE, PAIRS_FILE = Path("data/corpus/sentences.parquet"), Path("data/corpus/pairs.parquet")
VOCABULARY = Path("data/vocabulary")


def main() -> None:
    """Count words, character n-grams and characters over the distinct sentences, or over the pairs."""
    params = load_params()
    options = params.vocabulary
    sentences = read_table(SENTENCES_FILE, SENTENCES)["text"]
    weights = _occurrences(len(sentences)) if options.count == "pairs" else None
    with progress() as bar:
        names = "words", "n-grams", "characters"
        advance = [partial(bar.advance, bar.add_task(name, total=len(sentences))) for name in names]
        words = count_words(sentences, options.min_count, advance[0], weights)
        limits = options.ngram_min_count, options.ngrams_per_order
        ngrams = count_ngrams(sentences, options.orders, *limits, advance[1], weights=weights)
        characters = count_ngrams(sentences, [1], options.ngram_min_count, on_progress=advance[2], weights=weights)
    _refuse_empty(words, "min_count", options.min_count, len(sentences))
    _refuse_empty(ngrams, "ngram_min_count", options.ngram_min_count, len(sentences))
    write_table(words, VOCABULARY / "words.parquet", WORD_COUNTS)
    write_table(ngrams, VOCABULARY / "ngrams.parquet", NGRAM_COUNTS)
    write_table(characters, VOCABULARY / "characters.parquet", NGRAM_COUNTS)


def _occurrences(sentences: int) -> NDArray[np.int64]:
    """Return how often each sentence is a side of a training pair, (sentences,)."""
    pairs = read_table(PAIRS_FILE, PAIRS)
    return np.bincount(np.concatenate([pairs["left"], pairs["right"]]), minlength=sentences)


def _refuse_empty(table: pa.Table, key: str, value: int, sentences: int) -> None:
    if not len(table):
        raise DataError(
            f"params.yaml: vocabulary.{key} = {value}: nothing occurs so often in the {sentences} sentences of "
            f"{SENTENCES_FILE}; lower it or choose a larger corpus"
        )


if __name__ == "__main__":
    run(main)
