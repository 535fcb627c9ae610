"""A model in the hand: raw text in, vectors and similarities out."""

import subprocess
import sys
from importlib import import_module

import numpy as np
import pyarrow as pa
import pytest

import paraphrastic
from paraphrastic import models
from paraphrastic.errors import ModelError, ParameterError
from paraphrastic.models import overlap
from paraphrastic.text.tokenizer import tokenize
from tests.test_encoders import LSTM, TRAINED, WORD
from tests.test_training import MADE_UP, SENTENCES, prepare

RAW = [f'AGAIN "{MADE_UP[0]}" was the {MADE_UP[1]}.', "", "日本", f"{MADE_UP[2].upper()}, again!"]
CHARAGRAM = TRAINED | {"words": True, "counts": "sqrt", "layers": 1, "activation": "tanh"}
ENCODERS = [("avg", WORD), ("lstmavg", LSTM), ("charagram", CHARAGRAM)]


@pytest.fixture(scope="module", params=ENCODERS, ids=[name for name, _ in ENCODERS])
def model(request, tmp_path_factory):
    name, block = request.param
    scorer, _, config = prepare(name, block)
    folder = tmp_path_factory.mktemp(name)
    models.save(scorer, name, config, folder)
    return paraphrastic.load(folder)


@pytest.fixture
def comparer(tmp_path):
    """Word overlap, which has no vectors."""
    models.save(overlap.MODEL(), "overlap", overlap.Config(), tmp_path)
    return paraphrastic.load(tmp_path)


class TestVectors:
    def test_are_those_of_the_tokenized_text(self, model):
        vectors = model.encode(RAW)
        assert vectors.dtype == np.float32
        assert vectors.shape == (4, model.dim) == (4, 8)
        np.testing.assert_array_equal(vectors, model.scorer.encode(tokenize(pa.array(RAW))))
        assert vectors[0].any()

    def test_do_not_depend_on_the_batches(self, model):
        texts = SENTENCES.to_pylist() + RAW
        np.testing.assert_allclose(model.encode(texts, batch_size=3), model.encode(texts), atol=1e-6)

    def test_have_length_one_where_asked_and_zero_stays_zero(self, model):
        lengths = np.linalg.norm(model.encode(RAW, normalize=True), axis=1)
        known = model.encode(RAW).any(axis=1)
        np.testing.assert_allclose(lengths, known.astype(float), atol=1e-6)
        assert not model.encode(RAW, normalize=True)[1].any()

    @pytest.mark.parametrize("kind", [iter, tuple, np.array, pa.array, lambda texts: pa.chunked_array([texts])])
    def test_of_any_iterable_of_text(self, model, kind):
        np.testing.assert_array_equal(model.encode(kind(RAW), batch_size=2), model.encode(RAW, batch_size=2))

    def test_of_nothing_are_none(self, model):
        assert model.encode([]).shape == (0, 8)
        assert model.similarity([], []).shape == (0,)


class TestSimilarity:
    def test_is_the_cosine_of_the_vectors(self, model):
        left, right = SENTENCES.to_pylist()[:9], SENTENCES.to_pylist()[9:18]
        cosines = (model.encode(left, normalize=True) * model.encode(right, normalize=True)).sum(axis=1)
        for size in (4, 100):
            scores = model.similarity(left, right, batch_size=size)
            assert scores.dtype == np.float32
            np.testing.assert_allclose(scores, cosines, atol=1e-6)

    def test_needs_no_vectors(self, comparer):
        assert comparer.similarity(["A cat.", "one two", "x"], ["A dog.", "Two ONE", "y"]).tolist() == pytest.approx(
            [2 / 3, 1, 0]
        )

    def test_by_tfidf(self, tmp_path):
        tfidf = import_module("paraphrastic.models.tfidf-chars")
        scorer = tfidf.MODEL.fit(tfidf.Config(), SENTENCES)
        models.save(scorer, "tfidf-chars", scorer.config, tmp_path)
        model = paraphrastic.load(tmp_path)
        assert model.similarity([RAW[0]], [RAW[0].lower()])[0] == pytest.approx(1)
        with pytest.raises(ModelError, match="tfidf-chars compares pairs"):
            model.encode(RAW)


def test_a_model_without_vectors_says_so(comparer):
    for ask in (lambda: comparer.encode(["a"]), lambda: comparer.dim):
        with pytest.raises(ModelError, match="overlap compares pairs and has no vectors; ask for similarity"):
            ask()


def test_facts_are_those_of_the_folder(model, comparer):
    facts = model.facts()
    assert facts["model"] == model.name
    assert facts["dimension"] == 8
    assert facts["vocabulary"] == len(model.units) == len(model.scorer.texts)
    counted = model.scorer.table.numel() + sum(weight.numel() for weight in model.scorer.encoder.parameters())
    assert facts["parameters"] == counted
    assert facts["bytes"] == sum(file.stat().st_size for file in model.folder.iterdir())
    assert comparer.facts() | {"bytes": 0} == {
        "model": "overlap",
        "dimension": "-",
        "vocabulary": 0,
        "parameters": 0,
        "bytes": 0,
    }


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda m: m.encode("a sentence"), "one string where a list of sentences is expected"),
        (lambda m: m.similarity(["a"], "a"), "one string where a list of sentences is expected"),
        (lambda m: m.similarity("ab", ["a", "b"]), "one string where a list of sentences is expected"),
        (lambda m: m.similarity(["a"], ["a", "b"]), "1 sentences and 2"),
        (lambda m: m.encode(["a", None]), r"sentences\[1\] is of type NoneType, expected str"),
        (lambda m: m.encode([float("nan")]), r"sentences\[0\] is of type float"),
        (lambda m: m.encode(["\ud800"]), "no Unicode text"),
        (lambda m: m.encode(["a"], batch_size=0), "batch_size = 0: should be 1 or more"),
    ],
)
def test_what_is_no_list_of_sentences_is_refused_in_one_line(tmp_path, ask, message):
    scorer, _, config = prepare(*ENCODERS[0])
    models.save(scorer, "avg", config, tmp_path / "avg")
    with pytest.raises(ParameterError, match=message) as caught:
        ask(paraphrastic.load(tmp_path / "avg"))
    assert "\n" not in str(caught.value)


def test_what_is_no_model_folder_is_refused(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(ModelError, match="file: is a file; a model is a folder"):
        paraphrastic.load(str(tmp_path / "file"))
    with pytest.raises(ModelError, match="nowhere: no model here"):
        paraphrastic.load(tmp_path / "nowhere")


@pytest.mark.parametrize(("progress", "size", "shown"), [(None, 2, False), (True, 100, True), (False, 2, False)])
def test_progress_is_shown_on_a_terminal_or_where_asked(model, capsys, progress, size, shown):
    model.encode(RAW, batch_size=size, progress=progress)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert ("sentences" in captured.err) == shown


def python(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def test_importing_the_package_imports_nothing_heavy():
    heavy = "{'torch', 'numba', 'pandas', 'pyarrow', 'numpy', 'scipy', 'sklearn'}"
    assert python(f"import sys, paraphrastic; print({heavy} & set(sys.modules))") == "set()\n"


def test_a_model_that_needs_no_torch_loads_without_it(comparer):
    use = f"paraphrastic.load({str(comparer.folder)!r}).similarity(['a'], ['a'])"
    assert python(f"import sys, paraphrastic; {use}; print('torch' in sys.modules)") == "False\n"


def test_the_package_offers_what_it_lists():
    assert {"Model", "load"} <= set(dir(paraphrastic))
    with pytest.raises(AttributeError, match="has no attribute 'lod'"):
        paraphrastic.lod  # noqa: B018
