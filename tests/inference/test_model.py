"""Loaded models: from raw text to vectors and similarities."""

import pickle
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest
import torch
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline

import paraphrastic
from paraphrastic.base.errors import ModelError, ParameterError
from paraphrastic.scoring.neural import TrainedEncoder
from paraphrastic.scoring.static import StaticEncoder
from paraphrastic.text.tokenizer import tokenize
from tests.helpers.small_models import ENCODERS, save_baseline, save_model, save_pair_model, save_word_vectors
from tests.helpers.toy_training import SENTENCES, WORDS

RAW = [f'AGAIN "{WORDS[0]}" was the {WORDS[1]}.', "", "日本", f"{WORDS[2].upper()}, again!"]
LINES = SENTENCES.to_pylist()
NOT_UTF8 = pa.Array.from_buffers(pa.string(), 1, pa.array([b"a\xff"]).buffers())


def test_vectors_of_raw_and_tokenized_text(model):
    vectors = model.encode(RAW)
    assert vectors.dtype == np.float32
    assert vectors.shape == (4, model.dim) == (4, 8)
    known = [True, False, False, True]
    np.testing.assert_array_equal(vectors[known], model.scorer.encode(tokenize(pa.array(RAW)))[known])
    assert vectors[0].any()


def test_vector_of_one_text(model):
    vector, unit = model.encode(RAW[0]), model.encode(RAW[0], normalize_embeddings=True)
    np.testing.assert_allclose(vector, model.encode(RAW)[0], atol=1e-6)
    assert (vector.shape, unit.shape) == ((8,), (8,))
    np.testing.assert_array_equal(model.encode_query(RAW), model.encode(RAW))
    np.testing.assert_array_equal(model.encode_document(RAW[0]), vector)


def test_nothing_known(model):
    unknown = ["日本", "ひ ら", "", " \u200b"]
    vectors, shares = model.encode(iter([*unknown, WORDS[0]]), return_unknown=True)
    assert not vectors[:4].any()
    assert vectors[4].any()
    assert shares.tolist()[:4] == [1, 1, 0, 0]
    assert shares[4] < 1
    np.testing.assert_array_equal(model.unknown([*unknown, WORDS[0]]), shares)
    assert model.unknown("日本") == 1
    assert model.encode("日本", return_unknown=True)[1] == 1
    assert model.similarity(["日本", " "], unknown).tolist() == [[1, 0, 0, 0], [0, 0, 1, 1]]  # 1 for equal tokens
    assert model.similarity_pairwise(["日本"] * 4, unknown).tolist() == [1, 0, 0, 0]


def test_nothing_known_to_a_pair_model(tmp_path):
    model = save_pair_model(tmp_path)
    known = LINES[0]
    assert model.similarity_pairwise(["日本", "日本", "", known], ["日本", known, known, ""]).tolist() == [1, 0, 0, 0]
    assert model.similarity(["日本", known], ["", known])[0].tolist() == [0, 0]
    assert model.similarity([known], [known]).item() > 0


@pytest.mark.parametrize("kind", ["vectors", "pairs"])
def test_similarities_of_all_pairs(model, overlap, kind):
    scorer = model if kind == "vectors" else overlap
    left, right = LINES[:3], LINES[5:9]
    scores = scorer.similarity(left, right, batch_size=5)
    assert (scores.shape, scores.dtype) == ((3, 4), np.float32)
    for row, text in zip(scores, left, strict=True):
        np.testing.assert_allclose(row, scorer.similarity_pairwise([text] * 4, right), atol=1e-6)
    for size in (0, None, "3", 2.0):
        with pytest.raises(ParameterError, match=f"batch_size = {size}: should be 1 or more"):
            scorer.similarity(left, right, batch_size=size)
    assert scorer.similarity(left, []).shape == (3, 0)
    np.testing.assert_array_equal(scorer.similarity(left[0], right), scorer.similarity(left[:1], right))


@pytest.mark.parametrize("kind", [np.asarray, torch.from_numpy])
def test_similarities_of_vectors(model, kind):
    left, right = kind(model.encode(LINES[:3])), kind(model.encode(LINES[5:8]))
    np.testing.assert_allclose(model.similarity(left, right), model.similarity(LINES[:3], LINES[5:8]), atol=1e-6)
    np.testing.assert_allclose(model.similarity(left[0], right), model.similarity(LINES[:1], LINES[5:8]), atol=1e-6)
    scores = model.similarity_pairwise(left, right)
    np.testing.assert_allclose(scores, model.similarity_pairwise(LINES[:3], LINES[5:8]), atol=1e-6)


def test_kinds_of_results(model):
    expected = model.encode(RAW)
    tensor, arrays = model.encode(RAW, convert_to_tensor=True), model.encode(RAW, convert_to_numpy=False)
    assert isinstance(tensor, torch.Tensor)
    np.testing.assert_array_equal(tensor.numpy(), expected)
    assert isinstance(arrays, list)
    np.testing.assert_array_equal(np.stack(arrays), expected)
    assert model.encode(RAW, prompt_name=None, device=None).shape == (4, 8)
    assert model.encode(RAW, precision="float16").dtype == np.float16
    assert model.encode(RAW, precision="ubinary").shape == (4, 1)


def test_pickled_model(model):
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.encode(RAW), model.encode(RAW))
    assert len({model, model, copy}) == 2


def test_step_of_a_scikit_learn_pipeline(model):
    labels = [0, 1] * 10
    steps = Pipeline([("encoder", model), ("classifier", LogisticRegression(C=1e6, max_iter=1000))])
    assert steps.fit(LINES[:20], labels).predict(LINES[:20]).tolist() == labels
    search = GridSearchCV(steps, {"classifier__C": [1.0, 10.0]}, cv=2).fit(LINES[:20], labels)
    assert search.predict(LINES[:3]).shape == (3,)


def test_vectors_of_projection_to_another_size(proj):
    embeddings, weights = proj.embeddings(), proj.scorer.arrays()
    rows = [proj.vocabulary.to_pylist().index(word) for word in ("again", "was", "the", WORDS[0])]
    expected = embeddings[rows].mean(axis=0) @ weights["dense.W"] + weights["dense.b"]  # (5,)
    np.testing.assert_allclose(proj.encode([f"Again {WORDS[0]} was the"])[0], expected, atol=1e-6)
    assert proj.dim == proj.summary()["dimension"] == 5
    assert proj.similarity_pairwise(["again"], ["Again"]) == pytest.approx(1)


def test_vectors_with_small_batches(model):
    texts = LINES + RAW
    np.testing.assert_allclose(model.encode(texts, batch_size=3), model.encode(texts), atol=1e-6)


def test_normalized_vectors(model):
    vectors, unit = model.encode(RAW), model.encode(RAW, normalize_embeddings=True)
    lengths = np.linalg.norm(vectors, axis=1)
    np.testing.assert_allclose(np.linalg.norm(unit, axis=1), lengths > 0, atol=1e-6)
    np.testing.assert_allclose(unit * lengths[:, None], vectors, atol=1e-6)


@pytest.mark.parametrize("kind", [iter, tuple, np.array, pa.array, lambda texts: pa.chunked_array([texts])])
def test_vectors_of_any_iterable_of_text(model, kind):
    np.testing.assert_array_equal(model.encode(kind(RAW), batch_size=2), model.encode(RAW, batch_size=2))


COLUMNS = {
    "large_string": lambda texts: pa.array(texts, pa.large_string()),
    "string_view": lambda texts: pa.array(texts, pa.string_view()),
    "dictionary": lambda texts: pa.array(texts).dictionary_encode(),
    "large dictionary": lambda texts: pa.array(texts, pa.large_string()).dictionary_encode(),
    "chunks of dictionaries": lambda texts: pa.chunked_array([pa.array([text]).dictionary_encode() for text in texts]),
}


@pytest.mark.parametrize("kind", COLUMNS)
def test_columns_of_each_type_of_strings(avg, overlap, kind):
    column = COLUMNS[kind](RAW)
    np.testing.assert_array_equal(avg.encode(column, batch_size=2), avg.encode(RAW, batch_size=2))
    np.testing.assert_array_equal(
        overlap.similarity_pairwise(column, RAW[::-1]), overlap.similarity_pairwise(RAW, RAW[::-1])
    )


def test_vectors_and_similarities_of_nothing(model):
    for nothing in ([], pa.array([]), pa.chunked_array([], pa.large_string())):
        assert model.encode(nothing).shape == (0, 8)
    assert model.similarity_pairwise([], []).shape == (0,)
    assert model.similarity([], RAW).shape == (0, 4)


@pytest.mark.parametrize("batch_size", [4, 100])
def test_similarity_by_cosine_of_vectors(model, batch_size):
    left, right = LINES[:9], LINES[9:18]
    first, second = (model.encode(side, normalize_embeddings=True) for side in (left, right))
    scores = model.similarity_pairwise(left, right, batch_size=batch_size)
    assert scores.dtype == np.float32
    np.testing.assert_allclose(scores, (first * second).sum(axis=1), atol=1e-6)


def test_similarity_by_pair_model(tmp_path):
    model = save_pair_model(tmp_path)
    scores = model.similarity_pairwise(LINES[:3], LINES[3:6])
    expected = model.scorer.score(SENTENCES, np.arange(3), np.arange(3, 6))
    np.testing.assert_allclose(scores, expected, atol=1e-6)


@pytest.mark.parametrize("name", ["overlap", "tfidf-words", "tfidf-chars", "ldc"])
def test_model_without_vectors(tmp_path, name):
    model = save_model(tmp_path, name)
    for use in (lambda: model.encode(RAW), lambda: model.dim):
        with pytest.raises(ModelError, match=f"{name} compares pairs and has no sentence vectors; use similarity"):
            use()
    assert name == "ldc" or model.similarity_pairwise([RAW[0]], [RAW[0].lower()]) == pytest.approx(1)


def test_summary_of_encoder(model):
    summary = model.summary()
    assert summary["model"] == model.name
    assert summary["selection"] == "-"
    assert summary["dimension"] == 8
    assert summary["vocabulary"] == len(model.vocabulary) == len(model.scorer.texts)
    arrays = model.scorer.arrays() if isinstance(model.scorer, TrainedEncoder) else model.scorer.arrays
    assert summary["parameters"] == sum(array.size for array in arrays.values())
    assert summary["bytes"] == sum(file.stat().st_size for file in model.folder.iterdir())


def test_summary_of_model_without_weights(overlap):
    missing, size = dict.fromkeys(("selection", "teacher", "dimension"), "-"), (overlap.folder / "config.json").stat()
    numbers = {"members": 1, "vocabulary": 0, "parameters": 0, "bytes": size.st_size}
    assert overlap.summary() == {"model": "overlap", **missing, **numbers}


def test_embeddings_of_vocabulary(model):
    embeddings = model.embeddings()
    assert embeddings.shape == (len(model.vocabulary), 8)
    has_unknown_row = model.scorer.vocabulary_kind == "words"
    np.testing.assert_array_equal(embeddings, model.scorer.embedding_array()[int(has_unknown_row) :])


def test_embedding_and_vector_of_single_word(tmp_path):
    model = save_word_vectors(tmp_path, "vectors")
    np.testing.assert_allclose(model.encode(model.vocabulary), model.embeddings(), atol=1e-6)


@pytest.mark.parametrize("name", ["overlap", "tfidf-words"])
def test_embeddings_of_model_without_embeddings(tmp_path, name):
    with pytest.raises(ModelError, match=f"{name} has no embeddings of its vocabulary; choose an encoder"):
        save_baseline(tmp_path, name).embeddings()


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (lambda m: m.encode(b"a sentence"), "bytes where text is expected; decode it"),
        (lambda m: m.similarity_pairwise(["a"], "a"), "one string where a list of sentences is expected"),
        (lambda m: m.similarity_pairwise("ab", ["a", "b"]), "one string where a list of sentences is expected"),
        (
            lambda m: m.similarity_pairwise(["a"], ["a", "b"]),
            "1 sentences and 2: similarity_pairwise compares lists of eq",
        ),
        (lambda m: m.encode(["a"], normalise=True), "^unknown option of encode 'normalise': known"),
        (lambda m: m.encode(["a"], normalize=True), "did you mean 'normalize_embeddings'"),
        (lambda m: m.encode(["a"], precision="int4"), "precision = 'int4': should be one of float32, "),
        (lambda m: m.similarity(["a"], ["a"], batch_size=0), "batch_size = 0: should be 1 or more"),
        (lambda m: m.encode(["a"], batch_size=True), "batch_size = True: should be 1 or more"),
        (lambda m: m.encode(["a"], truncate_dim=True), "truncate_dim = True: should be from 1 to 8"),
        (lambda m: m.unknown([1]), r"sentences\[0\] is of type int"),
        (lambda m: m.encode(["a", None]), r"sentences\[1\] is of type NoneType, expected str"),
        (lambda m: m.encode([float("nan")]), r"sentences\[0\] is of type float, expected str"),
        (lambda m: m.encode(["\ud800"]), "a sentence is not valid Unicode"),
        (lambda m: m.encode(pa.array([1, 2])), r"a column of type int64 where text is expected; cast it to pa\.string"),
        (lambda m: m.encode(pa.array([b"a"])), "a column of type binary where text is expected"),
        (lambda m: m.encode(pa.array([1]).dictionary_encode()), "a column of type dictionary<values=int64"),
        (lambda m: m.encode(NOT_UTF8), r"the column has text that is not UTF-8; decode it before"),
        (lambda m: m.encode(pa.array(["a", None])), r"sentences\[1\] is null; fill nulls or drop them"),
        (lambda m: m.encode(pa.array([None])), r"sentences\[0\] is null"),
        (lambda m: m.similarity_pairwise(["a", "b"], pa.chunked_array([["a"], [None]])), r"sentences\[1\] is null"),
        (lambda m: m.encode(["a"], batch_size=0), "batch_size = 0: should be 1 or more"),
        (lambda m: m.similarity_pairwise(["a"], ["a"], batch_size=0), "batch_size = 0: should be 1 or more"),
    ],
)
def test_wrong_arguments(avg, use, message):
    with pytest.raises(ParameterError, match=message) as caught:
        use(avg)
    assert "\n" not in str(caught.value)


def test_folder_missing_or_replaced_by_file(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(ModelError, match="file: is a file; a model is a folder"):
        paraphrastic.load(str(tmp_path / "file"))
    with pytest.raises(ModelError, match="nowhere: no model here"):
        paraphrastic.load(tmp_path / "nowhere")


def test_name_options_and_folder_after_loading(model):
    assert model.name in ENCODERS
    assert model.options["dim"] == 8
    assert model.options.keys() == ENCODERS[model.name].keys()
    assert isinstance(model.scorer, TrainedEncoder if model.name == "lstmavg" else StaticEncoder)
    assert (model.folder / "config.json").is_file()


@pytest.mark.parametrize(
    ("progress", "batch_size", "is_shown"), [(None, 2, False), (True, 100, True), (False, 2, False)]
)
def test_progress_bar_without_terminal(model, capsys, progress, batch_size, is_shown):
    model.encode(RAW, batch_size=batch_size, show_progress_bar=progress)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert ("sentences" in captured.err) == is_shown


@pytest.mark.parametrize(("batch_size", "is_shown"), [(2, True), (4, False)])
def test_progress_bar_on_terminal(avg, capsys, monkeypatch, batch_size, is_shown):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    avg.encode(RAW, batch_size=batch_size)
    assert ("sentences" in capsys.readouterr().err) == is_shown


def test_process_without_standard_error(avg, monkeypatch):
    monkeypatch.setattr(sys, "stderr", None)
    assert avg.encode(RAW, batch_size=2).shape == (len(RAW), avg.dim)


def python(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def test_dependencies_imported_with_package():
    dependencies = "{'torch', 'numba', 'pandas', 'pyarrow', 'numpy', 'scipy', 'sklearn', 'pydantic', 'rich'}"
    assert python(f"import sys, paraphrastic; print({dependencies} & set(sys.modules))") == "set()\n"


def test_names_of_package():
    assert {"Model", "load"} <= set(dir(paraphrastic))
    with pytest.raises(AttributeError, match="has no attribute 'lod'"):
        paraphrastic.lod  # noqa: B018
