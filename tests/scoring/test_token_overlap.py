"""Word overlap against a count of words in plain Python."""

from itertools import product

import numpy as np
import pyarrow as pa
import pytest

from paraphrastic.inference import model_folder
from paraphrastic.models import overlap
from paraphrastic.scoring.token_overlap import OverlapScorer
from tests.helpers.hard_text import hard_sentences
from tests.helpers.pair_scores import all_pairs, score_texts

SCORER = OverlapScorer()


def naive_overlap(left: str, right: str) -> float:
    """Return |A ∩ B| / √(|A| |B|) for the sets of words A and B; 0 if one is empty."""
    a, b = ({*text.split(" ")} - {""} for text in (left, right))
    return len(a & b) / (len(a) * len(b)) ** 0.5 if a and b else 0.0


def test_overlap_worked_by_hand():
    assert score_texts(SCORER, "a b c", "b c d e") == pytest.approx(2 / (3 * 4) ** 0.5)
    assert score_texts(SCORER, "a b", "c d") == 0


def test_overlap_of_repeated_words():
    assert score_texts(SCORER, "a a a b", "b a") == pytest.approx(1)


def test_overlap_of_empty_sentences():
    assert score_texts(SCORER, "", "the cat") == score_texts(SCORER, "", "") == 0


def test_overlap_of_hard_text_against_naive_count():
    sentences = hard_sentences(60, seed=1)
    expected = [naive_overlap(*pair) for pair in product(sentences.to_pylist(), repeat=2)]
    np.testing.assert_allclose(SCORER.score(sentences, *all_pairs(sentences)), expected, atol=1e-6)


def test_overlap_with_leading_and_double_spaces():
    assert score_texts(SCORER, "  a  b ", "b a") == pytest.approx(1)


def test_texts_of_an_empty_vocabulary():
    assert OverlapScorer().texts.equals(pa.array([], pa.string()))


def test_oov_share_without_vocabulary():
    assert SCORER.oov_share(pa.array(["the cat", "", "xyzzy"])).tolist() == [0, 0, 0]


def test_scores_after_loading(tmp_path):
    sentences = hard_sentences(20, seed=2)
    fitted = overlap.MODEL.fit(overlap.Config(), sentences)
    model_folder.save(fitted, "overlap", overlap.Config(), tmp_path)
    loaded = model_folder.load_scorer(tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == ["config.json"]
    pairs = all_pairs(sentences)
    np.testing.assert_array_equal(loaded.score(sentences, *pairs), fitted.score(sentences, *pairs))
    np.testing.assert_array_equal(loaded.oov_share(sentences), fitted.oov_share(sentences))
