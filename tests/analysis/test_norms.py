"""Norms of word embeddings and inverse document frequency."""

import numpy as np
import pytest
from scipy.stats import spearmanr

from paraphrastic.analysis.artifacts import Artifacts
from paraphrastic.analysis.norms import analyze
from paraphrastic.base.errors import ModelError
from tests.helpers.encoder_variants import WORD
from tests.helpers.run_artifacts import write_corpus
from tests.helpers.small_models import CHARAGRAM_WORDS, save_baseline, save_encoder
from tests.helpers.toy_training import WORDS

# WORDS[n] occurs in 30 n sentences, twice in those with an even number; the model lacks the word `other`
CORPUS = [f"{word} {word if s % 2 else ''} other" for n, word in enumerate(WORDS[:9]) for s in range(30 * n)]


def naive_correlation(model, least):
    rows = dict(zip(model.vocabulary.to_pylist(), model.embeddings(), strict=True))
    tokens = [sentence.split() for sentence in CORPUS]
    words = [word for word in rows if sum(sentence.count(word) for sentence in tokens) >= max(least, 1)]
    idf = [np.log(len(tokens) / sum(word in sentence for sentence in tokens)) for word in words]
    norms = [sum(abs(x) for x in rows[word].tolist()) for word in words]
    return len(words), 100 * spearmanr(norms, idf).statistic


@pytest.mark.parametrize(("name", "least", "n"), [("all", 0, 8), ("≥ 100", 100, 6)])
def test_correlation_over_words_of_the_training_data(tmp_path, name, least, n):
    model = save_encoder(tmp_path / "model", "avg", WORD)
    write_corpus(tmp_path, CORPUS)
    row = analyze(Artifacts(tmp_path)).set_index("occurrences").loc[name]
    assert row["n"] == n
    assert (row["n"], row["spearman"]) == pytest.approx(naive_correlation(model, least), abs=0.0051)


@pytest.mark.parametrize(
    ("name", "save"),
    [
        ("overlap", lambda folder: save_baseline(folder, "overlap")),
        ("tfidf-words", lambda folder: save_baseline(folder, "tfidf-words")),
        ("charagram", lambda folder: save_encoder(folder, "charagram", CHARAGRAM_WORDS)),
    ],
)
def test_models_without_embeddings_of_words(tmp_path, name, save):
    save(tmp_path / "model")
    with pytest.raises(ModelError, match=rf"/model: {name} has no embeddings of words; choose a word model$"):
        analyze(Artifacts(tmp_path))
