"""Averages of given vectors and SIF against their definitions in plain NumPy."""

from collections import Counter
from importlib import import_module

import numpy as np
import pyarrow as pa
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer

from paraphrastic import models
from paraphrastic.errors import DataError, ParameterError
from paraphrastic.models import sif, vectors

tfidf = import_module("paraphrastic.models.tfidf-words")

DIM = 4
WORDS = ["the", "cat", "sat", "mat", "rare"]
TABLE = np.random.default_rng(0).normal(size=(len(WORDS), DIM)).astype(np.float32)
CORPUS = pa.array(["the cat sat", "the mat", "the unknown cat cat", ""])
SENTENCES = pa.array(["the cat", "rare mat the the", "nothing known", "", "cat"])
LEFT, RIGHT = (index.ravel() for index in np.indices((len(SENTENCES), len(SENTENCES))))


@pytest.fixture
def file(tmp_path):
    lines = (f"{word} {' '.join(map(str, row))}\n" for word, row in zip(WORDS, TABLE.tolist(), strict=True))
    (tmp_path / "v.txt").write_text("".join(lines))
    return str(tmp_path / "v.txt")


def naive(sentence, weight):
    tokens = sentence.split()
    rows = [weight(t) * TABLE[WORDS.index(t)] if t in WORDS else np.zeros(DIM) for t in tokens]
    return np.sum(rows, axis=0) / len(tokens) if tokens else np.zeros(DIM)


def cosines(rows):
    norms = np.linalg.norm(rows, axis=1)
    scale = np.outer(norms, norms)
    return np.divide(rows @ rows.T, scale, out=np.zeros_like(scale), where=scale > 0)[LEFT, RIGHT]


def test_vectors_are_averaged_and_unknown_words_are_zero(file):
    scorer = vectors.MODEL.fit(vectors.Config(vectors=file, dim=DIM), CORPUS)
    expected = np.array([naive(s, lambda word: 1) for s in SENTENCES.to_pylist()])
    np.testing.assert_allclose(scorer.encode(SENTENCES), expected, atol=1e-6)
    np.testing.assert_allclose(scorer.score(SENTENCES, LEFT, RIGHT), cosines(expected), atol=1e-6)
    assert scorer.unknown(SENTENCES).tolist() == [0, 0, 1, 0, 0]


@pytest.mark.parametrize("components", [0, 1, 2])
def test_sif_weighs_by_frequency_and_removes_principal_components(file, components):
    a, tokens = 0.1, " ".join(CORPUS.to_pylist()).split()
    counts = Counter(tokens)
    corpus, test = (
        np.array([naive(s, lambda word: a / (a + counts[word] / len(tokens))) for s in texts.to_pylist()])
        for texts in (CORPUS, SENTENCES)
    )
    directions = np.linalg.svd(corpus)[2][:components]
    expected = test - test @ directions.T @ directions
    scorer = sif.MODEL.fit(sif.Config(vectors=file, dim=DIM, a=a, components=components), CORPUS)
    np.testing.assert_allclose(scorer.encode(SENTENCES), expected, atol=1e-5)
    np.testing.assert_allclose(scorer.score(SENTENCES, LEFT, RIGHT), cosines(expected), atol=1e-4)


@pytest.mark.parametrize(
    ("name", "module", "own"), [("vectors", vectors, {}), ("sif", sif, {"a": 0.1, "components": 1})]
)
def test_a_loaded_model_scores_as_the_saved_one(file, tmp_path, name, module, own):
    config = module.Config(vectors=file, dim=DIM, **own)
    scorer = module.MODEL.fit(config, CORPUS)
    models.save(scorer, name, config, tmp_path / "model")
    loaded = models.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.encode(SENTENCES), scorer.encode(SENTENCES))


def test_a_missing_name_file_or_dimension_is_told(file):
    with pytest.raises(ParameterError, match="names no file"):
        vectors.MODEL.fit(vectors.Config(vectors=None, dim=DIM), CORPUS)
    with pytest.raises(DataError, match="No such file"):
        vectors.MODEL.fit(vectors.Config(vectors=f"{file}.gz", dim=DIM), CORPUS)
    with pytest.raises(DataError, match=r"v\.txt"):
        vectors.MODEL.fit(vectors.Config(vectors=file, dim=DIM + 1), CORPUS)


def test_tfidf_of_words_is_that_of_scikit_learn():
    scorer = tfidf.MODEL.fit(tfidf.Config(), CORPUS)
    reference = TfidfVectorizer(analyzer=str.split).fit(CORPUS.to_pylist()).transform(SENTENCES.to_pylist())
    expected = (reference @ reference.T).toarray()[LEFT, RIGHT]
    assert scorer.score(SENTENCES, LEFT, RIGHT) == pytest.approx(expected, abs=1e-6)
    assert scorer.unknown(SENTENCES).tolist() == [0, 0.25, 1, 0, 0]
