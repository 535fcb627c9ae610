"""Charagram: pairs of words need words, and training on pairs counts them."""

import pytest
import torch
from pydantic import ValidationError

from paraphrastic.base.tables import NGRAM_COUNTS, WORD_COUNTS, write_table
from paraphrastic.models.charagram import Config
from paraphrastic.training.initial_embeddings import initial_model
from paraphrastic.vocabulary.counting import count_entries, count_ngrams, count_words
from tests.helpers.encoder_variants import CHARAGRAM
from tests.helpers.toy_training import SENTENCES


@pytest.mark.parametrize(
    ("words", "bigrams", "message"),
    [(False, 2, r"\n.*needs words: true"), (True, 0, ""), (True, -1, ""), (True, 2.5, ""), (True, True, "")],
)
def test_unusable_number_of_occurrences_and_pairs_without_words(words, bigrams, message):
    with pytest.raises(ValidationError, match=f"bigrams{message}"):
        Config(**CHARAGRAM | {"words": words, "bigrams": bigrams})


@pytest.mark.parametrize("bigrams", [None, 2, 7])
def test_vocabulary_of_training_on_pairs(tmp_path, bigrams):
    write_table(count_words(SENTENCES), tmp_path / "words.parquet", WORD_COUNTS)
    write_table(count_ngrams(SENTENCES, [2, 3]), tmp_path / "ngrams.parquet", NGRAM_COUNTS)
    config = Config(**CHARAGRAM | {"words": True, "bigrams": bigrams})
    model = initial_model("charagram", config, tmp_path, SENTENCES, 1, torch.device("cpu"))
    expected = count_entries("words+ngrams", SENTENCES, [2, 3], bigram_min_count=bigrams)
    assert model.texts.to_pylist() == expected["text"].to_pylist()
    assert (" was the " in model.texts.to_pylist()) == (bigrams is not None)
