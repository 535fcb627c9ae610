"""Means of given word vectors and SIF against their definitions in plain NumPy."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pydantic import ValidationError

from paraphrastic.base.errors import DataError, SourceError
from paraphrastic.inference import model_folder
from paraphrastic.models import sif, vectors
from tests.helpers.pair_scores import all_pairs, cosines

DIM = 4
WORDS = ["the", "cat", "sat", "mat", "rare"]
VECTORS = np.random.default_rng(0).normal(size=(len(WORDS), DIM)).astype(np.float32)
CORPUS = pa.array(["the cat sat", "the mat", "the unknown cat cat", ""])
SENTENCES = pa.array(["the cat", "rare mat the the", "nothing known", "", "cat"])
UNKNOWN = np.array([0.5, -1, 2, 3], np.float32)


@pytest.fixture
def vector_file(tmp_path: Path) -> str:
    """Return the path of a file of WORDS and VECTORS in GloVe's format."""
    lines = (f"{word} {' '.join(map(str, row))}\n" for word, row in zip(WORDS, VECTORS.tolist(), strict=True))
    (tmp_path / "v.txt").write_text("".join(lines))
    return str(tmp_path / "v.txt")


@pytest.fixture
def file_with_unknown(vector_file: str) -> str:
    """Return the path of the same file with UNKNOWN as the vector of unknown words."""
    with Path(vector_file).open("a") as file:
        file.write(f"UUUNKKK {' '.join(map(str, UNKNOWN.tolist()))}\n")
    return vector_file


def naive_means(
    sentences: pa.StringArray, weight: Callable[[str], float], unknown: np.ndarray | None = None
) -> np.ndarray:
    """Return the mean of the weighted vectors of the words of each sentence, with `unknown` (or zero) for others."""

    def mean(words: list[str]) -> np.ndarray:
        other = np.zeros(DIM) if unknown is None else unknown
        rows = [weight(word) * VECTORS[WORDS.index(word)] if word in WORDS else other for word in words]
        return np.sum(rows, axis=0) / len(words) if words else np.zeros(DIM)

    return np.array([mean(text.split()) for text in sentences.to_pylist()])


def test_mean_of_vectors(vector_file):
    scorer = vectors.MODEL.fit(vectors.Config(vectors=vector_file, dim=DIM), CORPUS)
    expected = naive_means(SENTENCES, lambda word: 1)
    np.testing.assert_allclose(scorer.encode(SENTENCES), expected, atol=1e-6)
    np.testing.assert_allclose(scorer.score(SENTENCES, *all_pairs(SENTENCES)), cosines(expected), atol=1e-6)
    assert scorer.oov_share(SENTENCES).tolist() == [0, 0, 1, 0, 0]


def test_mean_of_vectors_with_vector_of_unknown_words(file_with_unknown):
    scorer = vectors.MODEL.fit(vectors.Config(vectors=file_with_unknown, dim=DIM), CORPUS)
    expected = naive_means(SENTENCES, lambda word: 1, UNKNOWN)
    np.testing.assert_allclose(scorer.encode(SENTENCES), expected, atol=1e-6)
    np.testing.assert_array_equal(scorer.encode(pa.array(["UUUNKKK", "other"])), [UNKNOWN, UNKNOWN])
    assert scorer.texts.to_pylist() == WORDS


@pytest.mark.parametrize("components", [0, 1, 2])
def test_weights_and_removed_components_of_sif(vector_file, components):
    a, tokens = 0.1, " ".join(CORPUS.to_pylist()).split()
    counts = Counter(tokens)
    corpus, means = (
        naive_means(sentences, lambda word: a / (a + counts[word] / len(tokens))) for sentences in (CORPUS, SENTENCES)
    )
    directions = np.linalg.svd(corpus)[2][:components]
    expected = means - means @ directions.T @ directions
    scorer = sif.MODEL.fit(sif.Config(vectors=vector_file, dim=DIM, a=a, components=components), CORPUS)
    np.testing.assert_allclose(scorer.encode(SENTENCES), expected, atol=1e-5)
    np.testing.assert_allclose(scorer.score(SENTENCES, *all_pairs(SENTENCES)), cosines(expected), atol=1e-4)


def test_sif_with_vector_of_unknown_words(file_with_unknown):
    scorer = sif.MODEL.fit(sif.Config(vectors=file_with_unknown, dim=DIM, a=0.1, components=0), CORPUS)
    counts = Counter(" ".join(CORPUS.to_pylist()).split())
    expected = naive_means(SENTENCES, lambda word: 0.1 / (0.1 + counts[word] / counts.total()), UNKNOWN)
    np.testing.assert_allclose(scorer.encode(SENTENCES), expected, atol=1e-6)


@pytest.mark.parametrize("components", [DIM, DIM + 1])
def test_sif_without_a_direction_that_remains(vector_file, components):
    with pytest.raises(ValidationError, match=f"should be less than dim \\({DIM}\\)"):
        sif.Config(vectors=vector_file, dim=DIM, a=0.1, components=components)


@pytest.mark.parametrize("corpus", [[], [WORDS[0]]])
def test_sif_of_a_corpus_of_one_word_or_none(vector_file, corpus):
    config = sif.Config(vectors=vector_file, dim=DIM, a=0.1, components=0)
    scorer = sif.MODEL.fit(config, pa.array(corpus, pa.string()))
    expected = naive_means(SENTENCES, lambda word: 0.1 / 1.1 if word in corpus else 1)
    np.testing.assert_allclose(scorer.encode(SENTENCES), expected, atol=1e-6)


@pytest.mark.parametrize(
    ("name", "module", "options"),
    [("vectors", vectors, {}), ("sif", sif, {"a": 0.1, "components": 1}), ("sif", sif, {"a": 0.1, "components": 0})],
)
def test_vectors_after_loading(vector_file, tmp_path, name, module, options):
    config = module.Config(vectors=vector_file, dim=DIM, **options)
    fitted = module.MODEL.fit(config, CORPUS)
    model_folder.write_model(fitted, model_folder.ModelInfo(name, config.model_dump()), tmp_path / "model")
    Path(vector_file).unlink()  # a saved model does not need the file
    loaded = model_folder.load_scorer(tmp_path / "model")
    np.testing.assert_array_equal(loaded.encode(SENTENCES), fitted.encode(SENTENCES))


@pytest.mark.parametrize(("module", "options"), [(vectors, {}), (sif, {"a": 0.1, "components": 1})])
def test_vector_file_not_named_missing_or_of_another_dimension(vector_file, module, options):
    with pytest.raises(
        ValidationError, match=r"vectors\n.* is empty; set it to a file in GloVe or word2vec text format"
    ):
        module.Config(vectors=None, dim=DIM, **options)
    with pytest.raises(SourceError, match="no such file"):
        module.MODEL.fit(module.Config(vectors=f"{vector_file}.gz", dim=DIM, **options), CORPUS)
    with pytest.raises(DataError, match=r"v\.txt"):
        module.MODEL.fit(module.Config(vectors=vector_file, dim=DIM + 1, **options), CORPUS)


def test_smallest_dimension():
    assert vectors.Config(vectors="v.txt", dim=1).dim == 1
    with pytest.raises(ValidationError, match="greater than or equal to 1"):
        vectors.Config(vectors="v.txt", dim=0)
