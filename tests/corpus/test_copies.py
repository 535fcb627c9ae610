from random import Random

import pyarrow as pa
import pytest

from paraphrastic.corpus import filtering
from paraphrastic.corpus.filtering import NearCopies, exact_copies


def near_copies(texts, evaluation):
    """Return which texts are near copies of evaluation texts."""
    return NearCopies(evaluation).find(texts)


def find(function, texts, evaluation):
    """Return the result of `exact_copies` or `near_copies` as a list."""
    return function(pa.array(texts, pa.string()), pa.array(evaluation, pa.string())).tolist()


def test_exact_copies():
    expected = [True, True, False, False, False]
    assert find(exact_copies, ["a b", "b", "a", "", "b a"], ["b", "", "a b"]) == expected


@pytest.mark.parametrize("function", [exact_copies, near_copies])
def test_copies_of_no_text(function):
    assert find(function, [], []) == find(function, [], ["a b c d"]) == []
    assert find(function, ["a b c d", ""], []) == [False, False]


@pytest.mark.parametrize(
    ("text", "evaluation", "near"),
    [
        ("a b c d", "d c b a", True),
        ("a b c d e", "a b c d", True),  # 4 of 5
        ("a b c d", "a b c d e", True),
        ("a b c d e", "a b c d f", False),  # 4 of 6
        ("a b c d e f g h i", "a b c d e f g h j", True),  # 8 of 10
        ("a b c", "a b c", False),  # fewer than MIN_WORDS words
        ("a b c d", "a b c", False),
        ("a b c", "a a b c", True),  # four words, three of them distinct
        ("a a a b b b c d", "a b c d", True),
        ("", "a b c d", False),
    ],
)
def test_near_copies_by_share_of_common_words(text, evaluation, near):
    assert find(near_copies, ["z", text, "a"], ["y", evaluation]) == [False, near, False]


def naive_near_copy(text, evaluation):
    a, b = set(text.split()), set(evaluation.split())
    return len(evaluation.split()) >= 4 and 5 * len(a & b) >= 4 * len(a | b)


@pytest.mark.parametrize("seed", range(8))
def test_near_copies_equal_those_of_all_pairs(seed, monkeypatch):
    monkeypatch.setattr(filtering, "_ROWS", 17)
    generator = Random(seed)
    words = [chr(ord("a") + i) for i in range(generator.choice([6, 9, 14]))]
    texts, evaluation = (
        [" ".join(generator.choices(words, k=generator.randrange(12))) for _ in range(count)] for count in (150, 60)
    )
    expected = [any(naive_near_copy(text, other) for other in evaluation) for text in texts]
    assert 5 < sum(expected) < 145
    assert find(near_copies, texts, evaluation) == expected
