"""Models in the tools that compare sentence encoders, with the real packages (extra `external`)."""

import numpy as np
import pytest

from paraphrastic.inference.quantization import Ranges, quantize, ranges_of
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
