"""Sentences of the training pairs → `data/vocabulary`: their words, character n-grams and characters, with counts."""

from functools import partial
from pathlib import Path

import pyarrow as pa

from paraphrastic.errors import DataError
from paraphrastic.tables import SENTENCES, read_table, write_table
from paraphrastic.text.vocabulary import NGRAMS, WORDS, count_ngrams, count_words
from pipeline.params import load_params
from pipeline.stage import progress, run

CORPUS, VOCABULARY = Path("data/corpus/sentences.parquet"), Path("data/vocabulary")


def main() -> None:
    """Count words, character n-grams and characters over the distinct sentences."""
    params = load_params()
    chosen = params.vocabulary
    sentences = read_table(CORPUS, SENTENCES)["text"]
    with progress() as bar:
        names = "words", "n-grams", "characters"
        counted = [partial(bar.advance, bar.add_task(name, total=len(sentences))) for name in names]
        words = count_words(sentences, chosen.min_count, counted[0])
        ngrams = count_ngrams(sentences, chosen.orders, chosen.ngram_min_count, chosen.ngrams_per_order, counted[1])
        characters = count_ngrams(sentences, [1], chosen.ngram_min_count, on_progress=counted[2])
    _refuse_empty(words, "min_count", chosen.min_count, len(sentences))
    _refuse_empty(ngrams, "ngram_min_count", chosen.ngram_min_count, len(sentences))
    write_table(words, VOCABULARY / "words.parquet", WORDS)
    write_table(ngrams, VOCABULARY / "ngrams.parquet", NGRAMS)
    write_table(characters, VOCABULARY / "characters.parquet", NGRAMS)


def _refuse_empty(table: pa.Table, key: str, value: int, sentences: int) -> None:
    if not len(table):
        raise DataError(
            f"params.yaml: vocabulary.{key} = {value}: nothing occurs so often in the {sentences} sentences of "
            f"{CORPUS}; lower it or choose a larger corpus"
        )


if __name__ == "__main__":
    run(main)
