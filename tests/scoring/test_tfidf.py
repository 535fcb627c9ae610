"""TF-IDF over words and over character n-grams against scikit-learn."""

from importlib import import_module

import numpy as np
import pyarrow as pa
import pytest
from pydantic import ValidationError
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.metrics.pairwise import cosine_similarity

from paraphrastic.base.errors import DataError, ModelError
from paraphrastic.inference import model_folder
from paraphrastic.scoring.tfidf import TfidfScorer
from tests.helpers.hard_text import hard_sentences
from tests.helpers.pair_scores import all_pairs, score_texts

chars, words = (import_module(f"paraphrastic.models.tfidf-{tokens}") for tokens in ("chars", "words"))
DEFAULTS = {chars: chars.Config(order=3), words: words.Config()}  # as in params.yaml

CORPUS = pa.array(["the cat sat on the mat .", "a dog , a cat", "the café is closed", "no", "ab"])
SENTENCES = pa.array(["the cat", "the mat the mat", "", "a café , closed", "xyzzy !", "ab", "the cat sat"])
TEXTS = {"plain": (CORPUS, SENTENCES), "hard": (hard_sentences(80, seed=1), hard_sentences(60, seed=2))}

on_each_text = pytest.mark.parametrize("text", TEXTS)


def fit_chars(corpus: pa.StringArray = CORPUS, **options: int) -> TfidfScorer:
    """Return TF-IDF over character n-grams of `corpus`."""
    return chars.MODEL.fit(chars.Config(**({"order": 3} | options)), corpus)


def sklearn_scores(corpus: pa.StringArray, sentences: pa.StringArray, split) -> np.ndarray:
    """Return the cosine of all pairs of sentences, (n²,), as scikit-learn computes it from tokens `split(text)`."""
    counter = CountVectorizer(analyzer=split).fit(corpus.to_pylist())
    weights = TfidfTransformer().fit(counter.transform(corpus.to_pylist()))
    return cosine_similarity(weights.transform(counter.transform(sentences.to_pylist()))).ravel()


@on_each_text
@pytest.mark.parametrize("order", [1, 2, 3, 6])
def test_tfidf_of_ngrams_against_scikit_learn(text, order):
    corpus, sentences = TEXTS[text]
    scores = fit_chars(corpus, order=order).score(sentences, *all_pairs(sentences))
    expected = sklearn_scores(corpus, sentences, lambda s: [s[i : i + order] for i in range(len(s) - order + 1)])
    assert expected.any()
    np.testing.assert_allclose(scores, expected, atol=1e-6)


@on_each_text
def test_tfidf_of_words_against_scikit_learn(text):
    corpus, sentences = TEXTS[text]
    scores = words.MODEL.fit(words.Config(), corpus).score(sentences, *all_pairs(sentences))
    expected = sklearn_scores(corpus, sentences, lambda s: s.split(" ") if s else [])
    assert expected.any()
    np.testing.assert_allclose(scores, expected, atol=1e-6)


def test_weights_of_rare_and_frequent_ngram():
    scorer = fit_chars(pa.array(["aaa bbb", "aaa ccc", "aaa ddd", "eee"]))
    assert score_texts(scorer, "eee fff aaa", "eee") > score_texts(scorer, "eee fff aaa", "aaa") > 0


def test_ngrams_outside_of_corpus():
    scorer = fit_chars()
    assert score_texts(scorer, "xyzzy", "xyzzy") == 0
    assert scorer.oov_share(pa.array(["xyzzy"])).tolist() == [1]


def test_tfidf_of_empty_sentences():
    scorer = fit_chars()
    assert score_texts(scorer, "", "the cat") == score_texts(scorer, "", "") == 0


def test_oov_share_of_repeated_ngrams():
    # "the", "he ", "e x", " xx", "xxx", "xxx"; then a text shorter than an n-gram; then an empty text
    assert fit_chars().oov_share(pa.array(["the xxxx", "xy", ""])).tolist() == [4 / 6, 0, 0]


def test_oov_share_of_words():
    scorer = words.MODEL.fit(words.Config(), CORPUS)
    assert scorer.oov_share(pa.array(["the cat", "rare cat the the", "xyzzy", ""])).tolist() == [0, 0.25, 1, 0]


@pytest.mark.parametrize("order", [0, 7, 3.0, "3"])
def test_order_out_of_range(order):
    with pytest.raises(ValidationError):
        chars.Config(order=order)


def test_order_missing():
    with pytest.raises(ValidationError, match="order"):
        chars.Config()


@pytest.mark.parametrize(
    ("module", "corpus", "message"),
    [
        (chars, [], "the 0 training sentences hold no ngrams to count; choose another corpus"),
        (chars, ["", "ab"], "the 2 training sentences hold no ngrams to count; choose another corpus"),
        (words, [""], "the 1 training sentences hold no words to count; choose another corpus"),
    ],
)
def test_corpus_without_tokens(module, corpus, message):
    with pytest.raises(DataError, match=message):
        module.MODEL.fit(DEFAULTS[module], pa.array(corpus, pa.string()))


@pytest.mark.parametrize(("name", "module"), [("tfidf-chars", chars), ("tfidf-words", words)])
def test_scores_after_loading(tmp_path, name, module):
    corpus, sentences = TEXTS["hard"]
    fitted = module.MODEL.fit(DEFAULTS[module], corpus)
    model_folder.save(fitted, name, DEFAULTS[module], tmp_path)
    loaded, pairs = model_folder.load_scorer(tmp_path), all_pairs(sentences)
    np.testing.assert_array_equal(loaded.score(sentences, *pairs), fitted.score(sentences, *pairs))
    np.testing.assert_array_equal(loaded.oov_share(sentences), fitted.oov_share(sentences))


@pytest.mark.parametrize("module", [chars, words])
def test_saved_bytes_of_reordered_sentences(tmp_path, module):
    for name, corpus in (("a", CORPUS), ("b", CORPUS[::-1])):
        (tmp_path / name).mkdir()
        module.MODEL.fit(DEFAULTS[module], corpus).save(tmp_path / name)
    first, second = ({f.name: f.read_bytes() for f in (tmp_path / name).iterdir()} for name in "ab")
    assert first == second
    assert first.keys() == {"vocabulary.parquet", "weights.safetensors"}


def test_idf_of_another_length(tmp_path):
    config = TfidfScorer("ngrams", pa.array(["abc", "abd"]), np.ones(1)).save(tmp_path)
    with pytest.raises(ModelError, match=rf"^{tmp_path}/weights\.safetensors: not the weights of this model"):
        TfidfScorer.load(tmp_path, config["scorer"])
