"""Baselines on real evaluation sets, against results that were measured with other programs."""

from collections.abc import Callable
from importlib import import_module
from itertools import chain

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from paraphrastic.evaluation.metrics import map_and_mrr
from paraphrastic.evaluation.suite import Benchmarks, evaluate
from paraphrastic.readers.registry import read
from paraphrastic.scoring.bags import OverlapScorer
from paraphrastic.sources.catalogue import source
from paraphrastic.sources.fetching import fetch
from paraphrastic.sources.locations import DataLocations
from paraphrastic.text.tokenizer import tokenize, tokenize_tables
from tests.helpers.trec_eval import trec_eval

tfidf = import_module("paraphrastic.models.tfidf-chars")

SOURCES = ("sts2012", "sts2013", "sts2014", "sts2015", "sts2016", "sick", "trecqa", "wikiqa")

pytestmark = [pytest.mark.real_data, pytest.mark.slow]


@pytest.fixture(scope="module")
def read_sources(mirror, tmp_path_factory) -> Callable[..., dict[str, pa.Table]]:
    """Return a function that reads sources from the folder of real data, as raw tables by kind."""
    folder = tmp_path_factory.mktemp("raw")

    def read_named(*names: str) -> dict[str, pa.Table]:
        sources = [source(name) for name in names]
        fetch(sources, folder, DataLocations(folder / "cache", mirror))
        tables: dict[str, list[pa.Table]] = {}
        for reading in chain.from_iterable(read(each, folder / each.name) for each in sources):
            tables.setdefault(reading.kind, []).append(reading.table)
        return {kind: pa.concat_tables(parts) for kind, parts in tables.items()}

    return read_named


@pytest.fixture(scope="module")
def benchmarks(read_sources) -> Benchmarks:
    return Benchmarks(*tokenize_tables(read_sources(*SOURCES)))


def test_overlap_on_sts_and_sick(benchmarks):
    metrics = evaluate(benchmarks, OverlapScorer()).metrics
    assert metrics["sts"]["sets"] == 19
    assert metrics["sts"]["mean"] == pytest.approx(55.5, abs=1)
    assert metrics["sts"]["2016"] == pytest.approx(58.5, abs=1)
    assert metrics["sick"]["pearson"] == pytest.approx(60.0, abs=1)


def test_tfidf_on_sts_and_sick(benchmarks, read_sources):
    pairs = read_sources("twitterurl", "onestop")["pairs"]
    texts = [tokenize(pairs[side]) for side in ("text1", "text2")]
    scorer = tfidf.MODEL.fit(tfidf.Config(order=3), pc.unique(pa.concat_arrays(texts)))
    metrics = evaluate(benchmarks, scorer).metrics
    assert metrics["sts"]["mean"] == pytest.approx(67.05, abs=0.7)
    assert metrics["sts"]["2016"] == pytest.approx(72.4, abs=0.7)
    assert metrics["sick"]["pearson"] == pytest.approx(64.6, abs=0.7)


@pytest.mark.parametrize(("name", "questions"), [("qa.qasent", 68), ("qa.wikiqa", 243)])
def test_ranking_of_real_questions_against_trec_eval(benchmarks, name, questions):
    (qa,) = (each for each in benchmarks.sets() if each.name == name)
    question, label = qa.column("question"), qa.column("label")
    score = OverlapScorer().score(benchmarks.sentences, qa.column("left"), qa.column("right"))
    expected = trec_eval(question, label, score)
    assert len(expected) == questions
    assert map_and_mrr(question, label, score) == pytest.approx(expected.mean(axis=0), abs=1e-12)
