"""Training pairs → counted words, n-grams and characters."""

from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa

from paraphrastic.base.console import progress
from paraphrastic.base.errors import DataError
from paraphrastic.base.files import atomic_folder
from paraphrastic.base.parameters import VocabularyLimits
from paraphrastic.base.tables import NGRAM_COUNTS, PAIRS, WORD_COUNTS, StoredSentences, read_table, write_table
from paraphrastic.vocabulary.counting import count_ngrams, count_words


def count_vocabulary(corpus: Path, out: Path, options: VocabularyLimits) -> None:
    """Write tables of the words, character n-grams and characters of a corpus to `out`, all of them or none.

    Raises:
        DataError: no word or no n-gram occurs often enough, or a table is missing or damaged.
    """
    sentences = StoredSentences(corpus / "sentences.parquet")
    weights = None
    if options.count == "pairs":
        pairs = read_table(corpus / "pairs.parquet", PAIRS)
        weights = np.bincount(np.concatenate([pairs["left"], pairs["right"]]), minlength=len(sentences))
    with progress() as bar:
        names = "words", "n-grams", "characters"
        advance = [partial(bar.advance, bar.add_task(name, total=len(sentences))) for name in names]
        words = count_words(sentences, options.min_count, advance[0], weights)
        limits = options.ngram_min_count, options.ngrams_per_order
        ngrams = count_ngrams(sentences, options.orders, *limits, advance[1], weights=weights)
        characters = count_ngrams(sentences, [1], options.ngram_min_count, on_progress=advance[2], weights=weights)
    _refuse_empty(words, f"min_count = {options.min_count}", corpus, len(sentences))
    _refuse_empty(ngrams, f"ngram_min_count = {options.ngram_min_count}", corpus, len(sentences))
    with atomic_folder(out) as part:
        write_table(words, part / "words.parquet", WORD_COUNTS)
        write_table(ngrams, part / "ngrams.parquet", NGRAM_COUNTS)
        write_table(characters, part / "characters.parquet", NGRAM_COUNTS)


def _refuse_empty(table: pa.Table, setting: str, corpus: Path, sentences: int) -> None:
    if not len(table):
        raise DataError(
            f"params.yaml: vocabulary.{setting}: nothing occurs so often in the {sentences} sentences of "
            f"{corpus / 'sentences.parquet'}; lower it or choose a larger corpus"
        )
