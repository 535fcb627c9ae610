from random import Random

import pyarrow as pa
import pytest
from paraphrastic.corpus.overlap import exact_copies, near_copies

from paraphrastic.corpus import overlap
from paraphrastic.text.normalize import normalize


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The cat -- it 's HERE !", "the cat it s here"),
        ("3.5 % of x-rays", "3 5 of x rays"),
        ("Ça va ? ПРИВЕТ, 日本 हिन्दी", "ça va привет 日本 हिन्दी"),
        (" ... ", ""),
        ("", ""),
    ],
)
def test_normalized_text_is_lower_case_letters_and_digits_with_single_spaces(text, expected):
    assert normalize(pa.array([text])).to_pylist() == [expected]


def copies(find, texts, evaluated):
    return find(pa.array(texts, pa.string()), pa.array(evaluated, pa.string())).tolist()


def test_exact_copies():
    assert copies(exact_copies, ["a b", "b", "a", "", "b a"], ["b", "", "a b"]) == [True, True, False, False, False]
    assert copies(exact_copies, [], ["a"]) == copies(exact_copies, [], []) == []
    assert copies(exact_copies, ["a"], []) == [False]


@pytest.mark.parametrize(
    ("text", "evaluated", "near"),
    [
        ("a b c d", "d c b a", True),
        ("a b c d e", "a b c d", True),  # 4 of 5
        ("a b c d", "a b c d e", True),
        ("a b c d e", "a b c d f", False),  # 4 of 6
        ("a b c d e f g h i", "a b c d e f g h j", True),  # 8 of 10
        ("a b c", "a b c", False),  # too short to tell
        ("a b c d", "a b c", False),
        ("a b c", "a a b c", True),  # four words, three different ones
        ("a a a b b b c d", "a b c d", True),
        ("", "a b c d", False),
    ],
)
def test_near_copies_share_four_fifths_of_the_words_of_both(text, evaluated, near):
    assert copies(near_copies, ["z", text, "a"], ["y", evaluated]) == [False, near, False]


def test_near_copies_of_nothing():
    assert copies(near_copies, [], []) == copies(near_copies, [], ["a b c d"]) == []
    assert copies(near_copies, ["a b c d", ""], []) == [False, False]


def similar(text, evaluated):
    a, b = set(text.split()), set(evaluated.split())
    return len(evaluated.split()) >= 4 and 5 * len(a & b) >= 4 * len(a | b)


@pytest.mark.parametrize("seed", range(8))
def test_near_copies_are_those_that_comparing_all_pairs_finds(seed, monkeypatch):
    monkeypatch.setattr(overlap, "_ROWS", 17)
    chance = Random(seed)
    words = [chr(ord("a") + i) for i in range(chance.choice([6, 9, 14]))]

    def some(number):
        return [" ".join(chance.choices(words, k=chance.randrange(12))) for _ in range(number)]

    texts, evaluated = some(150), some(60)
    expected = [any(similar(text, other) for other in evaluated) for text in texts]
    assert 5 < sum(expected) < 145
    assert copies(near_copies, texts, evaluated) == expected
