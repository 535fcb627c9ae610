"""Everything that takes texts or vectors of users refuses the same ones."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import torch

from paraphrastic.analysis.explain import explain
from paraphrastic.base.errors import ModelError, ParameterError
from paraphrastic.inference.mining import Lines, search
from paraphrastic.inference.neighbors import nearest_in_vocabulary
from tests.helpers.toy_training import SENTENCES

LINES = SENTENCES.to_pylist()[:3]

ENTRANCES = {
    "encode": lambda model, texts: model.encode(texts),
    "encode_query": lambda model, texts: model.encode_query(texts),
    "encode_document": lambda model, texts: model.encode_document(texts),
    "unknown": lambda model, texts: model.unknown(texts),
    "similarity": lambda model, texts: model.similarity(LINES, texts),
    "similarity of pairs": lambda model, texts: model.similarity_pairwise(texts, LINES),
    "transform": lambda model, texts: model.transform(texts),
    "explain": lambda model, texts: explain(model, LINES[0], texts),
    "lines that are searched": lambda model, texts: search(model, [texts], LINES, 1),
    "queries": lambda model, texts: search(model, [LINES], texts, 1),
    "lines": lambda model, texts: Lines.of(model, [texts]),
    "neighbour": lambda model, texts: nearest_in_vocabulary(model, texts, 1),
}


@pytest.mark.parametrize("texts", [{"text": LINES}, [None], [{"text": "a"}], None], ids=repr)
@pytest.mark.parametrize("entrance", ENTRANCES)
def test_texts_that_are_none(avg, entrance, texts):
    with pytest.raises(ParameterError, match=r"expected str|where texts are expected") as caught:
        ENTRANCES[entrance](avg, texts)
    assert "\n" not in str(caught.value)


def test_texts_of_sentence_transformers(avg):
    pytest.importorskip("sentence_transformers", reason="needs the extra `external`")
    from paraphrastic.export.sentence_transformers import load

    with pytest.raises(ParameterError, match=r"is of type int, expected str"):
        load(avg.folder)[0].preprocess(["a", 1], "query: ")


def test_batches_of_texts_of_mteb(avg):
    batches = [{"text": LINES[:2], "title": ["", ""]}, {"text": LINES[2:]}]
    assert avg.encode(batches, task_metadata="Toy").tolist() == avg.encode(LINES).tolist()
    with pytest.raises(ParameterError, match=r"sentences\[0\] is of type dict"):
        avg.encode(batches)


def test_similarities_of_one_vector_or_text(avg):
    first, second = avg.encode(LINES[0]), avg.encode(LINES[1])
    cosine = first @ second / np.linalg.norm(first) / np.linalg.norm(second)
    for compare in (avg.similarity_pairwise, avg.similarity):
        for left, right in ((first, second), (LINES[:1], second), ([first], LINES[1:2])):
            scores = compare(left, right)
            assert scores.shape == ((1,) if compare == avg.similarity_pairwise else (1, 1))
            assert scores.item() == pytest.approx(cosine, abs=1e-6)
    assert avg.similarity(first, LINES).shape == (1, 3)
    assert avg.similarity(LINES[0], avg.encode(LINES)).shape == (1, 3)


FORMS = {
    "float16": lambda vectors: vectors.astype(np.float16),
    "float64": lambda vectors: vectors.astype(np.float64),
    "list of arrays": list,
    "tensor": torch.from_numpy,
    "bfloat16": lambda vectors: torch.from_numpy(vectors).bfloat16(),
    "tensor with gradient": lambda vectors: torch.from_numpy(vectors).requires_grad_(),
    "list of tensors": lambda vectors: list(torch.from_numpy(vectors)),
    "lists of numbers": lambda vectors: vectors.tolist(),
    "column of pandas": lambda vectors: pd.Series(list(vectors), index=range(5, 5 + len(vectors))),
    "column of Arrow": lambda vectors: pa.FixedSizeListArray.from_arrays(vectors.ravel(), vectors.shape[1]),
    "column of Arrow in pandas": lambda vectors: pd.Series(
        pd.arrays.ArrowExtensionArray(pa.FixedSizeListArray.from_arrays(vectors.ravel(), vectors.shape[1]))
    ),
    "other byte order": lambda vectors: vectors.astype(">f4"),
    "first dimensions": lambda vectors: vectors[:, :5],
}


@pytest.mark.parametrize("form", FORMS)
def test_forms_of_vectors(avg, form):
    vectors = FORMS[form](avg.encode(LINES) * 300)  # squares of float16 would be infinite
    expected = avg.similarity(LINES, LINES)
    if form == "first dimensions":
        expected = np.corrcoef(np.hstack([vectors, -vectors]))  # cosines: the means are 0
    other = vectors if form == "first dimensions" else avg.encode(LINES)
    for scores, wanted in (
        (avg.similarity(vectors, other), expected),
        (avg.similarity(other, vectors), expected),
        (avg.similarity_pairwise(other, vectors), expected.diagonal()),
    ):
        assert isinstance(scores, torch.Tensor) == ("tensor" in form or form == "bfloat16")
        np.testing.assert_allclose(scores, wanted, atol=1e-2 if form in ("float16", "bfloat16") else 1e-5)


def test_list_that_begins_with_a_vector_of_zeros_as_json_has_it(avg):
    vectors = [[0] * 8, avg.encode(LINES[0]).tolist()]
    np.testing.assert_allclose(avg.similarity(vectors, LINES[0]), [[0], [1]], atol=1e-6)


ARRAY = np.ones((3, 8), np.float32)
NO_VECTORS = {
    "int8": (ARRAY.astype(np.int8), "vectors of int8: cosines are those of floating-point vectors"),
    "uint8": (ARRAY.astype(np.uint8), "vectors of uint8"),
    "integers of torch": (torch.ones(3, 8, dtype=torch.int8), r"vectors of torch\.int8"),
    "bits": (ARRAY > 0, "vectors of bool"),
    "complex": (ARRAY * 1j, "vectors of complex64"),
    "text in a list": ([[1.5, "a"]], "a vector that is no list of numbers: could not convert string to float: 'a'"),
    "nothing in a list": ([[1.5, None]], r"vectors\[0\] has NaN or an infinite number"),
    "integers in a list": ([*ARRAY.astype(int)], "vectors of int64"),
    "vectors and texts": ([ARRAY[0], "a"], "vectors of str"),
    "three axes": (ARRAY[None], r"vectors of shape \(1, 3, 8\): should be \(n, dim\)"),
    "no axis": (ARRAY[0, 0], r"vectors of shape \(\)"),
    "no dimensions": (ARRAY[:, :0], r"vectors of shape \(3, 0\)"),
    "nothing": (np.array([]), r"vectors of shape \(0,\)"),
    "lists of other lengths": ([ARRAY[0], ARRAY[0, :5]], r"a list of vectors of shapes"),
    "NaN": (np.where(np.arange(3)[:, None] == 1, np.nan, ARRAY), r"vectors\[1\] has NaN or an infinite number"),
    "infinite": (ARRAY * np.float32(np.inf), r"vectors\[0\] has NaN or an infinite number"),
    "masked": (np.ma.masked_equal(ARRAY, 1), "vectors with masked numbers"),
    "beyond float32": (ARRAY.astype(float) * 1e99, r"vectors\[0\] has NaN or an infinite number"),
    "another size": (ARRAY[:, :5], "size .*: a cosine is one of vectors of .*; encode both with the same model$"),
    "strings": (np.full((3, 8), "a"), r"an array of shape \(3, 8\) where texts are expected"),
    "one string": (np.array("a"), r"an array of shape \(\) where texts are expected"),
    "table": (pd.DataFrame(ARRAY), "a table, DataFrame"),
}


@pytest.mark.parametrize("kind", NO_VECTORS)
def test_vectors_that_are_none(avg, kind):
    given, message = NO_VECTORS[kind]
    for compare in (avg.similarity, avg.similarity_pairwise):
        for sides in ((given, ARRAY), (ARRAY, given)):
            with pytest.raises(ParameterError, match=message) as caught:
                compare(*sides)
            assert "\n" not in str(caught.value)


def test_vectors_for_a_model_without_vectors(overlap):
    for compare in (overlap.similarity, overlap.similarity_pairwise):
        for sides in ((ARRAY, ARRAY), (LINES, ARRAY), (ARRAY, LINES)):
            with pytest.raises(ModelError, match="overlap compares pairs of texts and knows no vectors; give texts"):
                compare(*sides)


def test_no_cosine_beyond_one(avg):
    vectors = np.random.default_rng(1).standard_normal((200, 300)).astype(np.float32)
    for other, sign in ((vectors * 3, 1), (vectors * -0.1, -1)):
        for scores in (avg.similarity(vectors, other).diagonal(), avg.similarity_pairwise(vectors, other)):
            assert (np.abs(scores) <= 1).all()
            np.testing.assert_allclose(scores, sign, atol=1e-6)
