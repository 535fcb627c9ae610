"""Stage `vocabulary`: sentences of the training pairs → data/vocabulary, counted words, n-grams and characters."""

from functools import partial
from pathlib import Path

import pyarrow as pa

from paraphrastic.console import progress
from paraphrastic.errors import DataError
from paraphrastic.tables import NGRAM_COUNTS, SENTENCES, WORD_COUNTS, read_table, write_table
from paraphrastic.vocabulary.counting import count_ngrams, count_words
from pipeline.params import load_params
from pipeline.stage import run

SENTENCES_FILE, VOCABULARY = Path("data/corpus/sentences.parquet"), Path("data/vocabulary")


def main() -> None:
    """Count words, character n-grams and characters over the distinct sentences."""
    params = load_params()
    options = params.vocabulary
    sentences = read_table(SENTENCES_FILE, SENTENCES)["text"]
    with progress() as bar:
        names = "words", "n-grams", "characters"
        advance = [partial(bar.advance, bar.add_task(name, total=len(sentences))) for name in names]
        words = count_words(sentences, options.min_count, advance[0])
        ngrams = count_ngrams(sentences, options.orders, options.ngram_min_count, options.ngrams_per_order, advance[1])
        characters = count_ngrams(sentences, [1], options.ngram_min_count, on_progress=advance[2])
    _refuse_empty(words, "min_count", options.min_count, len(sentences))
    _refuse_empty(ngrams, "ngram_min_count", options.ngram_min_count, len(sentences))
    write_table(words, VOCABULARY / "words.parquet", WORD_COUNTS)
    write_table(ngrams, VOCABULARY / "ngrams.parquet", NGRAM_COUNTS)
    write_table(characters, VOCABULARY / "characters.parquet", NGRAM_COUNTS)


def _refuse_empty(table: pa.Table, key: str, value: int, sentences: int) -> None:
    if not len(table):
        raise DataError(
            f"params.yaml: vocabulary.{key} = {value}: nothing occurs so often in the {sentences} sentences of "
            f"{SENTENCES_FILE}; lower it or choose a larger corpus"
        )


if __name__ == "__main__":
    run(main)
