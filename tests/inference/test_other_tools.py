"""Models in other tools, with the real packages (scikit-learn, and those of the extra `external`)."""

import asyncio
import sys
from importlib.util import find_spec

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import make_pipeline
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from paraphrastic.base.errors import ParameterError
from paraphrastic.inference.quantization import quantize, ranges_of
from paraphrastic.scoring.weight_files import Ranges
from tests.helpers.toy_training import SENTENCES

LEFT, RIGHT = SENTENCES.to_pylist()[:6], SENTENCES.to_pylist()[6:12]
GOLD = [0.5, 0.1, 0.9, 0.3, 0.7, 0.2]


@pytest.mark.parametrize("precision", [None, "int8", "binary"])
def test_similarity_evaluator_of_sentence_transformers(model, precision, monkeypatch):
    evaluation = pytest.importorskip("sentence_transformers.sentence_transformer.evaluation")
    spearman = pytest.importorskip("scipy.stats").spearmanr
    evaluator = evaluation.EmbeddingSimilarityEvaluator(LEFT, RIGHT, GOLD, precision=precision)
    monkeypatch.setattr(model, "ranges", Ranges(*[ranges_of(model.encode(LEFT))] * 2))
    metrics = evaluator(model)
    assert model.model_card_data.metrics.items() >= metrics.items()
    if precision is None:
        expected = spearman(GOLD, model.similarity_pairwise(LEFT, RIGHT)).statistic
        assert metrics["spearman_cosine"] == pytest.approx(expected, abs=1e-6)


def test_retrieval_evaluator_of_sentence_transformers(model):
    evaluation = pytest.importorskip("sentence_transformers.sentence_transformer.evaluation")
    queries, corpus = dict(enumerate(LEFT)), dict(enumerate(LEFT + RIGHT))
    evaluator = evaluation.InformationRetrievalEvaluator(
        queries, corpus, {n: {n} for n in queries}, main_score_function=None
    )
    assert evaluator(model)["cosine_accuracy@1"] == 1


def evaluators():
    """Return evaluators of sentence-transformers by name, each with the metric of a model that is its own teacher."""
    evaluation = pytest.importorskip("sentence_transformers.sentence_transformer.evaluation")
    table = [{"en": q, "fr": q} for q in LEFT]
    triples = [{"query": q, "positive": [q], "negative": [r]} for q, r in zip(LEFT, RIGHT, strict=True)]
    return {
        "translation": lambda model: evaluation.TranslationEvaluator(LEFT, LEFT)(model)["mean_accuracy"] == 1,
        "error": lambda model: evaluation.MSEEvaluator(LEFT, LEFT, model)(model)["negative_mse"] == 0,
        "error of a table": lambda model: (
            evaluation.MSEEvaluatorFromDataFrame(table, model, [("en", "fr")])(model)["negative_mse"] == 0
        ),
        "triplets": lambda model: evaluation.TripletEvaluator(LEFT, LEFT, RIGHT)(model)["cosine_accuracy"] == 1,
        "classes": lambda model: (
            evaluation.BinaryClassificationEvaluator(LEFT + LEFT, LEFT + RIGHT, [1] * 6 + [0] * 6)(model)["cosine_ap"]
            == pytest.approx(1)
        ),
        "reranking": lambda model: evaluation.RerankingEvaluator(triples)(model)["map"] == pytest.approx(1),
        "mining": lambda model: (
            evaluation.ParaphraseMiningEvaluator(dict(enumerate(LEFT + LEFT[:2])), [(0, 6), (1, 7)])(model)[
                "average_precision"
            ]
            == pytest.approx(1)
        ),
        "first dimensions": lambda model: (
            evaluation.TripletEvaluator(LEFT, LEFT, RIGHT, truncate_dim=5)(model)["cosine_accuracy"] == 1
        ),
    }


EVALUATORS = [
    "translation",
    "error",
    "error of a table",
    "triplets",
    "classes",
    "reranking",
    "mining",
    "first dimensions",
]


@pytest.mark.parametrize("name", EVALUATORS)
def test_other_evaluators_of_sentence_transformers(model, name):
    assert evaluators()[name](model)


def test_hard_negatives_of_sentence_transformers(model, tmp_path):
    util = pytest.importorskip("sentence_transformers.util")
    datasets = pytest.importorskip("datasets")
    pairs = datasets.Dataset.from_dict({"anchor": LEFT, "positive": RIGHT})
    options = {"num_negatives": 1, "range_max": 6, "verbose": False}
    mined = util.mine_hard_negatives(pairs, model, cache_folder=str(tmp_path), **options)
    assert mined["anchor"][:] == LEFT
    nearest = model.similarity(LEFT, RIGHT)
    np.fill_diagonal(nearest, -np.inf)
    assert mined["negative"][:] == [RIGHT[n] for n in nearest.argmax(1)]
    assert model.model_card_data.base_model == str(model.folder)


def test_first_dimensions(model):
    vectors = model.encode(LEFT)
    np.testing.assert_array_equal(model.encode(LEFT, truncate_dim=3), vectors[:, :3])
    np.testing.assert_array_equal(model.encode(LEFT, truncate_dim=8), vectors)
    assert model.encode(LEFT, truncate_dim=3).base is None  # the other numbers are not kept in memory
    unit = model.encode(LEFT, truncate_dim=3, normalize_embeddings=True)
    np.testing.assert_allclose(np.linalg.norm(unit, axis=1), 1, atol=1e-6)
    for wrong in (0, 9, 2.5):
        with pytest.raises(ParameterError, match=r"truncate_dim = .*: should be from 1 to 8"):
            model.encode(LEFT, truncate_dim=wrong)


FRAME = pd.DataFrame({"text": LEFT, "size": GOLD}, index=[*"abcdef"])


def test_transformer_of_scikit_learn(model):
    vectors, names = model.encode(LEFT), [f"{model.name}{n}" for n in range(8)]
    check_is_fitted(model)
    assert model.fit(LEFT) is model
    np.testing.assert_array_equal(model.fit_transform(LEFT, GOLD), vectors)
    np.testing.assert_array_equal(make_pipeline(model).transform(FRAME["text"]), vectors)
    assert model.get_feature_names_out().tolist() == make_pipeline(model).get_feature_names_out().tolist() == names
    assert model.get_params() == {}
    assert model.set_params() is model
    with pytest.raises(ParameterError, match="has no parameter 'dim' to set"):
        make_pipeline(model).set_params(**{f"{type(model).__name__.lower()}__dim": 3})
    assert "Model" in make_pipeline(model)._repr_html_()


def test_data_frames_of_scikit_learn(model):
    vectors, names = model.encode(LEFT), [f"{model.name}{n}" for n in range(8)]
    step = clone(model)
    frame = make_pipeline(step).set_output(transform="pandas").fit_transform(FRAME["text"])
    pd.testing.assert_frame_equal(frame, pd.DataFrame(vectors, FRAME.index, names))
    assert isinstance(model.transform(LEFT), np.ndarray)  # a clone has its own output
    assert isinstance(clone(step).set_output().transform(LEFT), pd.DataFrame)
    assert isinstance(step.set_output(transform="default").transform(LEFT), np.ndarray)
    with config_context(transform_output="pandas"):
        assert model.transform(LEFT).index.tolist() == [0, 1, 2, 3, 4, 5]
    with pytest.raises(ParameterError, match="unknown output 'panda': did you mean 'pandas'"):
        step.set_output(transform="panda")
    if find_spec("polars"):
        assert step.set_output(transform="polars").transform(LEFT).columns == names


def test_tags_of_scikit_learn(model):
    tags = get_tags(model)
    assert (tags.transformer_tags is None, tags.input_tags.string, tags.requires_fit) == (False, True, True)


def test_columns_of_scikit_learn(model):
    columns = ColumnTransformer([("words", model, "text"), ("rest", "passthrough", ["size"])])
    expected = np.hstack([model.encode(LEFT), np.array(GOLD)[:, None]])
    np.testing.assert_allclose(columns.fit_transform(FRAME), expected)
    frame = columns.set_output(transform="pandas").fit_transform(FRAME)
    assert frame.columns.tolist() == [*(f"words__{model.name}{n}" for n in range(8)), "rest__size"]
    assert frame.index.tolist() == FRAME.index.tolist()
    with pytest.raises(ParameterError, match=r"a table, DataFrame, where texts are expected; name one column"):
        ColumnTransformer([("words", model, ["text"])]).fit_transform(FRAME)


def test_embeddings_of_langchain(model, shown, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert len(model.embed_documents(LEFT * 4000)) == 4000 * len(LEFT)
    assert shown() == []
    documents, query = model.embed_documents(LEFT), model.embed_query(LEFT[0])
    assert isinstance(documents[0][0], float)
    np.testing.assert_allclose(documents, model.encode(LEFT))
    np.testing.assert_allclose(query, documents[0], atol=1e-6)
    assert asyncio.run(model.aembed_documents(LEFT)) == documents
    assert asyncio.run(model.aembed_query(LEFT[0])) == query
    with pytest.raises(ParameterError, match="one string where a list of sentences is expected"):
        model.embed_documents(LEFT[0])
    with pytest.raises(ParameterError, match=r"sentences\[0\] is of type list"):
        model.embed_query(LEFT)
    stores = pytest.importorskip("langchain_core.vectorstores")
    store = stores.InMemoryVectorStore.from_texts(LEFT, model)
    assert store.similarity_search(LEFT[3], k=1)[0].page_content == LEFT[3]
    assert asyncio.run(store.asimilarity_search(LEFT[3], k=1))[0].page_content == LEFT[3]


@pytest.mark.parametrize("precision", ["int8", "uint8", "binary", "ubinary"])
def test_precisions_of_sentence_transformers(precision):
    quantization = pytest.importorskip("sentence_transformers.util.quantization")
    vectors = np.random.default_rng(1).standard_normal((300, 20)).astype(np.float32)
    ranges = ranges_of(vectors[:200])
    expected, codes = (f(vectors, precision, ranges) for f in (quantization.quantize_embeddings, quantize))
    assert codes.dtype == expected.dtype
    np.testing.assert_array_equal(codes, expected)


def test_task_of_mteb(model):
    mteb = pytest.importorskip("mteb")
    result = mteb.evaluate(model, toy_task(), cache=None, overwrite_strategy="always")
    (scores,) = result.task_results[0].scores["test"]
    expected = np.corrcoef(GOLD, model.similarity_pairwise(LEFT, RIGHT))[0, 1]
    assert scores["cosine_pearson"] == pytest.approx(expected, abs=1e-5)
    assert result.model_name == f"paraphrastic/{model.name}"


def toy_task():
    """Return a task of `mteb` on `LEFT`, `RIGHT` and `GOLD`."""
    datasets = pytest.importorskip("datasets")
    from mteb.abstasks import AbsTaskSTS
    from mteb.abstasks.task_metadata import TaskMetadata

    class Toy(AbsTaskSTS):
        metadata = TaskMetadata(
            name="Toy",
            dataset={"path": "none", "revision": "1"},
            description="Sentences of random words.",
            type="STS",
            eval_splits=["test"],
            eval_langs=["eng-Latn"],
            main_score="cosine_pearson",
        )
        min_score, max_score = 0, 1

        def load_data(self, *args, **options):
            columns = {"sentence1": LEFT, "sentence2": RIGHT, "score": GOLD}
            self.dataset = datasets.DatasetDict({"test": datasets.Dataset.from_dict(columns)})
            self.data_loaded = True

    return Toy()
