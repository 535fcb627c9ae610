"""Initial embeddings from the words that stand near each other, against their equations in naive NumPy."""

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from pydantic import ValidationError
from threadpoolctl import threadpool_info, threadpool_limits

from paraphrastic import models
from paraphrastic.finetuning.options import tagger_config_class
from paraphrastic.training import cooccurrence
from paraphrastic.training.cooccurrence import cooccurrence_vectors, near_counts, positive_pmi
from tests.helpers.encoder_variants import WORD
from tests.helpers.option_changes import small_block
from tests.helpers.toy_training import prepare

TEXTS = ["a b c d e f g", "b a rare b", "g", "", "c d c e a b"]
WORDS = pa.array(["b", "a", "c", "d", "e", "f", "g", "h"])  # `rare` is unknown, `h` never occurs


def naive_counts(texts, words):
    counts = Counter()
    for tokens in map(str.split, texts):
        for i, left in enumerate(tokens):
            for j, right in enumerate(tokens):
                if 0 < abs(i - j) <= 5:
                    counts[left, right] += 1 / abs(i - j)
    return np.array([[counts[left, right] for right in words.to_pylist()] for left in words.to_pylist()])


def naive_ppmi(counts):
    frequency = counts.sum(1)
    smoothed = frequency**0.75 / (frequency**0.75).sum()
    with np.errstate(divide="ignore", invalid="ignore"):
        pmi = np.log(counts / (frequency[:, None] * smoothed[None, :]))
    return np.where(counts > 0, np.maximum(pmi, 0), 0)


@pytest.mark.parametrize("chunk", [1, 1 << 25])
def test_counts_and_positive_pmi(monkeypatch, chunk):
    monkeypatch.setattr(cooccurrence, "_CHUNK", chunk)
    counts, expected = near_counts(pa.array(TEXTS), WORDS), naive_counts(TEXTS, WORDS)
    np.testing.assert_allclose(counts.toarray(), expected, rtol=1e-6)
    ppmi = positive_pmi(counts)
    np.testing.assert_allclose(ppmi.toarray(), naive_ppmi(expected), atol=1e-6)
    assert ppmi.nnz == np.count_nonzero(naive_ppmi(expected))


def test_vectors_are_rows_of_the_decomposition():
    left, values, _ = np.linalg.svd(naive_ppmi(naive_counts(TEXTS, WORDS)))
    expected = (left * np.sqrt(values))[:, :4]
    lengths = np.linalg.norm(expected, axis=1)
    vectors = cooccurrence_vectors(pa.array(TEXTS), WORDS, 4, seed=1)
    known = vectors.any(1)
    assert known.tolist() == [True] * 7 + [False]
    cosines = expected[:7] @ expected[:7].T / np.outer(lengths[:7], lengths[:7])
    np.testing.assert_allclose(vectors[:7] @ vectors[:7].T, cosines, atol=1e-4)


def test_fewer_words_than_dimensions_and_words_that_are_alone():
    vectors = cooccurrence_vectors(pa.array(TEXTS), WORDS, 20, seed=1)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), [1] * 7 + [0], atol=1e-6)
    assert not vectors[:, 8:].any()
    assert not cooccurrence_vectors(pa.array(["a", "b"]), pa.array(["a", "b"]), 2, seed=1).any()


def test_initial_embeddings_have_the_length_of_idf():
    model, _, _ = prepare("avg", WORD, init="cooccurrence", dim=20)
    embeddings = dict(zip(model.texts.to_pylist(), model.embeddings[1:].numpy(), strict=True))
    assert np.linalg.norm(embeddings["the"]) == pytest.approx(np.log(41 / 40), rel=1e-5)
    alike = [vector / np.linalg.norm(vector) for word, vector in embeddings.items() if word in ("again", "was")]
    random, _, _ = prepare("avg", WORD, init="idf", dim=20)
    assert np.dot(*alike) != pytest.approx(np.dot(*random.embeddings[1:3].numpy()))


@pytest.mark.parametrize("name", ["charcnn", "charlstm", "charagram", "tagger"])
def test_models_without_words_lack_it(name):
    kind, name = ("taggers", "charagram") if name == "tagger" else ("models", name)
    config_class = (tagger_config_class if kind == "taggers" else models.config_class)(name)
    with pytest.raises(ValidationError, match="Input should be 'random' or 'idf'"):
        config_class(**small_block(kind, name) | {"init": "cooccurrence"})


def test_decomposition_has_one_thread_on_any_computer(monkeypatch):
    threads = []

    def spy(*arguments, **options):
        threads.extend(pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas")
        return decompose(*arguments, **options)

    decompose = cooccurrence.randomized_svd
    monkeypatch.setattr(cooccurrence, "randomized_svd", spy)
    with threadpool_limits(2, "blas"):
        cooccurrence_vectors(pa.array(TEXTS), WORDS, 4, seed=1)
    assert set(threads) == {1}
