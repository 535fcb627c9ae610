from importlib import import_module
from itertools import chain

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
import pytrec_eval
from pydantic import ValidationError
from sklearn.feature_extraction.text import TfidfVectorizer

from paraphrastic import models
from paraphrastic.errors import DataError, ModelError
from paraphrastic.evaluation import Benchmarks, evaluate
from paraphrastic.evaluation.ranking import rank
from paraphrastic.models import overlap
from paraphrastic.readers import read
from paraphrastic.sources.catalogue import source
from paraphrastic.sources.fetching import fetch
from paraphrastic.text.tokenizer import tokenize

tfidf = import_module("paraphrastic.models.tfidf-chars")

CORPUS = pa.array(["the cat sat on the mat .", "a dog , a cat", "the café is closed", "no", "ab"])
SENTENCES = pa.array(["the cat", "the mat the mat", "", "a café , closed", "xyzzy !", "ab", "the cat sat"])
LEFT, RIGHT = (index.ravel() for index in np.indices((len(SENTENCES), len(SENTENCES))))


def scores(scorer, *texts):
    return float(scorer.score(pa.array(texts), np.array([0]), np.array([1]))[0])


@pytest.fixture
def words():
    return overlap.MODEL.fit(overlap.Config(), CORPUS)


@pytest.fixture
def chars():
    return tfidf.MODEL.fit(tfidf.Config(), CORPUS)


def test_overlap_of_numbers_worked_by_hand(words):
    assert scores(words, "a b c", "b c d e") == pytest.approx(2 / (3 * 4) ** 0.5)
    assert scores(words, "a b", "c d") == 0


def test_overlap_is_of_sets_of_words(words):
    assert scores(words, "a a a b", "b a") == pytest.approx(1)


def test_overlap_knows_every_word(words):
    assert words.unknown(SENTENCES).tolist() == [0] * len(SENTENCES)


@pytest.mark.parametrize("scorer", ["words", "chars"])
def test_an_empty_sentence_is_like_nothing(scorer, request):
    scorer = request.getfixturevalue(scorer)
    assert scores(scorer, "", "the cat") == scores(scorer, "", "") == 0


@pytest.mark.parametrize("order", [1, 3, 6])
def test_tfidf_is_that_of_scikit_learn(order):
    scorer = tfidf.MODEL.fit(tfidf.Config(order=order), CORPUS)
    reference = TfidfVectorizer(analyzer="char", ngram_range=(order, order), lowercase=False)
    reference.fit(CORPUS.to_pylist())
    vectors = reference.transform(SENTENCES.to_pylist())
    expected = (vectors @ vectors.T).toarray()[LEFT, RIGHT]
    assert scorer.score(SENTENCES, LEFT, RIGHT) == pytest.approx(expected, abs=1e-6)


def test_rare_ngrams_weigh_more_than_common_ones():
    corpus = pa.array(["aaa bbb", "aaa ccc", "aaa ddd", "eee"])
    chars = tfidf.MODEL.fit(tfidf.Config(), corpus)
    assert scores(chars, "eee fff aaa", "eee") > scores(chars, "eee fff aaa", "aaa") > 0


def test_ngrams_of_the_test_sentences_are_not_learned(chars):
    assert scores(chars, "xyzzy", "xyzzy") == 0
    assert chars.unknown(pa.array(["xyzzy"])).tolist() == [1]


def test_the_share_of_unknown_ngrams_counts_repetitions(chars):
    # "the", "he ", "e x", " xx", "xxx", "xxx"; then shorter than an n-gram; then none
    assert chars.unknown(pa.array(["the xxxx", "xy", ""])).tolist() == [4 / 6, 0, 0]


@pytest.mark.parametrize("order", [0, 7, 3.0, "3"])
def test_an_order_out_of_range_is_refused(order):
    with pytest.raises(ValidationError):
        tfidf.Config(order=order)


@pytest.mark.parametrize("corpus", [[], ["", "ab"]])
def test_a_corpus_without_ngrams_is_refused(corpus):
    with pytest.raises(DataError, match=r"no text of the corpus can be cut with \{'order': 3\}"):
        tfidf.MODEL.fit(tfidf.Config(), pa.array(corpus, pa.string()))


@pytest.mark.parametrize(("name", "module"), [("overlap", overlap), ("tfidf-chars", tfidf)])
def test_a_loaded_baseline_scores_as_the_saved_one(tmp_path, name, module):
    scorer = module.MODEL.fit(module.Config(), CORPUS)
    models.save(scorer, name, module.Config(), tmp_path)
    loaded = models.load(tmp_path)
    assert loaded.score(SENTENCES, LEFT, RIGHT).tolist() == scorer.score(SENTENCES, LEFT, RIGHT).tolist()
    assert loaded.unknown(SENTENCES).tolist() == scorer.unknown(SENTENCES).tolist()


def test_saving_gives_the_same_bytes_whatever_the_order_of_sentences(tmp_path, chars):
    chars.save(tmp_path)
    before = [file.read_bytes() for file in sorted(tmp_path.iterdir())]
    tfidf.MODEL.fit(tfidf.Config(), CORPUS[::-1]).save(tmp_path)
    assert [file.read_bytes() for file in sorted(tmp_path.iterdir())] == before


@pytest.fixture
def saved(tmp_path, chars):
    chars.save(tmp_path)
    return tmp_path


@pytest.mark.parametrize("name", ["weights.safetensors", "vocabulary.parquet"])
def test_a_missing_or_damaged_file_is_named(saved, name):
    whole = (saved / name).read_bytes()
    (saved / name).write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ModelError, match=name if name.startswith("weights") else "do not belong together"):
        tfidf.MODEL.load(saved, tfidf.Config())
    (saved / name).unlink()
    with pytest.raises(ModelError, match=name):
        tfidf.MODEL.load(saved, tfidf.Config())


def test_a_vocabulary_of_another_training_is_refused(saved, tmp_path_factory):
    other = tmp_path_factory.mktemp("other")
    tfidf.MODEL.fit(tfidf.Config(), pa.array(["quite another corpus"])).save(other)
    (other / "vocabulary.parquet").replace(saved / "vocabulary.parquet")
    with pytest.raises(ModelError, match="do not belong together"):
        tfidf.MODEL.load(saved, tfidf.Config())


REAL = ("sts2012", "sts2013", "sts2014", "sts2015", "sts2016", "sick", "trecqa", "wikiqa")


@pytest.fixture(scope="module")
def read_real(mirror, tmp_path_factory):
    """The raw tables of sources of the folder of real data, by kind."""
    folder = tmp_path_factory.mktemp("raw")

    def read_sources(*names):
        sources = [source(name) for name in names]
        fetch(sources, folder, mirror=str(mirror), cache=folder / "cache")
        tables = {}
        for part in chain.from_iterable(read(s, folder / s.name) for s in sources):
            tables.setdefault(part.kind, []).append(part.table)
        return {kind: pa.concat_tables(parts) for kind, parts in tables.items()}

    return read_sources


def sides(table):
    return [tokenize(table[name]) for name in ("text1", "text2")]


@pytest.fixture(scope="module")
def benchmarks(read_real):
    tables = read_real(*REAL)
    texts = {kind: sides(table) for kind, table in tables.items()}
    sentences = pc.unique(pa.concat_arrays(list(chain.from_iterable(texts.values()))))
    for kind, (left, right) in texts.items():
        tables[kind] = (
            tables[kind]
            .append_column("left", pc.index_in(left, sentences))
            .append_column("right", pc.index_in(right, sentences))
        )
    return Benchmarks(sentences, tables)


@pytest.mark.real_data
def test_overlap_reaches_what_was_measured_of_it_elsewhere(benchmarks):
    metrics = evaluate(benchmarks, overlap.MODEL.fit(overlap.Config(), CORPUS)).metrics
    assert metrics["sts"]["sets"] == 19
    assert metrics["sts"]["mean"] == pytest.approx(55.5, abs=1)
    assert metrics["sts"]["2016"] == pytest.approx(58.5, abs=1)
    assert metrics["sick"]["pearson"] == pytest.approx(60.0, abs=1)


@pytest.mark.real_data
def test_tfidf_reaches_what_was_measured_of_it_elsewhere(benchmarks, read_real):
    pairs = read_real("twitterurl", "onestop")["pairs"]
    scorer = tfidf.MODEL.fit(tfidf.Config(), pc.unique(pa.concat_arrays(sides(pairs))))
    metrics = evaluate(benchmarks, scorer).metrics
    assert metrics["sts"]["mean"] == pytest.approx(67.05, abs=0.7)
    assert metrics["sts"]["2016"] == pytest.approx(72.4, abs=0.7)
    assert metrics["sick"]["pearson"] == pytest.approx(64.6, abs=0.7)


@pytest.mark.real_data
@pytest.mark.parametrize(("name", "questions"), [("qa.qasent", 68), ("qa.wikiqa", 243)])
def test_real_questions_with_all_their_ties_are_ranked_as_by_trec_eval(benchmarks, name, questions):
    task = next(task for task in benchmarks.tasks() if task.name == name)
    score = overlap.Overlap().score(benchmarks.sentences, task.column("left"), task.column("right"))
    relevant, run = {}, {}
    for question, label, s in zip(*map(task.column, ("question", "label")), score, strict=True):
        document = str(len(run.setdefault(str(question), {})))
        run[str(question)][document] = float(s)
        relevant.setdefault(str(question), {})[document] = int(label)
    relevant = {question: labels for question, labels in relevant.items() if any(labels.values())}
    found = pytrec_eval.RelevanceEvaluator(relevant, {"map", "recip_rank"}).evaluate(run).values()
    assert len(found) == questions
    expected = [np.mean([one[metric] for one in found]) for metric in ("map", "recip_rank")]
    assert rank(task.column("question"), task.column("label"), score) == pytest.approx(expected, abs=1e-12)
