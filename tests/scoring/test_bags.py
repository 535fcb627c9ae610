"""Cosines of bags; TF-IDF against scikit-learn, and word overlap against a count of words in plain Python."""

from importlib import import_module
from itertools import product

import numpy as np
import pyarrow as pa
import pytest
from pydantic import ValidationError
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.metrics.pairwise import cosine_similarity

from paraphrastic.base.errors import DataError, ModelError
from paraphrastic.inference import model_folder
from paraphrastic.models import overlap
from paraphrastic.scoring.bags import OverlapScorer, TfidfScorer, cosine_of_sparse_rows
from paraphrastic.text.columns import Ragged
from tests.helpers.hard_text import hard_sentences
from tests.helpers.pair_scores import all_pairs, cosines, score_texts

ROWS, COLUMNS = 30, 12
LEFT, RIGHT = (rows.ravel() for rows in np.indices((ROWS, ROWS)))


def random_rows(density: float) -> np.ndarray:
    """Return a matrix (ROWS, COLUMNS) of which a share `density` is positive, with a first row of zeros."""
    rng = np.random.default_rng(0)
    dense = rng.uniform(0.1, 9, (ROWS, COLUMNS)) * (rng.random((ROWS, COLUMNS)) < density)
    dense[0] = 0
    return dense


def to_ragged(dense: np.ndarray) -> tuple[Ragged, np.ndarray]:
    """Return the positive columns of each row, and the values there."""
    row, column = np.nonzero(dense)
    offsets = np.searchsorted(row, np.arange(ROWS + 1))
    return Ragged(column.astype(np.int32), offsets), dense[row, column]


@pytest.mark.parametrize("density", [0.0, 0.1, 0.5, 1.0])
def test_cosine_of_sparse_rows_against_dense_rows(density):
    dense = random_rows(density)
    scores = cosine_of_sparse_rows(*to_ragged(dense), LEFT, RIGHT)
    assert scores.dtype == np.float32
    np.testing.assert_allclose(scores, cosines(dense), atol=1e-6)


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.uint16])
@pytest.mark.parametrize("rows", [([1, 2], [1, 3]), ([], [])])
def test_cosine_of_sparse_rows_with_rows_of_any_integer_type(dtype, rows):
    dense = random_rows(0.5)
    left, right = np.array(rows, dtype)
    scores = cosine_of_sparse_rows(*to_ragged(dense), left, right)
    np.testing.assert_allclose(scores, cosines(dense).reshape(ROWS, ROWS)[left, right], atol=1e-6)


chars, words = (import_module(f"paraphrastic.models.tfidf-{tokens}") for tokens in ("chars", "words"))
DEFAULTS = {chars: chars.Config(order=3), words: words.Config(), overlap: overlap.Config()}  # as in params.yaml

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
@pytest.mark.parametrize("order", [1, 2, 3, 6, None])
def test_tfidf_against_scikit_learn(text, order):
    corpus, sentences = TEXTS[text]
    scorer = fit_chars(corpus, order=order) if order else words.MODEL.fit(words.Config(), corpus)
    scores = scorer.score(sentences, *all_pairs(sentences))

    def split(s):
        return [s[i : i + order] for i in range(len(s) - order + 1)] if order else s.split(" ") if s else []

    expected = sklearn_scores(corpus, sentences, split)
    assert expected.any()
    np.testing.assert_allclose(scores, expected, atol=1e-6)


def test_oov_shares():
    # "the", "he ", "e x", " xx", "xxx", "xxx"; then a text shorter than an n-gram; then an empty text
    assert fit_chars().oov_share(pa.array(["the xxxx", "xyzzy", "xy", ""])).tolist() == [4 / 6, 1, 0, 0]
    of_words = words.MODEL.fit(words.Config(), CORPUS)
    assert of_words.oov_share(pa.array(["the cat", "rare cat the the", "xyzzy", ""])).tolist() == [0, 0.25, 1, 0]


@pytest.mark.parametrize("options", [{"order": 0}, {"order": 7}, {"order": 3.0}, {"order": "3"}, {}])
def test_order_out_of_range_or_missing(options):
    with pytest.raises(ValidationError, match="order"):
        chars.Config(**options)


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


@pytest.mark.parametrize(("name", "module"), [("tfidf-chars", chars), ("tfidf-words", words), ("overlap", overlap)])
def test_scores_after_loading(tmp_path, name, module):
    corpus, sentences = TEXTS["hard"]
    fitted = module.MODEL.fit(DEFAULTS[module], corpus)
    model_folder.write_model(fitted, model_folder.ModelInfo(name, DEFAULTS[module].model_dump()), tmp_path)
    loaded, pairs = model_folder.load_scorer(tmp_path), all_pairs(sentences)
    np.testing.assert_array_equal(loaded.score(sentences, *pairs), fitted.score(sentences, *pairs))
    np.testing.assert_array_equal(loaded.oov_share(sentences), fitted.oov_share(sentences))
    assert ({file.name for file in tmp_path.iterdir()} == {"config.json"}) == (module is overlap)


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


SCORER = OverlapScorer()


def naive_overlap(left: str, right: str) -> float:
    """Return |A ∩ B| / √(|A| |B|) for the sets of words A and B; 0 if one is empty."""
    a, b = ({*text.split(" ")} - {""} for text in (left, right))
    return len(a & b) / (len(a) * len(b)) ** 0.5 if a and b else 0.0


@pytest.mark.parametrize(
    ("left", "right", "score"),
    [
        ("a b c", "b c d e", 2 / (3 * 4) ** 0.5),
        ("a b", "c d", 0),
        ("a a a b", "b a", 1),
        ("  a  b ", "b a", 1),
        ("", "the cat", 0),
        ("", "", 0),
    ],
)
def test_overlap_worked_by_hand(left, right, score):
    assert score_texts(SCORER, left, right) == pytest.approx(score)


def test_overlap_of_hard_text_against_naive_count():
    sentences = hard_sentences(60, seed=1)
    expected = [naive_overlap(*pair) for pair in product(sentences.to_pylist(), repeat=2)]
    np.testing.assert_allclose(SCORER.score(sentences, *all_pairs(sentences)), expected, atol=1e-6)


def test_no_vocabulary():
    assert SCORER.texts.equals(pa.array([], pa.string()))
    assert SCORER.oov_share(pa.array(["the cat", "", "xyzzy"])).tolist() == [0, 0, 0]
