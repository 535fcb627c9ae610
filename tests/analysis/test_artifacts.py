"""Analyses by name, and artifacts that an analysis cannot use."""

import inspect

import pytest

from paraphrastic import analysis
from paraphrastic.analysis.artifacts import Artifacts
from paraphrastic.base.errors import DataError, ModelError, ParameterError
from paraphrastic.evaluation.headline import headline_sets
from tests.helpers.run_artifacts import write_corpus, write_run
from tests.helpers.small_models import CHARAGRAM_WORDS, save_baseline, save_encoder


def test_scores_of_other_benchmarks(tmp_path):
    write_run(tmp_path, ["a b", "a c", "d"], [("sts.2012.MSRpar", "test", 0, 2, 1.0)])
    earlier = (tmp_path / "scores.parquet").read_bytes()
    artifacts = write_run(tmp_path, ["a b", "a c"], [("sts.2012.MSRpar", "test", 0, 1, 1.0)])
    (tmp_path / "scores.parquet").write_bytes(earlier)
    with pytest.raises(DataError, match=r"scores\.parquet: .*other benchmarks; run `dvc repro evaluate`$"):
        _ = artifacts.scores
    rows = [(name, split, 0, 2, 1.0) for name in ("sts.2012.MSRpar", "words.simlex") for split in ("test", "dev")]
    found = write_run(tmp_path, ["a b", "a c", "d"], rows).scores_of(headline_sets)
    assert "index" not in found
    assert found[["set", "split", "kind"]].values.tolist() == [["sts.2012.MSRpar", "test", "similarity"]]


@pytest.mark.parametrize("name", ["length", "rare-words"])
def test_benchmarks_without_sets_of_sentences(tmp_path, name):
    write_corpus(tmp_path, ["a b"])
    artifacts = write_run(tmp_path, ["a b", "a c"], [("words.simlex", "test", 0, 1, 1.0)])
    with pytest.raises(DataError, match="no STS sets; choose `benchmarks: sample` or `open`"):
        analysis.analysis(name)(artifacts)


@pytest.mark.parametrize("name", ["cosine-gap", "neighbors"])
def test_model_without_sentence_vectors(tmp_path, name):
    save_baseline(tmp_path / "model", "overlap")
    write_corpus(tmp_path, ["a b", "a c"], [(0, 1, "one", 0)])
    with pytest.raises(ModelError, match=r"model: overlap .*sentence vectors; choose an encoder$"):
        analysis.analysis(name)(Artifacts(tmp_path))


@pytest.mark.parametrize("name", ["overlap", "tfidf-words", "charagram"])
def test_model_without_embeddings_of_words(tmp_path, name):
    if name == "charagram":
        save_encoder(tmp_path / "model", name, CHARAGRAM_WORDS)
    else:
        save_baseline(tmp_path / "model", name)
    with pytest.raises(ModelError, match=f"/model: {name} .*embeddings of words; choose a word model$"):
        analysis.analysis("norms")(Artifacts(tmp_path))


@pytest.mark.parametrize("name", analysis.names())
def test_each_analysis_is_a_function_of_artifacts_in_a_module_that_cites_its_paper(name):
    function = analysis.analysis(name)
    assert list(inspect.signature(function).parameters) == ["artifacts"]
    assert any(paper in inspect.getmodule(function).__doc__ for paper in ("iclr2016", "charagram2016", "acl2017"))


def test_unknown_analysis():
    with pytest.raises(ParameterError, match="unknown analysis 'lenght': did you mean 'length'"):
        analysis.analysis("lenght")
