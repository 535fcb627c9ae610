"""Nearest neighbours in a vocabulary."""

import numpy as np
import pyarrow as pa
import pytest

from paraphrastic.base.errors import ModelError, ParameterError
from paraphrastic.inference.neighbors import nearest_in_vocabulary, nearest_texts
from tests.helpers.toy_training import WORDS


def naive_neighbors(model, query, left_out, count):
    """Return the entries whose embeddings have the largest cosine with `query`, and the cosines."""
    words, rows = model.vocabulary.to_pylist(), model.embeddings()
    cosines = rows @ query / np.linalg.norm(rows, axis=1) / np.linalg.norm(query)
    nearest = [n for n in np.argsort(-cosines) if words[n] != left_out][:count]
    return [words[n] for n in nearest], cosines[nearest]


@pytest.mark.parametrize("text", [WORDS[0], WORDS[0].upper(), f"{WORDS[3]} {WORDS[4]}"])
def test_neighbors_of_word_or_sentence(avg, text):
    neighbors = nearest_in_vocabulary(avg, text, 10)
    word = text.lower() if " " not in text else ""  # is not its own neighbour
    texts, cosines = naive_neighbors(avg, avg.encode(text), word, 10)
    assert [text for _, text in neighbors] == texts
    assert word or set(texts[:2]) == {WORDS[3], WORDS[4]}
    np.testing.assert_allclose([score for score, _ in neighbors], cosines, atol=1e-6)


@pytest.mark.parametrize(("text", "entry"), [("th", "th"), ("again", " again "), (" again ", " again ")])
def test_neighbors_of_ngram_and_of_word_among_ngrams(charagram, text, entry):
    neighbors = nearest_in_vocabulary(charagram, text, len(charagram.vocabulary))
    assert sorted(text for _, text in neighbors) == sorted({*charagram.vocabulary.to_pylist()} - {entry})


OTHER_SIZE = "sentence vectors have size 5 and embeddings 8; name a word or n-gram of the vocabulary"


@pytest.mark.parametrize(
    ("name", "text", "kind", "message"),
    [
        ("overlap", "a", ModelError, "overlap has no embeddings of its vocabulary; choose an encoder"),
        ("avg", "日本", ModelError, "the vocabulary knows nothing of '日本'; try another text"),
        ("avg", "\udcff", ParameterError, "a sentence is not valid Unicode"),
        ("proj", "not an entry", ModelError, OTHER_SIZE),
    ],
)
def test_text_without_neighbors(request, name, text, kind, message):
    with pytest.raises(kind, match=message) as caught:
        nearest_in_vocabulary(request.getfixturevalue(name), text, 3)
    assert "\n" not in str(caught.value)


def test_neighbors_of_word_whose_vectors_have_another_size(proj):
    assert len(nearest_in_vocabulary(proj, WORDS[0], 3)) == 3


def test_first_of_equally_near_texts_without_the_one_left_out():
    vectors = np.array([[1, 0], [2, 0], [0, 0], [1, 1], [4, 0], [-1, 0]], np.float32)
    nearest = nearest_texts(pa.array(list("abcdef")), vectors, vectors[0], 4, left_out=1)
    assert [text for _, text in nearest] == list("aedc")
    np.testing.assert_allclose([cosine for cosine, _ in nearest], [1, 1, 0.5**0.5, 0], atol=1e-6)

    texts = pa.array([f"{n:02}" for n in range(99)])
    assert [text for _, text in nearest_texts(texts, np.ones((99, 2), np.float32), vectors[3], 99)] == texts.to_pylist()
